// The keeper inside CPython: programs are forks of an interpreter that has already started.
//
// LD_PRELOAD loads this library into `python3 main.py`. Before the interpreter's main, the process becomes a keeper in
// its boxes' file system. The interpreter then starts as always, until it opens its script. There the resident process
// serves requests. Each program is a fork, which opens the script of its own box. So no part of the interpreter is
// imitated, and the resident process reads nothing of a submission.
#include "keeper.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/** The script's names. Since Python 3.9 the interpreter makes the name absolute before it opens it. */
static const char *const scripts[] = {"/box/main.py", "main.py"};
static bool waits_for_script;
/** Pipe with the interpreter's output before its script. */
static int early_output;

/** Opens streams of the same kinds as in a box, because the interpreter remembers the kinds. */
static void open_streams(void) {
  int input = memfd_create("stdin", MFD_CLOEXEC);
  int outputs[2];
  if (input < 0 || pipe2(outputs, O_CLOEXEC | O_NONBLOCK) != 0) die("python.streams");
  if (dup2(input, 0) < 0 || dup2(outputs[1], 1) < 0 || dup2(outputs[1], 2) < 0) die("python.streams");
  close(input);
  close(outputs[1]);
  early_output = outputs[0];
}

/** Reports why an interpreter ended before its script. */
__attribute__((destructor)) static void report_last_output(void) {
  if (!waits_for_script) return;
  char text[400];
  ssize_t length = read(early_output, text, sizeof text - 1);
  text[length > 0 ? length : 0] = 0;
  die_with("python.start", text);
}

__attribute__((constructor)) static void begin(void) {
  // launch.ts sets them.
  forget_variable("LD_BIND_NOW");
  forget_variable("LD_PRELOAD");
  setup();
  open_streams();
  waits_for_script = true;
}

/** The end of a zip archive, which CPython can run. It looks for one only at its start. */
static const char *const archive_mark = "PK\5\6";

static FILE *open_script(const char *name, const char *path, const char *mode) {
  FILE *(*next)(const char *, const char *);
  *(void **)&next = dlsym(RTLD_NEXT, name);
  if (next == NULL) _exit(70);
  bool is_script = waits_for_script && (strcmp(path, scripts[0]) == 0 || strcmp(path, scripts[1]) == 0);
  if (!is_script) return next(path, mode);
  waits_for_script = false;
  put_modules_by();
  prepare_early_end();
  forks = true;
  warm_up = run_empty_script;
  serve();
  FILE *file = next(path, mode);
  if (file == NULL) return NULL;
  if (has_word(file, &archive_mark, 1)) {
    execl(program_invocation_name, program_invocation_name, "main.py", NULL);
    _exit(70);
  }
  if (may_end_early(file)) run_script(file, path);
  return file;
}

__attribute__((visibility("default"))) FILE *fopen64(const char *path, const char *mode) {
  return open_script("fopen64", path, mode);
}

__attribute__((visibility("default"))) FILE *fopen(const char *path, const char *mode) {
  return open_script("fopen", path, mode);
}
