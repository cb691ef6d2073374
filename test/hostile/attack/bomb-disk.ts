// Bombs of files: bytes, inodes, names, depth, descriptors and the resources behind them.
import { bomb, stopped } from '../attack.ts'
import type { Attack } from '../attack.ts'

const raw = String.raw

export const diskBombs: readonly Attack[] = [
  bomb('writable directories are bounded in size', ['exited', 'memory_limit'], {
    python: raw`
for directory in ("/box", "/tmp", "/dev/shm"):
    written = 0
    try:
        with open(directory + "/fill", "wb", 0) as file:
            while written < (256 << 20): written += file.write(b"x" * (1 << 20))
    except OSError as error: print("refused", error)
    if written > (32 << 20): escape(f"{written} bytes in {directory}")`,
    cpp: raw`
static char block[1 << 20];
signal(SIGXFSZ, SIG_IGN);
for (const char *path : {"/box/fill", "/tmp/fill", "/dev/shm/fill"}) {
  int file = open(path, O_WRONLY | O_CREAT, 0600); long written = 0;
  for (long n; (n = write(file, block, sizeof block)) > 0 && written < 256 << 20;) written += n;
  if (written > 32 << 20) escape(path);
}`,
    java: raw`
for (String path : List.of("/box/fill", "/tmp/fill", "/dev/shm/fill")) {
  long written = 0;
  try (var out = new FileOutputStream(path)) { for (; written < 256 << 20; written += 1 << 20) out.write(new byte[1 << 20]); }
  catch (IOException full) { System.out.println("refused " + full); }
  if (written > 32 << 20) escape(path);
}`,
  }),
  bomb('many files that are each within the limit are bounded together', [...stopped, 'exited'], {
    python: raw`
written = 0
try:
    for i in range(100000):
        with open(f"/tmp/{i}", "wb", 0) as file: written += file.write(b"x" * 65536)
except OSError as error: print("refused", error)
if written > (32 << 20): escape(written)`,
  }),
  bomb('preallocation is bounded', ['exited', 'memory_limit', 'signaled'], {
    python: raw`
file = os.open("/tmp/fill", os.O_RDWR | os.O_CREAT)
refused("posix_fallocate", lambda: os.posix_fallocate(file, 0, 1 << 30), errno.ENOSPC, errno.EFBIG)`,
    cpp: raw`
signal(SIGXFSZ, SIG_IGN);
int file = open("/tmp/fill", O_RDWR | O_CREAT, 0600);
if (fallocate(file, 0, 0, 1 << 30) == 0) escape("1 GiB in a file");`,
  }),
  bomb('a million empty files meet a limit', [...stopped, 'exited'], {
    python: raw`
made = 0
try:
    while made < 1000000:
        os.close(os.open(f"/tmp/{made}", os.O_CREAT)); made += 1
except OSError as error: print("refused", error)
if made == 1000000: escape("a million files")`,
    cpp: raw`
int made = 0; char name[32];
for (; made < 1000000; made++) { snprintf(name, sizeof name, "/tmp/%d", made); int file = open(name, O_CREAT, 0600); if (file < 0) break; close(file); }
if (made == 1000000) escape("a million files");`,
    java: raw`
int made = 0;
try { for (; made < 1000000; made++) Files.createFile(Path.of("/tmp/" + made)); } catch (IOException full) { System.out.println("refused " + full); }
if (made == 1000000) escape("a million files");`,
  }),
  bomb('symbolic links with long targets meet a limit', [...stopped, 'exited'], {
    python: raw`
made = 0
try:
    while made < 200000: os.symlink("x" * 4000, f"/tmp/{made}"); made += 1
except OSError as error: print("refused", error)
if made == 200000: escape("800 MB of links")`,
    cpp: raw`
int made = 0; char name[32], target[4001]; memset(target, 'x', 4000); target[4000] = 0;
for (; made < 200000; made++) { snprintf(name, sizeof name, "/tmp/%d", made); if (symlink(target, name) != 0) break; }
if (made == 200000) escape("800 MB of links");`,
  }),
  bomb('hard links without end meet a limit', [...stopped, 'exited'], {
    python: raw`
open("/tmp/one", "w").close()
made = 0
try:
    while made < 1000000: os.link("/tmp/one", f"/tmp/{made}" + "x" * 200); made += 1
except OSError as error: print("refused", error)
if made == 1000000: escape("a million links")`,
  }),
  bomb('directories 100,000 deep leave nothing', [...stopped, 'exited'], {
    python: raw`
os.chdir("/tmp")
try:
    for _ in range(100000): os.mkdir("d"); os.chdir("d")
except OSError as error: print("refused", error)`,
    cpp: raw`
chdir("/tmp");
for (int i = 0; i < 100000; i++) if (mkdir("d", 0700) != 0 || chdir("d") != 0) break;`,
  }),
  bomb('names with newlines, quotes and bytes that are no text leave nothing', ['exited'], {
    python: raw`
for name in (b"a\nb", b"'; rm -rf $HOME; '", b"\xff\xfe", b"-rf", b"..." + b"x" * 250, "\u202e".encode()):
    for directory in (b"/box/", b"/tmp/", b"/dev/shm/"): os.close(os.open(directory + name, os.O_CREAT))`,
  }),
  bomb('extended attributes cannot be set', ['exited'], {
    python: raw`
open("/tmp/one", "w").close()
for name in ("user.x", "trusted.x", "security.capability", "system.posix_acl_access"): refused(name, lambda: os.setxattr("/tmp/one", name, b"x" * 60000))`,
    java: raw`
Files.createFile(Path.of("/tmp/one"));
refused("user.x", () -> Files.setAttribute(Path.of("/tmp/one"), "user:x", ByteBuffer.wrap(new byte[1000])));`,
  }),
  bomb('descriptors are bounded', ['exited'], {
    python: raw`
held = []
try:
    while len(held) < 100000: held.append(os.open("/dev/null", os.O_RDONLY))
except OSError as error: print("refused", error)
if len(held) > 4096: escape(len(held))`,
    cpp: raw`
int made = 0; while (made < 100000 && open("/dev/null", O_RDONLY) >= 0) made++;
if (made > 4096) escape("descriptors");`,
    java: raw`
var held = new ArrayList<FileInputStream>();
try { while (held.size() < 100000) held.add(new FileInputStream("/dev/null")); } catch (IOException full) { System.out.println("refused " + full); }
if (held.size() > 4096) escape("descriptors"); for (var one : held) one.close();`,
  }),
  bomb('event files of every process are bounded', [...stopped, 'exited'], {
    cpp: raw`
for (int i = 0; i < 24; i++) if (fork() == 0) { while (eventfd(0, 0) >= 0 && syscall(SYS_timerfd_create, CLOCK_MONOTONIC, 0) >= 0 && memfd_create("x", 0) >= 0) ; pause(); }
usleep(500000);`,
    python: raw`
for _ in range(16):
    if os.fork() == 0:
        try:
            while True: os.eventfd(0)
        except OSError: time.sleep(60)
time.sleep(0.5)`,
  }),
  bomb('nested and crossed epoll sets end', [...stopped, 'exited'], {
    cpp: raw`
int set[900]; epoll_event event{}; event.events = EPOLLIN;
for (int i = 0; i < 900; i++) if ((set[i] = epoll_create1(0)) < 0) break;
for (int i = 0; i < 900; i++) for (int k = 0; k < i; k++) epoll_ctl(set[k], EPOLL_CTL_ADD, set[i], &event);`,
    python: raw`
import select
sets = [select.epoll() for _ in range(500)]
for i, outer in enumerate(sets):
    for inner in sets[:i]:
        try: outer.register(inner.fileno(), select.EPOLLIN)
        except OSError: pass`,
  }),
  bomb('terminals are not a way to hold memory', ['exited', 'memory_limit'], {
    // At most 400, because terminals are counted host-wide.
    cpp: raw`
static char block[4096]; int made = 0; long held = 0;
for (; made < 400; made++) {
  int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK); if (terminal < 0) break;
  for (long n; (n = write(terminal, block, sizeof block)) > 0;) held += n;
}
if (held > 64 << 20) escape("more than the limit");`,
  }),
  bomb(
    'arguments and environments too large end as an error',
    ['crashed', 'memory_limit', 'exited'],
    {
      python: raw`
refused("argument", lambda: os.execv("/bin/sh", ["sh", "-c", ":", "x" * (1 << 20)]), errno.E2BIG)
refused("arguments", lambda: os.execv("/bin/true", ["x" * 100000] * 1000), errno.E2BIG)
os.execve("/bin/sh", ["sh", "-c", "exit 3"], {f"v{i}": "x" * 100000 for i in range(10)})`,
      java: raw`refused("arguments", () -> new ProcessBuilder(Collections.nCopies(1000, "x".repeat(100000))).start());`,
    },
  ),
  bomb('a core dump leaves nothing', ['signaled'], {
    python: raw`
import resource
try: resource.setrlimit(resource.RLIMIT_CORE, (1 << 30, 1 << 30)); escape("core limit raised")
except ValueError: pass
os.abort()`,
    cpp: raw`
rlimit wide{RLIM_INFINITY, RLIM_INFINITY};
refused("core limit", setrlimit(RLIMIT_CORE, &wide)); prctl(PR_SET_DUMPABLE, 1);
if (bad == 0) abort();`,
  }),
]
