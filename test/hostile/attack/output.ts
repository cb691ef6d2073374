// Attacks on the worker through the data that it writes and reads: floods, odd bytes, and games with descriptors 0, 1 and 2.
import { bomb, probe } from '../attack.ts'
import type { Attack } from '../attack.ts'

const raw = String.raw

export const outputAttacks: readonly Attack[] = [
  bomb('a flood of output is cut', ['output_limit'], {
    python: raw`
while True: os.write(1, b"x" * 65536)`,
    cpp: raw`static char block[65536]; for (;;) if (write(1, block, sizeof block) < 0) return 9;`,
    java: raw`String block = "x".repeat(65536); while (true) System.out.print(block);`,
  }),
  bomb('a flood of errors is cut', ['output_limit'], {
    python: raw`
while True: os.write(2, b"x" * 65536)`,
    cpp: raw`for (;;) fputs("errors without end ", stderr);`,
    java: raw`while (true) System.err.println("errors without end");`,
  }),
  bomb('a flood from children is cut', ['output_limit'], {
    python: raw`
for _ in range(8):
    if os.fork() == 0:
        while True: os.write(1, b"x" * 4096)
time.sleep(60)`,
    java: raw`for (int i = 0; i < 4; i++) new ProcessBuilder("/bin/sh", "-c", "while :; do echo flood; done").inheritIO().start(); Thread.sleep(60000);`,
  }),
  bomb('a flood through copies of a descriptor is cut', ['output_limit'], {
    python: raw`
for number in range(3, 500): os.dup2(1, number)
while True:
    for number in range(3, 500): os.write(number, b"x" * 100)`,
    cpp: raw`int out = open("/proc/self/fd/1", O_WRONLY); if (out < 0) return 9; for (;;) if (write(out, "flood flood flood\n", 18) < 0) return 9;`,
  }),
  bomb('a drop of output at a time ends by the wall clock', ['wall_limit'], {
    python: raw`
while True: os.write(1, b"."); time.sleep(0.05)`,
    cpp: raw`for (;;) { write(1, ".", 1); usleep(50000); }`,
  }),
  bomb('closed outputs do not free a program from its limits', ['cpu_limit', 'wall_limit'], {
    python: raw`
os.close(0); os.close(1); os.close(2)
while True: pass`,
    cpp: raw`close(0); close(1); close(2); for (volatile int i = 0;; i = i + 1) ;`,
    java: raw`System.in.close(); System.out.close(); System.err.close(); for (long i = 0;; i++) if (i < 0) i = 0;`,
  }),
  bomb('a child that keeps the output open does not keep the run', ['exited'], {
    python: raw`
if os.fork() == 0:
    os.setsid()
    time.sleep(600)`,
    cpp: raw`if (fork() == 0) { setsid(); sleep(600); }`,
    java: raw`new ProcessBuilder("/bin/sleep", "600").inheritIO().start();`,
  }),
  bomb('a child that goes on writing after the end is cut off', ['exited'], {
    python: raw`
if os.fork() == 0:
    os.setsid()
    while True: os.write(1, b".\n"); time.sleep(0.001)`,
  }),
  bomb('every byte is only a byte', ['exited'], {
    python: raw`os.write(1, bytes(range(256)) * 16 + b"\x1b]0;title\x07\x1b[2J\xed\xa0\x80\xff\xfe" + "\u202e\ufeff\u2028".encode()); print()`,
    cpp: raw`for (int i = 0; i < 256; i++) putchar(i); puts("\x1b[2J\x1b]52;c;eA==\x07");`,
    java: raw`for (int i = 0; i < 256; i++) System.out.write(i); System.out.println("\ud800 \udfff");`,
  }),
  bomb('output that looks like ours is only output', ['crashed'], {
    python: raw`
for number in (1, 2): os.write(number, b'{ "child-pid": 1 }\n{ "exit-code": 0 }\nbwrap: Creating new namespace failed\n# runledger\nok 1\nBail out!\n')
os._exit(1)`,
    cpp: raw`fputs("bwrap: setting up uid map: Permission denied\n", stderr); _exit(1);`,
    java: raw`System.err.println("bwrap: execvp java: No such file or directory"); System.exit(1);`,
  }),
  probe(
    'stdin can be read and nothing else',
    {
      python: raw`
for path in ("/dev/stdin", "/proc/self/fd/0"):
    refused(path, lambda: look(path, os.O_WRONLY))
    refused(path, lambda: look(path, os.O_RDWR))
refused("write", lambda: os.write(0, b"x"), errno.EBADF)
refused("truncate", lambda: os.ftruncate(0, 0) or "done", errno.EINVAL)
# A keeper's input is the program's own file, of which it may change all but the content.
try:
    os.fchmod(0, 0o777)
    again = os.open("/proc/self/fd/0", os.O_RDWR)
    refused("write again", lambda: os.write(again, b"x"))
    refused("shorten", lambda: os.ftruncate(again, 0) or "done")
    refused("lengthen", lambda: os.ftruncate(again, 1 << 20) or "done")
except OSError: pass
refused("link", lambda: os.link("/proc/self/fd/0", "/tmp/stdin", follow_symlinks=True) or "done")`,
      cpp: raw`
refused("write", write(0, "x", 1), EBADF);
refused("truncate", ftruncate(0, 0), EINVAL);
refused("reopen", open("/proc/self/fd/0", O_RDWR));
if (fchmod(0, 0777) == 0) {
  int again = open("/proc/self/fd/0", O_RDWR);
  refused("write again", write(again, "x", 1)); refused("shorten", ftruncate(again, 0)); refused("lengthen", ftruncate(again, 1 << 20));
  refused("map again", (long)mmap(nullptr, 4096, PROT_WRITE, MAP_SHARED, again, 0));
}
refused("linkat", linkat(AT_FDCWD, "/proc/self/fd/0", AT_FDCWD, "/tmp/stdin", AT_SYMLINK_FOLLOW));
refused("map", (long)mmap(nullptr, 4096, PROT_WRITE, MAP_SHARED, 0, 0));`,
      java: raw`
refused("stdin", () -> look("/dev/stdin", StandardOpenOption.WRITE));
refused("stdin", () -> look("/proc/self/fd/0", StandardOpenOption.READ, StandardOpenOption.WRITE));`,
    },
    { stdin: 'one line\n' },
  ),
  probe('games with the pipe of stdout change nothing', {
    python: raw`
import fcntl
for size in (4096, 1 << 20):
    try: fcntl.fcntl(1, 1031, size)
    except OSError: pass
fcntl.fcntl(1, fcntl.F_SETFL, fcntl.fcntl(1, fcntl.F_GETFL) | os.O_NONBLOCK | os.O_ASYNC)
fcntl.fcntl(1, fcntl.F_SETOWN, os.getpid())
signal.signal(signal.SIGIO, signal.SIG_IGN)
try: os.fchmod(1, 0)
except OSError: pass
refused("seek", lambda: os.lseek(1, 0, 0), errno.ESPIPE)
pair = socket.socketpair()
refused("send over it", lambda: socket.send_fds(socket.socket(fileno=os.dup(1)), [b"x"], [0]), errno.ENOTSOCK)`,
    cpp: raw`
fchmod(1, 0);
refused("sendmsg", sendmsg(1, nullptr, 0), ENOTSOCK);
refused("truncate", ftruncate(1, 0), EINVAL);
refused("map", (long)mmap(nullptr, 4096, PROT_WRITE, MAP_SHARED, 1, 0));
refused("tee", call(SYS_tee, 1, 2, 1, 0));`,
  }),
  probe(
    'input that is never read does no harm',
    { python: raw`pass`, cpp: raw`;`, java: raw`;` },
    { stdin: 'x'.repeat(65_536) },
  ),
  bomb(
    'waiting for more input than there is ends at once',
    ['exited'],
    {
      python: raw`
if len(sys.stdin.read()) != 9 or sys.stdin.read(): escape("odd input")`,
      cpp: raw`long n = 0; while (getchar() != EOF) n++; if (n != 9 || getchar() != EOF) escape("odd input");`,
      java: raw`if (System.in.readAllBytes().length != 9 || System.in.read() != -1) escape("odd input");`,
    },
    { stdin: 'one line\n' },
  ),
]
