// The keeper inside CPython: a box's program is a fork of an interpreter that is already up.
//
// Loaded ahead of `python3 main.py` (LD_PRELOAD). Before the interpreter's own main the process becomes a keeper: it
// stands in the file system of its boxes, in /box. The interpreter then starts as it always does, in the very command
// line of a submission, until it opens its script. There it is held: each box's program is a fork of it that goes on from
// this place, in its own box, with the script that lies there. So nothing of the interpreter is imitated, and the
// resident process itself never reads a line of a submission.
#define _GNU_SOURCE
#include "keeper.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

/** Since 3.9 an interpreter makes the name absolute before it opens it. */
static const char *const scripts[] = {"/box/main.py", "main.py"};
static bool waits_for_script;

/** The name of this library is not a part of what a program sees as its environment. */
static void forget_preload(void) {
  char *value = getenv("LD_PRELOAD");
  if (value == NULL) return;
  char *start = value - strlen("LD_PRELOAD=");
  size_t length = strlen(start);
  unsetenv("LD_PRELOAD");
  memset(start, 0, length);
}

/** The interpreter looks at its standard streams when it starts, and keeps what it saw: they must be of the right kind. */
static void open_streams(void) {
  int input = memfd_create("stdin", MFD_CLOEXEC);
  int outputs[2];
  if (input < 0 || pipe2(outputs, O_CLOEXEC) != 0) fail("python.streams");
  if (dup2(input, 0) < 0 || dup2(outputs[1], 1) < 0 || dup2(outputs[1], 2) < 0) fail("python.streams");
  close(input);
  close(outputs[1]);
}

__attribute__((constructor)) static void begin(void) {
  forget_preload();
  setup();
  open_streams();
  waits_for_script = true;
}

/** A function or variable of the interpreter's; every one of its public names is there since Python 3.2. */
static void *find(const char *name) {
  void *found = dlsym(RTLD_DEFAULT, name);
  if (found == NULL) _exit(70);
  return found;
}

static void *get_of_sys(const char *name) {
  void *(*get)(const char *);
  *(void **)&get = find("PySys_GetObject");
  return get(name);
}

/** True once the script has ended without an exception and nothing that is left to do could be seen (quiet-end.ts). */
static bool ends_quietly;

/**
 * What the interpreter's own main does from here on: runs the script and ends. By the same calls, so that it is known
 * how the script ended when the interpreter is taken down (sigaction below).
 */
static _Noreturn void run_script(FILE *file, const char *path, bool may_end_quietly) {
  int (*ensure)(void);
  int (*run)(FILE *, const char *, int, void *);
  int (*finalize)(void);
  *(void **)&ensure = find("PyGILState_Ensure");
  *(void **)&run = find("PyRun_AnyFileExFlags");
  *(void **)&finalize = find("Py_FinalizeEx");
  ensure();
  int failed = run(file, path, 1, NULL);
  void **interrupt = find("PyExc_KeyboardInterrupt");
  bool interrupted = failed && get_of_sys("last_type") == *interrupt;
  ends_quietly = !failed && may_end_quietly;
  int status = finalize() < 0 ? 120 : failed != 0;
  if (interrupted) {
    signal(SIGINT, SIG_DFL);
    kill(getpid(), SIGINT);
    status = 128 + SIGINT;
  }
  exit(status);
}

static bool flush(const char *name, const char *original) {
  void *(*call)(void *, const char *, const char *);
  void (*clear)(void);
  *(void **)&call = find("PyObject_CallMethod");
  *(void **)&clear = find("PyErr_Clear");
  void *stream = get_of_sys(name);
  if (stream == NULL || stream != get_of_sys(original)) return false;
  bool flushed = call(stream, "flush", NULL) != NULL;
  clear();
  return flushed;
}

static void *find_next(const char *name) {
  void *found = dlsym(RTLD_NEXT, name);
  if (found == NULL) _exit(70);
  return found;
}

/**
 * The interpreter gives SIGINT back when threads have been waited for, exit functions have run and outputs are flushed.
 * What follows frees memory that the kernel frees at once anyway: two thirds of a hello's time, as the pages are shared
 * with the resident until they are written to. It is left out where none of it could be seen.
 */
__attribute__((visibility("default"))) int sigaction(int signal_number, const struct sigaction *new,
                                                     struct sigaction *old) {
  if (ends_quietly && signal_number == SIGINT) {
    ends_quietly = false;
    if (flush("stdout", "__stdout__") && flush("stderr", "__stderr__")) exit(0);
  }
  int (*next)(int, const struct sigaction *, struct sigaction *);
  *(void **)&next = find_next("sigaction");
  return next(signal_number, new, old);
}

static FILE *open_script(const char *name, const char *path, const char *mode) {
  FILE *(*next)(const char *, const char *);
  *(void **)&next = find_next(name);
  bool is_script = waits_for_script && (strcmp(path, scripts[0]) == 0 || strcmp(path, scripts[1]) == 0);
  if (!is_script) return next(path, mode);
  waits_for_script = false;
  bool may_end_quietly = serve(true);
  FILE *file = next(path, mode);
  if (file != NULL) run_script(file, path, may_end_quietly);
  return NULL;
}

__attribute__((visibility("default"))) FILE *fopen64(const char *path, const char *mode) {
  return open_script("fopen64", path, mode);
}

__attribute__((visibility("default"))) FILE *fopen(const char *path, const char *mode) {
  return open_script("fopen", path, mode);
}
