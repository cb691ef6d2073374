// Programs that keep the kernel's scheduler busy with one to 250 tasks that wake each other or themselves.
import { attack, c, program, wide } from '../attack.ts'
import type { NeighbourAttack } from '../attack.ts'

const pingPong = (pairs: number): string => `
import os, time
for _ in range(${pairs}):
    a, b = os.pipe(), os.pipe()
    if os.fork() == 0:
        while True: os.read(a[0], 1); os.write(b[1], b"x")
    if os.fork() == 0:
        while True: os.write(a[1], b"x"); os.read(b[0], 1)
time.sleep(9)
`

/** Processes in pairs. \`make\` fills int f[2] and g[2] with the descriptors of a pair. */
const pairs = (count: number, make: string): string => `
  for (int i = 0; i < ${count}; i++) {
    int f[2], g[2]; char x = 0;
    ${make}
    if (fork() == 0) for (;;) { write(f[1], &x, 1); read(g[0], &x, 1); }
    if (fork() == 0) for (;;) { read(f[0], &x, 1); write(g[1], &x, 1); }
  }
  sleep(9);`

/** `count` processes that repeat the same statements forever. */
const crowd = (count: number, before: string, again: string): string => `
  ${before}
  for (int i = 0; i < ${count}; i++) if (fork() == 0) for (;;) { ${again} }
  sleep(9);`

const listenOnLoopback = `#include <netinet/in.h>
//main
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)}; socklen_t size = sizeof at;
  int s = socket(AF_INET, SOCK_STREAM, 0); bind(s, (void *)&at, size); getsockname(s, (void *)&at, &size); listen(s, 100);`

/** Pairs that wait for each other's bytes, and processes that send as fast as they can. */
const overLoopback = `${listenOnLoopback}
  for (int i = 0; i < 30; i++) {
    char x = 0; static char data[1400];
    int c = socket(AF_INET, SOCK_STREAM, 0), a, u = socket(AF_INET, SOCK_DGRAM, 0);
    connect(c, (void *)&at, size); a = accept(s, 0, 0);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    bind(u, (void *)&to, size); getsockname(u, (void *)&to, &size);
    if (fork() == 0) for (;;) { write(c, &x, 1); read(c, &x, 1); }
    if (fork() == 0) for (;;) { read(a, &x, 1); write(a, &x, 1); }
    if (fork() == 0) for (;;) sendto(u, data, sizeof data, 0, (void *)&to, size);
    if (i < 10 && fork() == 0) for (;;) recv(u, data, sizeof data, 0);
  }
  sleep(9);`

const goChannels = `package main

import "os"

func main() {
	for i := 0; i < 60; i++ {
		a, b := make(chan int), make(chan int)
		r, w, _ := os.Pipe()
		x := []byte{0}
		go func() { for { a <- 1; <-b; w.Write(x) } }()
		go func() { y := []byte{0}; for { <-a; b <- 1; r.Read(y) } }()
	}
	select {}
}
`

const nodeWorkers = `
const { Worker, isMainThread, workerData } = require('worker_threads')
if (isMainThread) {
  for (let i = 0; i < 3; i++) {
    const shared = new SharedArrayBuffer(8)
    for (let side = 0; side < 2; side++) new Worker(__filename, { workerData: { shared, side } })
  }
} else {
  const words = new Int32Array(workerData.shared)
  for (;;) {
    Atomics.store(words, workerData.side, 1 - Atomics.load(words, workerData.side))
    Atomics.notify(words, workerData.side)
    Atomics.wait(words, 1 - workerData.side, Atomics.load(words, 1 - workerData.side), 0.01)
  }
}
`

const javaThreads = `
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.locks.LockSupport;
class Main {
  public static void main(String[] a) throws Exception {
    for (int i = 0; i < 20; i++) {
      var queue = new SynchronousQueue<Integer>();
      new Thread(() -> { try { for (;;) queue.put(1); } catch (InterruptedException e) {} }).start();
      new Thread(() -> { try { for (;;) queue.take(); } catch (InterruptedException e) {} }).start();
      new Thread(() -> { for (;;) LockSupport.parkNanos(1000); }).start();
    }
    Thread.sleep(9000);
  }
}
`

const pythonThreads = `
import threading, time
for _ in range(60):
    a, b = threading.Semaphore(0), threading.Semaphore(0)
    def give(a=a, b=b):
        while True: a.release(); b.acquire()
    def take(a=a, b=b):
        while True: a.acquire(); b.release()
    for one in (give, take): threading.Thread(target=one, daemon=True).start()
time.sleep(9)
`

const libc = '/usr/lib/x86_64-linux-gnu/libc.so.6'
const sharedWord = `unsigned *w = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);`
const compiled = { seconds: 3.5 }

export const storms: readonly NeighbourAttack[] = [
  attack('twenty processes of Python that ping-pong over pipes', [
    { language: 'python', code: pingPong(10) },
  ]),
  attack(
    'the same in both slots',
    [program('python', pingPong(10)), program('python', `${pingPong(10)}#`)].map((one) => ({
      ...one,
      limits: { ...wide, wall_time: 0.7 },
    })),
    { holdsSeconds: 0.7 },
  ),
  attack('two processes over pipes', [c(pairs(1, 'pipe(f); pipe(g);'))]),
  attack('250 processes over pipes', [c(pairs(124, 'pipe(f); pipe(g);'))]),
  attack('forty processes over socket pairs', [
    c(
      pairs(
        20,
        'socketpair(AF_UNIX, SOCK_STREAM, 0, f); socketpair(AF_UNIX, SOCK_SEQPACKET, 0, g);',
      ),
    ),
  ]),
  attack('a hundred processes over TCP and UDP', [c(overLoopback, { network: 'loopback' })]),
  attack('connections over loopback that are made and end', [
    c(`${listenOnLoopback}
  for (int i = 0; i < 20; i++) fork();
  for (;;) { int c = socket(AF_INET, SOCK_STREAM, 0); if (connect(c, (void *)&at, size) == 0) close(accept(s, 0, 0)); close(c); }`,
      { network: 'loopback' }),
  ]), // prettier-ignore
  attack('sixty processes over eventfds', [
    c(`
  for (int i = 0; i < 30; i++) {
    int f = eventfd(0, EFD_SEMAPHORE), g = eventfd(0, EFD_SEMAPHORE);
    uint64_t one = 1, got;
    if (fork() == 0) for (;;) { write(f, &one, 8); read(g, &got, 8); }
    if (fork() == 0) for (;;) { read(f, &got, 8); write(g, &one, 8); }
  }
  sleep(9);`),
  ]),
  attack('futexes of 250 processes that time out after a microsecond', [
    c(
      crowd(
        250,
        `unsigned *w = mmap(0, 4096, PROT_READ, MAP_SHARED, open("${libc}", O_RDONLY), 0);`,
        'struct timespec t = {0, 1000}; syscall(SYS_futex, w, FUTEX_WAIT, *w, &t, 0, 0);',
      ),
    ),
  ]),
  attack('futexes by which sixty processes wake each other', [
    c(
      crowd(
        60,
        sharedWord,
        `__atomic_add_fetch(w, 1, 5); syscall(SYS_futex, w, FUTEX_WAKE, 100, 0, 0, 0);
        struct timespec t = {0, 1000000}; syscall(SYS_futex, w, FUTEX_WAIT, *w, &t, 0, 0);`,
      ),
    ),
  ]),
  attack('signals of sixty processes to each other', [
    c(`
  signal(SIGUSR1, SIG_IGN); sigset_t s; sigemptyset(&s); sigaddset(&s, SIGUSR1); sigaddset(&s, SIGRTMIN);
  sigprocmask(SIG_BLOCK, &s, 0);
  for (int i = 0; i < 30; i++) {
    int first = fork();
    if (first == 0) for (;;) { int got; sigwait(&s, &got); kill(-getpgrp(), 0); raise(SIGUSR1); }
    if (fork() == 0) for (;;) { kill(first, SIGRTMIN); sched_yield(); }
  }
  sleep(9);`),
  ]),
  attack('kill(-1) of a hundred processes', [
    c(
      crowd(
        100,
        'signal(SIGUSR1, SIG_IGN); signal(SIGCONT, SIG_IGN);',
        'kill(-1, SIGCONT); kill(-1, SIGUSR1);',
      ),
    ),
  ]),
  attack('processes that stop and continue each other', [
    c(`
  for (int i = 0; i < 60; i++) {
    int other = fork();
    if (other == 0) for (;;) getppid();
    if (fork() == 0) for (;;) { kill(other, SIGSTOP); kill(other, SIGCONT); }
  }
  sleep(9);`),
  ]),
  attack('short sleeps of 250 processes', [
    c(crowd(250, 'prctl(PR_SET_TIMERSLACK, 1);', 'struct timespec t = {0, 1}; nanosleep(&t, 0);')),
  ]),
  attack('250 processes that yield', [c(crowd(250, '', 'sched_yield();'))]),
  attack('interval timers of sixty processes, each a signal in ten microseconds', [
    c(`
static void none(int s) {}
//main
  signal(SIGALRM, none);
  for (int i = 0; i < 60; i++) if (fork() == 0) {
    struct itimerval t = {{0, 10}, {0, 10}}; setitimer(ITIMER_REAL, &t, 0); for (;;) pause();
  }
  sleep(9);`),
  ]),
  attack('epoll of fifty processes on one pipe', [
    c(`
  int f[2]; pipe(f); char x = 0; fcntl(f[0], F_SETFL, O_NONBLOCK);
  for (int i = 0; i < 50; i++) if (fork() == 0) {
    int e = epoll_create1(0); struct epoll_event v = {EPOLLIN, {0}}; epoll_ctl(e, EPOLL_CTL_ADD, f[0], &v);
    for (;;) { epoll_wait(e, &v, 1, -1); read(f[0], &x, 1); write(f[1], &x, 1); }
  }
  for (;;) write(f[1], &x, 1);`),
  ]),
  attack('threads that are made and end', [
    c(`
static void *end(void *p) { return p; }
//main
  for (int i = 0; i < 8; i++) if (fork() == 0)
    for (;;) { pthread_t t[20]; int n = 0; while (n < 20 && pthread_create(t + n, 0, end, 0) == 0) n++; while (n > 0) pthread_join(t[--n], 0); }
  sleep(9);`),
  ]),
  attack('processes that are made and end', [
    c(crowd(30, '', 'int p = fork(); if (p == 0) _exit(0); if (p > 0) waitpid(p, 0, 0);')),
  ]),
  attack('two hundred threads with one lock', [
    c(`
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; static pthread_cond_t all = PTHREAD_COND_INITIALIZER;
static void *turn(void *p) {
  for (;;) { pthread_mutex_lock(&lock); pthread_cond_broadcast(&all); struct timespec t; clock_gettime(CLOCK_REALTIME, &t); t.tv_nsec += 100000;
    if (t.tv_nsec < 1000000000) pthread_cond_timedwait(&all, &lock, &t); pthread_mutex_unlock(&lock); } return p; }
//main
  pthread_attr_t a; pthread_attr_init(&a); pthread_attr_setstacksize(&a, 65536);
  for (int i = 0; i < 200; i++) { pthread_t t; pthread_create(&t, &a, turn, 0); }
  sleep(9);`),
  ]),
  attack('semaphores and queues of System V between sixty processes', [
    c(
      crowd(
        60,
        'int s = semget(IPC_PRIVATE, 1, 0600), q = msgget(IPC_PRIVATE, 0600);',
        `struct sembuf up = {0, 1, 0}, down = {0, -1, 0}; semop(s, &up, 1); semop(s, &down, 1);
        struct { long type; char text[8]; } m = {1, ""}; msgsnd(q, &m, 8, IPC_NOWAIT); msgrcv(q, &m, 8, 0, IPC_NOWAIT);`,
      ),
    ),
  ]),
  attack('membarrier and moves between processors', [
    c(
      crowd(
        40,
        'syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0);',
        `cpu_set_t s; CPU_ZERO(&s); CPU_SET(i++ & 1, &s); sched_setaffinity(0, sizeof s, &s);
        syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);`,
      ),
    ),
  ]),
  attack('eleven processes, each in one call for terabytes', [
    c(`
  int f = memfd_create("v", 0); size_t each = 32 << 20, all = 16L << 30, asked = 32L << 40; ftruncate(f, each);
  char *vec = mmap(0, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0), *big = mmap(0, asked, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  for (size_t at = 0; at < all; at += each) mmap(vec + at, each, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, f, 0);
  for (int i = 0; i < 10; i++) if (fork() == 0) break;
  for (;;) mincore(big, asked, (void *)vec);`),
  ]),
  attack('threads of Python that hand over', [program('python', pythonThreads)]),
  attack('goroutines over channels and pipes', [program('go', goChannels)], compiled),
  attack('workers of Node that wake each other', [program('javascript', nodeWorkers)]),
  attack('threads of Java that hand over and park', [program('java', javaThreads, { limits: { ...wide, memory: 512 << 20 } })], compiled), // prettier-ignore
]
