// Bombs of processes and threads: too many of them, hidden ones, and ones that resist their end.
import { bomb, stopped } from '../attack.ts'
import type { Attack } from '../attack.ts'

const raw = String.raw

export const processBombs: readonly Attack[] = [
  bomb('a fork bomb ends within its limits', stopped, {
    python: raw`
while True:
    try: os.fork()
    except OSError: pass`,
    cpp: raw`for (;;) fork();`,
    java: raw`while (true) { try { new ProcessBuilder("/bin/sh", "-c", "sleep 60 & sleep 60").start(); } catch (IOException | OutOfMemoryError full) { Thread.sleep(1); } }`,
  }),
  bomb('a shell fork bomb ends within its limits', [...stopped, 'crashed'], {
    python: raw`os.execv("/bin/sh", ["sh", "-c", "f() { f | f & f; }; f 2>/dev/null; while :; do :; done"])`,
    java: raw`while (true) start("/bin/sh", "-c", "f() { f | f & f; }; f 2>/dev/null");`,
  }),
  bomb('a vfork bomb ends within its limits', stopped, {
    cpp: raw`
for (;;) {
  pid_t child = vfork();
  if (child == 0) execl("/bin/sh", "sh", "-c", "sleep 60", (char *)nullptr), _exit(1);
}`,
  }),
  bomb('a thread bomb ends within its limits', [...stopped, 'output_limit'], {
    python: raw`
import threading
threading.stack_size(65536)
while True:
    try: threading.Thread(target=time.sleep, args=(60,)).start()
    except RuntimeError: pass`,
    cpp: raw`
static auto rest = [](void *) -> void * { pause(); return nullptr; };
pthread_attr_t small; pthread_attr_init(&small); pthread_attr_setstacksize(&small, 65536);
for (;;) { pthread_t thread; pthread_create(&thread, &small, rest, nullptr); }`,
    java: raw`
while (true) {
  try { new Thread(null, () -> { try { Thread.sleep(60000); } catch (InterruptedException e) { } }, "t", 65536).start(); }
  catch (OutOfMemoryError full) { Thread.sleep(1); }
}`,
  }),
  bomb('processes that share their memory count against the limit', stopped, {
    cpp: raw`
static char stacks[64][16384];
static auto rest = [](void *) -> int { for (;;) pause(); };
int n = 0;
for (;;) if (clone(rest, stacks[n % 64] + 16384, CLONE_VM | CLONE_FILES | CLONE_FS | SIGCHLD, nullptr) > 0) n++;`,
  }),
  bomb('zombies count against the limit on processes', ['exited'], {
    python: raw`
born = 0
try:
    while born < 1000:
        if os.fork() == 0: os._exit(0)
        born += 1
except OSError: pass
if born >= 40: escape(f"{born} zombies")`,
    cpp: raw`
int born = 0;
for (; born < 1000; born++) { pid_t child = fork(); if (child == 0) _exit(0); if (child < 0) break; }
if (born >= 40) escape("zombies without a limit");`,
  }),
  bomb('a comet that is a new process all the time does not outlive its run', stopped, {
    python: raw`
if os.fork() == 0:
    while True:
        try:
            if os.fork(): os._exit(0)
            os.setsid()
        except OSError: pass
time.sleep(60)`,
    cpp: raw`
if (fork() == 0) for (;;) { if (fork() > 0) _exit(0); setsid(); }
pause();`,
  }),
  bomb('a comet whose main process has ended is caught', ['exited'], {
    python: raw`
if os.fork() == 0:
    while True:
        try:
            if os.fork(): os._exit(0)
            os.setsid()
        except OSError: pass`,
    cpp: raw`if (fork() == 0) for (;;) { if (fork() > 0) _exit(0); setsid(); }`,
    java: raw`new ProcessBuilder("/bin/sh", "-c", "f() { (f &) ; }; f").start();`,
  }),
  bomb('daemons that ignore every signal die with their run', ['exited'], {
    python: raw`
for _ in range(8):
    if os.fork() == 0:
        os.setsid()
        if os.fork(): os._exit(0)
        for number in range(1, 65):
            try: signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError): pass
        while True: time.sleep(1)
time.sleep(0.2)`,
    cpp: raw`
for (int i = 0; i < 8; i++) {
  if (fork() == 0) {
    setsid();
    if (fork() > 0) _exit(0);
    for (int number = 1; number < 65; number++) signal(number, SIG_IGN);
    for (;;) sleep(1);
  }
}
usleep(200000);`,
    java: raw`
for (int i = 0; i < 4; i++) new ProcessBuilder("/bin/sh", "-c", "trap '' 1 2 3 13 14 15; setsid sh -c 'sleep 600 & sleep 600' &").start();
Thread.sleep(200);`,
  }),
  bomb('a program that executes itself for ever ends by a clock', ['cpu_limit', 'wall_limit'], {
    python: raw`os.execv("/bin/sh", ["sh", "-c", 'exec sh -c "$0" "$0"', 'exec sh -c "$0" "$0"'])`,
    cpp: raw`char *arguments[] = {(char *)"main", nullptr}; execv("/proc/self/exe", arguments);`,
  }),
  bomb('a program that stops itself ends by the wall clock', ['wall_limit'], {
    python: raw`os.kill(os.getpid(), signal.SIGSTOP)`,
    cpp: raw`raise(SIGSTOP);`,
    java: raw`start("/bin/sh", "-c", "kill -STOP " + ProcessHandle.current().pid()); Thread.sleep(60000);`,
  }),
  bomb('children that are stopped die with their run', ['exited'], {
    python: raw`
for _ in range(8):
    if os.fork() == 0:
        os.kill(os.getpid(), signal.SIGSTOP)
        os._exit(0)
time.sleep(0.2)`,
    cpp: raw`for (int i = 0; i < 8; i++) if (fork() == 0) { raise(SIGSTOP); _exit(0); }
usleep(200000);`,
  }),
  bomb('a program that ignores every signal ends by the wall clock', ['wall_limit'], {
    python: raw`
for number in range(1, 65):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
while True: time.sleep(1)`,
    cpp: raw`for (int number = 1; number < 65; number++) signal(number, SIG_IGN);
for (;;) sleep(1);`,
  }),
  bomb('a busy program that ignores SIGXCPU ends by a clock', ['cpu_limit', 'wall_limit'], {
    python: raw`
signal.signal(signal.SIGXCPU, signal.SIG_IGN)
while True: pass`,
    cpp: raw`signal(SIGXCPU, SIG_IGN);
for (volatile int i = 0;; i = i + 1) ;`,
  }),
  bomb(
    'two processes that shower each other with signals end by a clock',
    ['cpu_limit', 'wall_limit', 'signaled'],
    {
      python: raw`
signal.signal(signal.SIGUSR1, lambda *_: None)
parent = os.getpid()
child = os.fork()
while True: os.kill(child or parent, signal.SIGUSR1)`,
      cpp: raw`
signal(SIGUSR1, SIG_IGN); signal(SIGUSR2, +[](int) {});
pid_t parent = getpid(), child = fork();
for (;;) kill(child > 0 ? child : parent, SIGUSR2);`,
    },
  ),
  bomb('queued signals are bounded', ['exited', 'cpu_limit', 'wall_limit'], {
    cpp: raw`
sigset_t all; sigfillset(&all); sigprocmask(SIG_BLOCK, &all, nullptr);
sigval value{}; long sent = 0;
while (sent < 2000000 && sigqueue(getpid(), SIGRTMIN, value) == 0) sent++;
if (sent >= 2000000) escape("signals without a limit");`,
  }),
  bomb('timers are bounded', [...stopped, 'exited'], {
    cpp: raw`
struct sigevent quiet{}; quiet.sigev_notify = SIGEV_SIGNAL; quiet.sigev_signo = SIGUSR1;
long made = 0; timer_t timer;
while (made < 2000000 && timer_create(CLOCK_MONOTONIC, &quiet, &timer) == 0) made++;
if (made >= 2000000) escape("timers without a limit");`,
  }),
  bomb('a storm of alarms ends by a clock', ['cpu_limit', 'wall_limit'], {
    python: raw`
signal.signal(signal.SIGALRM, lambda *_: None)
signal.setitimer(signal.ITIMER_REAL, 0.000001, 0.000001)
while True: pass`,
    cpp: raw`
signal(SIGALRM, +[](int) {});
itimerval often{{0, 1}, {0, 1}}; setitimer(ITIMER_REAL, &often, nullptr);
for (;;) ;`,
  }),
  bomb('a main thread that leaves its threads behind ends by the wall clock', ['wall_limit'], {
    cpp: raw`
pthread_t thread;
pthread_create(&thread, nullptr, +[](void *) -> void * { for (;;) pause(); }, nullptr);
pthread_exit(nullptr);`,
    python: raw`
import threading
threading.Thread(target=time.sleep, args=(60,)).start()`,
    java: raw`new Thread(() -> { try { Thread.sleep(60000); } catch (InterruptedException e) { } }).start();`,
  }),
  bomb('a vfork child that never executes ends by the wall clock', ['wall_limit'], {
    cpp: raw`if (vfork() == 0) for (;;) pause();`,
  }),
  bomb('an exit that never finishes ends by a clock', ['cpu_limit', 'wall_limit'], {
    python: raw`
import atexit
@atexit.register
def stay():
    while True: pass`,
    cpp: raw`atexit(+[] { for (;;) ; });`,
    java: raw`Runtime.getRuntime().addShutdownHook(new Thread(() -> { while (true) { try { Thread.sleep(1000); } catch (InterruptedException e) { } } })); System.exit(0);`,
  }),
  bomb('many small processes together meet the memory limit', ['memory_limit'], {
    python: raw`
for _ in range(20):
    if os.fork() == 0:
        held = bytearray(16 << 20)
        for i in range(0, len(held), 4096): held[i] = 1
        time.sleep(60)
time.sleep(60)`,
    cpp: raw`
for (int i = 0; i < 20; i++)
  if (fork() == 0) { hold(16 << 20); for (;;) pause(); }
for (;;) pause();`,
  }),
  bomb(
    'a small parent whose children die of memory again and again ends at the first',
    ['memory_limit'],
    {
      python: raw`
while True:
    child = os.fork()
    if child == 0:
        held = bytearray(512 << 20)
        for i in range(0, len(held), 4096): held[i] = 1
    try: os.waitpid(child, 0)
    except OSError: pass`,
      cpp: raw`
for (;;) {
  pid_t child = fork();
  if (child == 0) hold(512 << 20), _exit(0);
  if (child > 0) waitpid(child, nullptr, 0);
}`,
    },
  ),
]
