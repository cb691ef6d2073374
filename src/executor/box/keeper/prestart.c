// Makes a runtime wait when it first looks for its program's file, until the file is there.
//
// runtime.c preloads this library into a runtime that it starts in a box. The library imitates no part of the runtime,
// which starts as always and goes on as always. The runtime reads nothing of a submission before its box has one.
#include "prestart.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/** The path of the program's file. Empty in a process that waits for nothing, such as a child of the program. */
static char awaited[prestart_path_bytes];
static atomic_bool waits;

static void read_orders(void *target, size_t size) {
  ssize_t length;
  do length = read(prestart_orders, target, size);
  while (length < 0 && errno == EINTR);
  if (length != (ssize_t)size) _exit(70);
}

static void set_limit(int resource, uint64_t value) {
  struct rlimit limit = {value, value};
  if (setrlimit((unsigned)resource, &limit) != 0) _exit(70);
}

/** Reports that the runtime has started, and returns when its program's file is there. */
static void wait_for_program(void) {
  int kept = errno;
  uint64_t one = 1;
  if (write(prestart_ready, &one, sizeof one) != sizeof one) _exit(70);
  struct own_limits own;
  read_orders(&own, sizeof own);
  struct rusage used;
  if (getrusage(RUSAGE_SELF, &used) != 0) _exit(70);
  set_limit(RLIMIT_CPU, (uint64_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + 1 + own.cpu_seconds);
  set_limit(RLIMIT_FSIZE, own.file_size);
  set_limit(RLIMIT_NOFILE, own.open_files);
  set_limit(RLIMIT_MEMLOCK, own.locked_bytes);
  // This answer marks the program's begin. From now on the program is responsible for what happens to the process.
  if (write(prestart_orders, "", 1) != 1) _exit(70);
  close(prestart_orders);
  close(prestart_ready);
  errno = kept;
}

/** True for the awaited path and for its last part, because some runtimes make the name absolute only later. */
static bool is_awaited(const char *path) {
  return path != NULL && (strcmp(path, awaited) == 0 || strcmp(path, strrchr(awaited, '/') + 1) == 0);
}

/** The C library's functions. It has only one of the two `stat` functions. */
static char *(*next_realpath)(const char *, char *);
static int (*next_stat)(const char *, struct stat64 *);
static int (*next_stat_of_version)(int, const char *, struct stat64 *);
static int (*next_open)(const char *, int, ...);
static long (*next_syscall)(long, ...);

static void find_next(void) {
  *(void **)&next_realpath = dlsym(RTLD_NEXT, "realpath");
  *(void **)&next_stat = dlsym(RTLD_NEXT, "stat64");
  *(void **)&next_stat_of_version = dlsym(RTLD_NEXT, "__xstat64");
  *(void **)&next_open = dlsym(RTLD_NEXT, "open64");
  *(void **)&next_syscall = dlsym(RTLD_NEXT, "syscall");
}

static void look_at(const char *path) {
  // The constructor of another library may run before this one's.
  if (next_syscall == NULL) find_next();
  if (atomic_load(&waits) && is_awaited(path) && atomic_exchange(&waits, false)) wait_for_program();
}

__attribute__((constructor)) static void begin(void) {
  forget_variable("LD_PRELOAD");
  find_next();
  close(prestart_library);
  read_orders(awaited, sizeof awaited);
  awaited[sizeof awaited - 1] = 0;
  atomic_store(&waits, awaited[0] == '/');
}

/** The functions with which runtimes look for files, under all their names. */
#define EXPORTED __attribute__((visibility("default")))

EXPORTED char *realpath(const char *restrict path, char *restrict resolved) {
  look_at(path);
  return next_realpath(path, resolved);
}

EXPORTED int stat64(const char *restrict path, struct stat64 *restrict status) {
  look_at(path);
  return next_stat(path, status);
}

/** Called by programs that were linked before glibc 2.33. Newer versions hide it. */
EXPORTED int __xstat64(int version, const char *path, struct stat64 *status);
int __xstat64(int version, const char *path, struct stat64 *status) {
  look_at(path);
  return next_stat != NULL ? next_stat(path, status) : next_stat_of_version(version, path, status);
}

/** Reads the arguments after `last` into the array `words`. */
#define REST(last, words)                                                                                              \
  do {                                                                                                                 \
    va_list rest;                                                                                                      \
    va_start(rest, last);                                                                                              \
    for (size_t index = 0; index < sizeof(words) / sizeof *(words); index += 1) (words)[index] = va_arg(rest, long);   \
    va_end(rest);                                                                                                      \
  } while (0)

EXPORTED int open64(const char *path, int flags, ...) {
  long mode[1];
  REST(flags, mode);
  look_at(path);
  return next_open(path, flags, mode[0]);
}

EXPORTED int open(const char *path, int flags, ...) {
  long mode[1];
  REST(flags, mode);
  look_at(path);
  return next_open(path, flags | O_LARGEFILE, mode[0]);
}

/** Used for system calls for which older C libraries have no function. */
EXPORTED long syscall(long number, ...) {
  long words[6];
  REST(number, words);
  look_at(number == SYS_statx ? (const char *)words[1] : NULL);
  return next_syscall(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}
