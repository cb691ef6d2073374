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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

typedef FILE *open_function(const char *path, const char *mode);

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

static FILE *open_really(const char *name, const char *path, const char *mode) {
  void *found = dlsym(RTLD_NEXT, name);
  open_function *function;
  memcpy(&function, &found, sizeof function);
  return function(path, mode);
}

static void hold(const char *path) {
  if (!waits_for_script || (strcmp(path, scripts[0]) != 0 && strcmp(path, scripts[1]) != 0)) return;
  waits_for_script = false;
  serve(true);
}

__attribute__((visibility("default"))) FILE *fopen64(const char *path, const char *mode) {
  hold(path);
  return open_really("fopen64", path, mode);
}

__attribute__((visibility("default"))) FILE *fopen(const char *path, const char *mode) {
  hold(path);
  return open_really("fopen", path, mode);
}
