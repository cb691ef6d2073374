// What a keeper (runtime.c) and the library in its runtime (prestart.c) agree on.
#ifndef PRESTART_H
#define PRESTART_H

#include <stdint.h>

/** The highest that a box has, so that all others are numbered as without them. Closed before the program begins. */
enum prestart_descriptor { prestart_library = 1021, prestart_orders = 1022, prestart_ready = 1023 };

enum { prestart_path_bytes = 256 };

/**
 * What the kernel limits by itself in each process: of it, and of all processes together, so much more is had by none. It comes
 * through `prestart_orders` with the program, behind the absolute path that is waited for, which ends with NUL. A byte is the answer.
 */
struct own_limits {
  /** In case the keeper dies; beyond what a start has used. */
  uint64_t cpu_seconds;
  uint64_t file_size;
  uint64_t open_files;
  uint64_t locked_bytes;
};

#endif
