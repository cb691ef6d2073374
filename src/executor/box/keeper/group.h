// Declarations shared by group.c, group-v1.c and group-v2.c.
#ifndef GROUP_H
#define GROUP_H

#include "keeper.h"

enum group_file {
  limit,
  swap_limit,
  peak,
  /** v1: the peak of memory and swap together, which the limit bounds. */
  swap_peak,
  usage,
  kills,
  cpu,
  process_limit,
  processes,
  process_count,
  group_file_count
};

/** The slot's cgroup. Programs must not read it (allocate_unforked). */
struct group {
  int files[group_file_count];
  int64_t cpu_before;
  uint64_t kills_before, memory_before, memory_allowed;
  /** Bytes charged before a runtime started, and bytes that its start took. */
  uint64_t memory_before_start, memory_of_start;
  /** The most bytes that were seen charged in this run. Used when there is no file for the peak. */
  uint64_t memory_seen;
  uint64_t limit_held;
};
extern struct group *group;

extern const struct cgroup group_v1, group_v2;

/** When this much more than before the run is charged, the result waits until init has freed it. */
enum { freed_later_bytes = 1 << 20 };

uint64_t read_number(int descriptor);
/** Returns the number after `key` in a file of `key value` lines. */
uint64_t read_key(int descriptor, const char *key);
uint64_t read_group_number(enum group_file file);
uint64_t read_group_key(enum group_file file, const char *key);
bool write_group_text(enum group_file file, const char *text);
bool write_group_number(enum group_file file, uint64_t value);
void set_memory_limit(uint64_t bytes);

#endif
