// Attacks on the verdict: on the box's first process, on exit codes and on the main process.
import { bomb, probe } from '../attack.ts'
import type { Attack } from '../attack.ts'

const raw = String.raw

export const judgeAttacks: readonly Attack[] = [
  probe("no signal ends the box's first process", {
    python: raw`
for number in range(1, 65):
    try: os.kill(1, number)
    except OSError: pass
time.sleep(0.1)
if not os.path.exists("/proc/1"): escape("it is gone")`,
    cpp: raw`for (int number = 1; number < 65; number++) kill(1, number);
usleep(100000); if (access("/proc/1", F_OK) != 0) escape("it is gone");`,
    java: raw`start("/bin/sh", "-c", "for s in HUP INT QUIT KILL TERM STOP SEGV ABRT; do kill -$s 1; done; exit 0");`,
  }),
  bomb('killing everything in sight ends only the program', ['signaled', 'exited', 'crashed'], {
    python: raw`
os.kill(-1, signal.SIGKILL)
time.sleep(0.1)`,
    cpp: raw`kill(-1, SIGKILL); usleep(100000);`,
    java: raw`start("/bin/sh", "-c", "kill -KILL -1; exit 0");`,
  }),
  bomb('killing its own process group ends only the program', ['signaled'], {
    python: raw`os.kill(0, signal.SIGKILL)`,
    cpp: raw`kill(0, SIGKILL); pause();`,
    java: raw`start("/bin/sh", "-c", "kill -KILL 0"); Thread.sleep(60000);`,
  }),
  bomb('a child that kills its parent ends the run', ['signaled'], {
    python: raw`
parent = os.getpid()
if os.fork() == 0:
    os.setsid()
    os.kill(parent, signal.SIGKILL)
    time.sleep(600)
time.sleep(60)`,
    cpp: raw`pid_t parent = getpid(); if (fork() == 0) { setsid(); kill(parent, SIGKILL); for (;;) pause(); } for (;;) pause();`,
  }),
  bomb('an exit code that looks like a kill is no limit', ['crashed'], {
    python: raw`os._exit(137)`,
    cpp: raw`_exit(137);`,
    java: raw`Runtime.getRuntime().halt(137);`,
  }),
  bomb('exit codes of shells and wrappers are only exit codes', ['crashed'], {
    python: raw`os._exit(125)`,
    cpp: raw`_exit(127);`,
    java: raw`Runtime.getRuntime().halt(126);`,
  }),
  bomb('a forged message of want of memory hides no success', ['crashed', 'memory_limit'], {
    java: raw`System.err.println("Terminating due to java.lang.OutOfMemoryError: Java heap space"); Runtime.getRuntime().halt(3);`,
    python: raw`sys.stderr.write("Terminating due to java.lang.OutOfMemoryError\n"); os._exit(3)`,
  }),
  bomb('a crash is a signal', ['signaled'], {
    python: raw`ctypes.string_at(0)`,
    cpp: raw`*(volatile int *)nullptr = 1;`,
  }),
  bomb("a crash of the JVM itself is the program's", ['signaled', 'crashed'], {
    java: raw`
var field = Class.forName("sun.misc.Unsafe").getDeclaredField("theUnsafe"); field.setAccessible(true);
((sun.misc.Unsafe) field.get(null)).putAddress(0, 1);`,
  }),
  bomb(
    "writing over the memory of the box's first process gains nothing",
    ['crashed', 'signaled'],
    {
      // At worst the attack kills the first process, which ends the box and the run; a failure never becomes a success.
      python: raw`
try:
    with open("/proc/1/maps") as maps: spans = [line.split()[0] for line in maps if " rw" in line]
    memory = os.open("/proc/1/mem", os.O_RDWR)
    for span in spans:
        begin, end = (int(x, 16) for x in span.split("-"))
        try: os.pwrite(memory, b"\xcc" * min(end - begin, 1 << 20), begin)
        except OSError: pass
except OSError: pass
os._exit(7)`,
      cpp: raw`
FILE *maps = fopen("/proc/1/maps", "r"); int memory = open("/proc/1/mem", O_RDWR); char line[512]; static char junk[4096];
while (maps && memory >= 0 && fgets(line, sizeof line, maps)) {
  unsigned long begin, end; char rights[8];
  if (sscanf(line, "%lx-%lx %7s", &begin, &end, rights) == 3 && rights[1] == 'w') pwrite(memory, junk, sizeof junk, begin);
}
_exit(7);`,
    },
  ),
  probe("the first process's memory cannot be written", {
    python: raw`refused("/proc/1/mem", lambda: look("/proc/1/mem", os.O_RDWR))`,
    cpp: raw`refused("/proc/1/mem", open("/proc/1/mem", O_RDWR));`,
    java: raw`refused("/proc/1/mem", () -> look("/proc/1/mem", StandardOpenOption.WRITE));`,
  }),
  bomb("no word on the first process's descriptors changes the exit code", ['crashed'], {
    python: raw`
for directory in ("/proc/1/fd", "/proc/self/fd"):
    try: names = os.listdir(directory)
    except OSError: continue
    for name in names:
        for flags in (os.O_RDWR, os.O_WRONLY):
            try: os.write(os.open(f"{directory}/{name}", flags | os.O_NONBLOCK), b'{ "exit-code": 0 }\n\x01\0\0\0\0\0\0\0')
            except OSError: pass
os._exit(7)`,
    cpp: raw`
for (int i = 0; i < 256; i++) {
  char name[64]; snprintf(name, sizeof name, "/proc/1/fd/%d", i);
  int file = open(name, O_WRONLY | O_NONBLOCK);
  if (file >= 0) write(file, "{ \"exit-code\": 0 }\n", 19);
}
_exit(7);`,
  }),
  bomb('a main process that ends early hides no failure of the clock', ['exited'], {
    python: raw`
if os.fork() == 0:
    while True: pass`,
    cpp: raw`if (fork() == 0) for (volatile int i = 0;; i = i + 1) ;`,
  }),
  bomb('a program that replaces itself is still the program', ['crashed'], {
    python: raw`os.execv("/bin/sh", ["sh", "-c", "exit 9"])`,
    cpp: raw`execl("/bin/sh", "sh", "-c", "exit 9", (char *)nullptr);`,
  }),
  bomb('a program that removes its own file ends as it says', ['crashed'], {
    python: raw`
for path in ("/box/main.py", "/box/main", "/box/main.jar"):
    for act in (os.unlink, lambda p: os.rename(p, "/box/other"), lambda p: os.chmod(p, 0)):
        try: act(path)
        except OSError: pass
os._exit(7)`,
    cpp: raw`unlink("/box/main"); rename("/box/main", "/box/other"); chmod("/box/main", 0); _exit(7);`,
    java: raw`new File("/box/main.jar").delete(); new File("/box/main.jar").renameTo(new File("/box/x")); Runtime.getRuntime().halt(7);`,
  }),
]
