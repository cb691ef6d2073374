// Programs that use up everything that they may have of a resource, and programs that try to leave something that outlives
// them.
import { attack, c, program, wide } from '../attack.ts'
import type { NeighbourAttack } from '../attack.ts'

const mebibyte = 1024 * 1024
const forkAll = 'signal(SIGCHLD, SIG_IGN);'

export const bombs: readonly NeighbourAttack[] = [
  attack('a fork bomb', [c('for (;;) fork();')]),
  attack('a fork bomb of Python', [program('python', 'import os\nwhile True:\n    try: os.fork()\n    except OSError: pass\n')]), // prettier-ignore
  attack('a fork bomb in both slots', [0.5, 0.6].map((wall_time) => c('for (;;) fork();', { limits: { ...wide, wall_time } })), { holdsSeconds: 0.6 }), // prettier-ignore
  attack('processes that end and are not waited for', [c('for (;;) if (fork() == 0) _exit(0);')]),
  attack('daemons that leave their session and their parent', [
    c(`${forkAll} for (int i = 0; i < 100; i++) if (fork() == 0) { setsid(); if (fork() == 0) { signal(SIGTERM, SIG_IGN); signal(SIGHUP, SIG_IGN); for (;;) sleep(1); } _exit(0); }
  puts("left");`),
  ]),
  attack('a memory bomb', [
    c('for (size_t n = 1 << 20;;) { char *p = malloc(n); if (p) memset(p, 1, n); }'),
  ]),
  attack('a memory bomb of forty processes', [
    c('for (int i = 0; i < 40; i++) fork(); for (;;) { char *p = malloc(1 << 16); if (p) memset(p, 1, 1 << 16); }'), // prettier-ignore
  ]),
  attack('shared memory, of files and of System V', [
    c(`for (int i = 0;; i++) {
    int f = i & 1 ? memfd_create("x", 0) : -1, id = i & 1 ? -1 : shmget(IPC_PRIVATE, 4 << 20, 0600);
    if (f >= 0) ftruncate(f, 4 << 20);
    char *p = f >= 0 ? mmap(0, 4 << 20, 3, MAP_SHARED, f, 0) : shmat(id, 0, 0);
    if (p != (char *)-1) memset(p, 1, 4 << 20); }`),
  ]),
  attack('many small mappings, whose protection changes', [
    c(`for (int i = 0; i < 20; i++) fork();
  for (;;) { char *p = mmap(0, 4096 * 512, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); if (p == MAP_FAILED) { usleep(100); continue; }
    for (int n = 0; n < 512; n += 2) { p[n * 4096] = 1; mprotect(p + n * 4096, 4096, PROT_READ); } munmap(p, 4096 * 512); }`),
  ]),
  attack('pages that are locked, of the toolchain and of its own', [
    c(`int f = open("/usr/lib/x86_64-linux-gnu/libc.so.6", O_RDONLY); struct stat s; fstat(f, &s);
  for (int i = 0; i < 60; i++) if (fork() == 0) { mlockall(MCL_CURRENT | MCL_FUTURE);
    for (off_t at = 0; at < s.st_size; at += 65536) { void *p = mmap(0, 65536, PROT_READ, MAP_SHARED, f, at); mlock(p, 65536); } sleep(9); }
  sleep(9);`),
  ]),
  attack('files of the toolchain, each read whole', [
    program('python', `
import os, time
ends = time.time() + 1.5
for place, _, names in os.walk('/usr/lib'):
    for name in names:
        try:
            with open(os.path.join(place, name), 'rb') as file:
                while file.read(1 << 20): pass
        except OSError: pass
        if time.time() > ends: raise SystemExit
`), // prettier-ignore
  ]),
  attack('a million names that are not there', [
    c(`struct stat s; char n[100]; for (int i = 0; clock() < 1.7 * CLOCKS_PER_SEC; i++) { sprintf(n, "/usr/lib/x%d.%d.%ld", i, getpid(), time(0)); stat(n, &s); }`, // prettier-ignore
      { limits: { ...wide, memory: 1024 * mebibyte } }),
  ]), // prettier-ignore
  attack('a disk that is full', [
    program('python', `
import os
places = ['/tmp', '/dev/shm', '.']
while True:
    for place in places:
        try:
            with open(place + '/full', 'wb') as file:
                while True: file.write(bytes(1 << 20))
        except OSError: pass
`), // prettier-ignore
  ]),
  attack('as many files as there may be', [
    program('python', `
import os, itertools
for n in itertools.count():
    try: open('/tmp/%d' % n, 'w').close()
    except OSError: break
while True:
    for one in range(n):
        os.rename('/tmp/%d' % one, '/tmp/x%d' % one); os.rename('/tmp/x%d' % one, '/tmp/%d' % one)
`), // prettier-ignore
  ]),
  attack('directories as deep as they may be', [
    c('for (;;) { if (mkdir("d", 0700) != 0 || chdir("d") != 0) { chdir("/tmp"); rename("d", "e"); usleep(10); } }'), // prettier-ignore
  ]),
  attack('links that lead to each other', [
    c(`for (int i = 0; i < 2000; i++) { char a[40], b[40]; sprintf(a, "/tmp/l%d", i); sprintf(b, "/tmp/l%d", (i + 1) % 2000); symlink(b, a); }
  for (int i = 0; i < 20; i++) fork();
  for (;;) { char a[40]; sprintf(a, "/tmp/l%d", rand() % 2000); open(a, O_RDONLY); struct stat s; stat(a, &s); }`),
  ]),
  attack('programs that are started with two megabytes of words', [
    c(`static char big[100000]; memset(big, 'x', sizeof big - 1);
  for (int i = 0; i < 20; i++) if (fork() == 0) for (;;) if (fork() == 0) { char *w[20] = {"true"}; for (int n = 1; n < 19; n++) w[n] = big; w[19] = 0; execv("/usr/bin/true", w); _exit(1); } else wait(0);
  sleep(9);`),
  ]),
  attack('descriptors, as many as there may be, in 250 processes', [
    c(`for (int i = 0; i < 250; i++) if (fork() == 0) { int f; struct itimerspec t = {{0, 1000000}, {0, 1000000}};
    while ((f = timerfd_create(CLOCK_MONOTONIC, 0)) >= 0) { fcntl(f, F_SETOWN, getpid()); timerfd_settime(f, 0, &t, 0); } sleep(9); }
  sleep(9);`),
  ]),
  attack('pipes and sockets that are full', [
    c(`for (int i = 0; i < 60; i++) if (fork() == 0) { int f[2]; static char x[65536];
    for (int n = 0; (n & 1 ? pipe(f) : socketpair(AF_UNIX, SOCK_STREAM, 0, f)) == 0; n++) { fcntl(f[1], F_SETFL, O_NONBLOCK); while (write(f[1], x, sizeof x) > 0); } sleep(9); }
  sleep(9);`),
  ]),
  attack('watches and locks that are refused', [
    c(`for (int i = 0; i < 40; i++) fork();
  int f = open("/usr/bin/python3", O_RDONLY);
  for (;;) { inotify_init1(0); flock(f, LOCK_EX); struct flock l = {.l_type = F_RDLCK}; fcntl(f, F_SETLK, &l); mount("a", "/tmp", "tmpfs", 0, 0); }`),
  ]),
  attack('processors that are busy, by 64 threads', [
    c(`
static void *spin(void *p) { for (volatile long n = 0;;) n++; return p; }
//main
  pthread_attr_t a; pthread_attr_init(&a); pthread_attr_setstacksize(&a, 65536);
  for (int i = 0; i < 63; i++) { pthread_t t; pthread_create(&t, &a, spin, 0); }
  spin(0);`),
  ]),
  attack('two hundred crashes at once, of processes whose names forge lines', [
    c(`${forkAll} prctl(PR_SET_NAME, "\\n<0>EVIL\\x1b[31m"); for (;;) if (fork() == 0) *(volatile int *)0 = 1;`), // prettier-ignore
  ]),
  attack('an output that has no end', [
    c('static char x[65536]; memset(x, 255, sizeof x); for (;;) { write(1, x, sizeof x); write(2, x, sizeof x); }'), // prettier-ignore
  ]),
  attack('an output of a byte at a time, by sixty processes', [
    c('for (int i = 0; i < 60; i++) fork(); for (;;) { write(1, "x", 1); write(2, "\\n", 1); }'),
  ]),
  attack('an output whose bytes take long to read', [
    c(`
static char *p; static size_t size = 64L << 30; static long next;
static void *change(void *x) { for (;;) { mprotect(p, size, PROT_READ); mprotect(p, size, PROT_READ | PROT_WRITE); } return x; }
static void *put(void *x) { for (;;) write(1, p + (size_t)__atomic_add_fetch(&next, 1, 5) * 4096 % size, 1); return x; }
static void *spin(void *x) { for (volatile long n = 0;;) n++; return x; }
//main
  p = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0); madvise(p, size, MADV_NOHUGEPAGE);
  for (size_t i = 0; i < size; i += 2 << 20) (void)*(volatile char *)(p + i);
  pthread_attr_t a; pthread_attr_init(&a); pthread_attr_setstacksize(&a, 65536);
  for (int i = 0; i < 243; i++) { pthread_t t; pthread_create(&t, &a, i < 3 ? change : i < 153 ? put : spin, 0); }
  sleep(9);`),
  ]),
  attack('an input that nobody reads', [
    program('python', 'import time\ntime.sleep(1)\n', { stdin: 'x'.repeat(65_536) }),
  ]),
  attack('an input that is read a byte at a time', [
    c('char x; while (read(0, &x, 1) == 1); for (;;);', { stdin: 'x'.repeat(65_536) }),
  ]),
]
