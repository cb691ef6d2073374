// The floor of everything that starts a program: posix_spawn, the output read to its end, waitpid, and nothing else.
// Node's own spawn is no floor: it costs a millisecond and more, and blocks its event loop meanwhile.
//
//   posix-spawn HOW RUNS IDLE_MS STDOUT DIRECTORY... -- PROGRAM ARGUMENT... [; PROGRAM ARGUMENT...]
//
// HOW is `spawn`; or `clone`, the floor of every box: a clone into new namespaces of the kinds that each box has for itself,
// and exec. Nothing is mounted in them, no cgroup is entered, no filter is loaded.
//
// Runs the commands one after the other, RUNS times, in as many threads as there are directories, each with one of
// them as its working directory, after IDLE_MS of rest before each run. The commands find the environment that this process
// was given. Prints each run's nanoseconds on a line, then those of all together. Exits with 1 when a command exits with
// another status than 0, or the last one prints another text than STDOUT.
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_COMMANDS = 8, MOST_THREADS = 64 };

static char **commands[MOST_COMMANDS];
static int command_count;
static const char *expected;
static bool clones;
static long idle_ms;
static int runs;
static atomic_int next_run;
static long long *durations;

static _Noreturn void fail(const char *what) {
  perror(what);
  exit(1);
}

static long long now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static pid_t spawn(char **argv, const char *directory, int out) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out, 1);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addchdir_np(&actions, directory);
  pid_t child;
  if (posix_spawnp(&child, argv[0], &actions, NULL, argv, environ) != 0) fail(argv[0]);
  posix_spawn_file_actions_destroy(&actions);
  return child;
}

static pid_t clone_into_namespaces(char **argv, const char *directory, int out) {
  struct clone_args arguments = {
      .flags = CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP,
      .exit_signal = SIGCHLD,
  };
  pid_t child = (pid_t)syscall(SYS_clone3, &arguments, sizeof arguments);
  if (child < 0) fail("clone3");
  if (child > 0) return child;
  int nothing = open("/dev/null", O_RDWR);
  if (dup2(nothing, 0) < 0 || dup2(out, 1) < 0 || dup2(nothing, 2) < 0 || chdir(directory) != 0) _exit(126);
  execvp(argv[0], argv);
  _exit(127);
}

/* Starts one command and reads what it prints to its end; returns how much of it is in the buffer. */
static size_t run_command(char **argv, const char *directory, char *output, size_t room) {
  int out[2];
  if (pipe2(out, O_CLOEXEC) != 0) fail("pipe2");
  pid_t child = clones ? clone_into_namespaces(argv, directory, out[1]) : spawn(argv, directory, out[1]);
  close(out[1]);
  size_t length = 0;
  char rest[65536];
  for (ssize_t got = 1; got > 0;) {
    bool is_full = length == room;
    got = is_full ? read(out[0], rest, sizeof rest) : read(out[0], output + length, room - length);
    if (got > 0 && !is_full) length += (size_t)got;
  }
  close(out[0]);
  int status;
  if (waitpid(child, &status, 0) != child) fail("waitpid");
  if (status != 0) {
    fprintf(stderr, "%s ended with wait status %d\n", argv[0], status);
    exit(1);
  }
  return length;
}

static void *work(void *directory) {
  char output[4096];
  for (int run; (run = atomic_fetch_add(&next_run, 1)) < runs;) {
    if (idle_ms > 0) usleep((useconds_t)idle_ms * 1000);
    size_t length = 0;
    long long start = now_ns();
    for (int i = 0; i < command_count; i++) {
      length = run_command(commands[i], directory, output, sizeof output - 1);
    }
    durations[run] = now_ns() - start;
    output[length] = 0;
    if (strcmp(output, expected) != 0) {
      fprintf(stderr, "%s printed: %s\n", commands[0][0], output);
      exit(1);
    }
  }
  return NULL;
}

int main(int argc, char **argv) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (argc < 8) return 64;
  clones = strcmp(argv[1], "clone") == 0;
  // As a keeper has them once for all of its boxes.
  if (clones && unshare(CLONE_NEWNS | CLONE_NEWNET) != 0) fail("unshare");
  runs = atoi(argv[2]);
  idle_ms = atol(argv[3]);
  expected = argv[4];
  char *directories[MOST_THREADS];
  int threads = 0;
  int i = 5;
  for (; i < argc && strcmp(argv[i], "--") != 0 && threads < MOST_THREADS; i++) directories[threads++] = argv[i];
  commands[command_count++] = &argv[++i];
  for (; i < argc && command_count < MOST_COMMANDS; i++) {
    if (strcmp(argv[i], ";") != 0) continue;
    argv[i] = NULL;
    commands[command_count++] = &argv[i + 1];
  }
  durations = calloc((size_t)runs, sizeof *durations);
  if (durations == NULL) fail("calloc");

  pthread_t thread[MOST_THREADS];
  long long start = now_ns();
  for (int t = 0; t < threads; t++) {
    if (pthread_create(&thread[t], NULL, work, directories[t]) != 0) fail("pthread_create");
  }
  for (int t = 0; t < threads; t++) pthread_join(thread[t], NULL);
  long long elapsed = now_ns() - start;
  for (int run = 0; run < runs; run++) printf("%lld\n", durations[run]);
  printf("%lld\n", elapsed);
  return 0;
}
