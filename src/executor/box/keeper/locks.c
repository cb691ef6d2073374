// Counts the locks of a box on parts of files.
//
// The kernel charges a lock, of 192 bytes, to no cgroup and limits their number nowhere: three seconds of CPU time make
// more than a million. /proc/locks shows them, but all locks of the host wait while it is read, and the time for it grows
// with the square of their number. So it is read only after the kernel has taken much memory. It shows a lock with its
// process. The filter refuses what it would show without one.
#include "keeper.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/** How many locks a box may hold, and how many of the host are looked at. */
enum { locks_most = 16 * 1024, lines_most = 8 * locks_most };

/** How much the kernel's memory may grow before locks are counted. */
static const uint64_t growth_kibibytes = 32 << 10;
/** The pause between two looks at the kernel's memory. */
static const int64_t look_pause = 100 * INT64_C(1000000);

/** Programs must not read it (allocate_unforked). */
static struct {
  int memory;
  int64_t next_look;
  /** The least of the kernel's memory since the locks were counted. */
  uint64_t kibibytes_before;
  char text[8192];
} *seen;

void open_locks(void) {
  seen = allocate_unforked(sizeof *seen);
  seen->memory = openat(host_proc, "meminfo", O_RDONLY | O_CLOEXEC);
}

void begin_locks(int64_t started) {
  seen->next_look = started + look_pause;
  seen->kibibytes_before = 0;
}

/** Returns the memory of the kernel's own objects, which it cannot take back. 0 when the host does not tell. */
static uint64_t read_kernel_kibibytes(void) {
  static const char name[] = "\nSUnreclaim:";
  ssize_t length = pread(seen->memory, seen->text, sizeof seen->text - 1, 0);
  seen->text[length > 0 ? length : 0] = 0;
  const char *line = strstr(seen->text, name);
  return line == NULL ? 0 : strtoull(line + sizeof name - 1, NULL, 10);
}

static bool is_held_by(const char *line, const int *processes, size_t count) {
  int process;
  if (sscanf(line, "%*d: POSIX %*s %*s %d", &process) != 1) return false;
  for (size_t index = 0; index < count; index += 1)
    if (processes[index] == process) return true;
  return false;
}

static bool count_locks(const int *processes, size_t count) {
  int file = openat(host_proc, "locks", O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  size_t held = 0, lines = 0, kept = 0;
  ssize_t length;
  while (held <= locks_most && lines < lines_most &&
         (length = read(file, seen->text + kept, sizeof seen->text - 1 - kept)) > 0) {
    char *line = seen->text, *end = line + kept + length;
    *end = 0;
    for (char *next; (next = strchr(line, '\n')) != NULL; line = next + 1, lines += 1) {
      *next = 0;
      held += is_held_by(line, processes, count);
    }
    kept = (size_t)(end - line);
    memmove(seen->text, line, kept);
  }
  close(file);
  return held > locks_most;
}

bool holds_too_many_locks(void) {
  int64_t at = now();
  if (at < seen->next_look || !cgroup->has_room()) return false;
  seen->next_look = at + look_pause;
  uint64_t kibibytes = read_kernel_kibibytes();
  if (seen->kibibytes_before == 0 || kibibytes < seen->kibibytes_before) seen->kibibytes_before = kibibytes;
  if (kibibytes <= seen->kibibytes_before + growth_kibibytes) return false;
  // If this growth is not due to the box's locks, the next one may be.
  seen->kibibytes_before = kibibytes;
  const int *processes;
  size_t count = list_processes(&processes);
  return count_locks(processes, count);
}
