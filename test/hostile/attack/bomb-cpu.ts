// Bombs of time: endless computation in the program, its runtime or the kernel, and endless waiting.
import { bomb, stopped } from '../attack.ts'
import type { Attack } from '../attack.ts'

const raw = String.raw

export const cpuBombs: readonly Attack[] = [
  bomb('an endless loop ends by a clock', ['cpu_limit', 'wall_limit'], {
    python: raw`
while True: pass`,
    cpp: raw`for (volatile int i = 0;; i = i + 1) ;`,
    java: raw`for (long i = 0;; i++) if (i < 0) i = 0;`,
  }),
  bomb('an endless sleep ends by the wall clock', ['wall_limit'], {
    python: raw`time.sleep(1000)`,
    cpp: raw`sleep(1000);`,
    java: raw`Thread.sleep(1000000);`,
  }),
  bomb('the time of children counts', ['cpu_limit', 'wall_limit'], {
    python: raw`
for _ in range(4):
    if os.fork() == 0:
        while True: pass
time.sleep(60)`,
    cpp: raw`for (int i = 0; i < 4; i++) if (fork() == 0) for (volatile int i = 0;; i = i + 1) ;
for (;;) pause();`,
    java: raw`for (int i = 0; i < 3; i++) new ProcessBuilder("/bin/sh", "-c", "while :; do :; done").start(); Thread.sleep(60000);`,
  }),
  bomb('the time of children that have ended counts', ['cpu_limit', 'wall_limit'], {
    python: raw`
while True:
    child = os.fork()
    if child == 0:
        end = time.monotonic() + 0.02
        while time.monotonic() < end: pass
        os._exit(0)
    os.waitpid(child, 0)`,
  }),
  bomb('time in the kernel counts', ['cpu_limit', 'wall_limit'], {
    python: raw`
file = os.open("/dev/zero", os.O_RDONLY)
while True: os.read(file, 1 << 20)`,
    cpp: raw`static char block[1 << 20]; int file = open("/dev/urandom", O_RDONLY); for (;;) if (read(file, block, sizeof block) < 0) return 9;`,
    java: raw`var block = new byte[1 << 20]; try (var in = new FileInputStream("/dev/zero")) { while (true) in.read(block); }`,
  }),
  bomb('a storm of mappings ends by a clock', ['cpu_limit', 'wall_limit'], {
    cpp: raw`
pthread_t thread;
pthread_create(&thread, nullptr, +[](void *) -> void * { for (volatile int i = 0;; i = i + 1) ; }, nullptr);
for (;;) { char *held = (char *)mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); held[0] = 1; munmap(held, 1 << 20); }`,
  }),
  bomb('a storm of barriers on every core ends by a clock', ['cpu_limit', 'wall_limit'], {
    cpp: raw`
syscall(SYS_membarrier, 1 << 1, 0, 0); syscall(SYS_membarrier, 1 << 4, 0, 0);
for (;;) { syscall(SYS_membarrier, 1 << 1, 0, 0); syscall(SYS_membarrier, 1 << 3, 0, 0); }`,
  }),
  bomb('threads that only yield end by a clock', ['cpu_limit', 'wall_limit'], {
    cpp: raw`
for (int i = 0; i < 16; i++) { pthread_t thread; pthread_create(&thread, nullptr, +[](void *) -> void * { for (;;) sched_yield(); }, nullptr); }
for (;;) sched_yield();`,
    java: raw`for (int i = 0; i < 8; i++) new Thread(() -> { while (true) Thread.yield(); }).start();`,
  }),
  bomb(
    'a regular expression that backtracks for ever ends',
    ['cpu_limit', 'wall_limit', 'signaled'],
    {
      python: raw`
import re
re.match(r"(a+)+$", "a" * 64 + "b")`,
      cpp: raw`
#include <regex>
//main
std::regex_match(std::string(64, 'a') + "b", std::regex("(a+)+"));`,
      java: raw`System.out.println(("x".repeat(64) + "z").matches("((x+)(x+))+\\2\\3?y"));`,
    },
  ),
  bomb('a number too large to print ends by a clock', stopped, {
    python: raw`
sys.set_int_max_str_digits(0)
print(len(str(7 ** 20000000)))`,
    java: raw`System.out.println(java.math.BigInteger.valueOf(7).pow(20000000).toString().length());`,
  }),
  bomb('JSON nested too deep ends as an error', ['crashed', 'memory_limit', 'signaled'], {
    python: raw`
import json
json.loads("[" * 1000000)`,
  }),
  bomb(
    'a source nested too deep ends as an error',
    ['crashed', 'output_limit', 'memory_limit', 'signaled'],
    {
      python: raw`
import ast
exec("x = " + "(" * 100000 + ")" * 100000)`,
    },
  ),
  bomb('a pickle that runs a command runs it in the box', ['crashed'], {
    python: raw`
import pickle
class Run:
    def __reduce__(self): return (os._exit, (7,))
pickle.loads(pickle.dumps(Run()))`,
  }),
  bomb('a reader of its own empty pipe ends by the wall clock', ['wall_limit'], {
    python: raw`
reader, writer = os.pipe()
os.read(reader, 1)`,
    cpp: raw`int ends[2]; char c; pipe(ends); read(ends[0], &c, 1);`,
    java: raw`var in = new PipedInputStream(); var out = new PipedOutputStream(in); in.read();`,
  }),
  bomb('a deadlock ends by the wall clock', ['wall_limit'], {
    cpp: raw`pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; pthread_mutex_lock(&lock); pthread_mutex_lock(&lock);`,
    java: raw`Thread.currentThread().join();`,
  }),
]
