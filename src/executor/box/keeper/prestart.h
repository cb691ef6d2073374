// The protocol between a keeper (runtime.c) and the library in its runtime (prestart.c), and what they have in common.
#ifndef PRESTART_H
#define PRESTART_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/**
 * The highest descriptors that a box may have, so that all others get the same numbers as without them. They are closed
 * before the program begins.
 */
enum prestart_descriptor { prestart_library = 1021, prestart_orders = 1022, prestart_ready = 1023 };

enum { prestart_path_bytes = 256 };

/**
 * The limits that the kernel enforces in each process. The keeper sends them through `prestart_orders` when the
 * program's file is there. Before that it has sent the absolute path that the runtime waits for, ended by NUL. The
 * runtime answers with a byte.
 */
struct own_limits {
  /** In case the keeper dies. Counted from the program's begin, without the CPU time of the runtime's start. */
  uint64_t cpu_seconds;
  uint64_t file_size;
  uint64_t open_files;
  uint64_t locked_bytes;
};

/** Removes a variable with which a keeper starts a process from its environment, because programs should not see it. */
static inline void forget_variable(const char *name) {
  char *value = getenv(name);
  if (value == NULL) return;
  char *variable = value - strlen(name) - 1;
  size_t bytes = strlen(variable);
  unsetenv(name);
  memset(variable, 0, bytes);
}

#endif
