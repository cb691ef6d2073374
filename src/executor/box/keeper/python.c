// The keeper inside CPython: programs are forks of an interpreter that has already started.
//
// LD_PRELOAD loads this library into `python3 main.py`. Before the interpreter's main, the process becomes a keeper in
// its boxes' file system. The interpreter then starts as always, until it opens its script. There the resident process
// serves requests. Each program is a fork, which opens the script of its own box. So no part of the interpreter is
// imitated, and the resident process reads nothing of a submission.
#include "keeper.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/prctl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

/** The script's names. Since Python 3.9 the interpreter makes the name absolute before it opens it. */
static const char *const scripts[] = {"/box/main.py", "main.py"};
static bool waits_for_script;
/** Pipe with the interpreter's output before its script. */
static int early_output;

/** The auxiliary vector, which follows the environment on the stack. */
static Elf64_auxv_t *auxiliary;
/** The end of the environment's text, with and without its last two variables. */
static char *variables_end, *variables_end_without;

/** Removes two variables, because programs should not see how this process was started (launch.ts). */
static void forget_preload(void) {
  char **end = environ;
  while (*end != NULL) end += 1;
  auxiliary = (Elf64_auxv_t *)(void *)(end + 1);
  char *first = getenv("LD_BIND_NOW"), *last = getenv("LD_PRELOAD");
  if (first == NULL || last == NULL) return;
  variables_end_without = first - strlen("LD_BIND_NOW=");
  variables_end = last + strlen(last) + 1;
  unsetenv("LD_BIND_NOW");
  unsetenv("LD_PRELOAD");
  memset(variables_end_without, 0, (size_t)(variables_end - variables_end_without));
}

/**
 * Corrects the kernel's records of the environment's end and of the ids, which are older than the box. A kernel without
 * checkpoint support does not allow this. /proc/self/environ then ends with more NULs.
 */
static void correct_records(void) {
  size_t count = 0;
  for (Elf64_auxv_t *entry = auxiliary; entry->a_type != AT_NULL; entry += 1, count += 1) {
    if (entry->a_type == AT_UID || entry->a_type == AT_EUID) entry->a_un.a_val = geteuid();
    if (entry->a_type == AT_GID || entry->a_type == AT_EGID) entry->a_un.a_val = getegid();
  }
  char text[2048];
  int file = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
  ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  if (length <= 0) return;
  text[length] = 0;
  // The second field is the name, in parentheses, which may hold any characters. The third field follows it.
  uint64_t fields[52] = {0};
  char *next = strrchr(text, ')');
  for (int number = 3; next != NULL && number < 52; number += 1) {
    next = strchr(next + 1, ' ');
    if (next != NULL) fields[number] = strtoull(next + 1, NULL, 10);
  }
  struct prctl_mm_map map = {
      .start_code = fields[26],
      .end_code = fields[27],
      .start_stack = fields[28],
      .start_data = fields[45],
      .end_data = fields[46],
      .start_brk = fields[47],
      .brk = (uintptr_t)sbrk(0),
      .arg_start = fields[48],
      .arg_end = fields[49],
      .env_start = fields[50],
      .env_end = fields[51],
      .auxv = (__u64 *)(void *)auxiliary,
      .auxv_size = (uint32_t)((count + 1) * sizeof *auxiliary),
      .exe_fd = (uint32_t)-1,
  };
  // LD_PRELOAD is the last variable, unless the order was changed.
  if (map.env_end == (uintptr_t)variables_end) map.env_end = (uintptr_t)variables_end_without;
  prctl(PR_SET_MM, PR_SET_MM_MAP, &map, sizeof map, 0);
}

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
  forget_preload();
  setup();
  correct_records();
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
