// What group.c and the files of the two cgroup versions share.
#ifndef GROUP_H
#define GROUP_H

#include "keeper.h"

enum group_file { limit, swap_limit, peak, usage, kills, cpu, process_limit, processes, process_count, group_file_count };

/** The slot's group. Programs may not read it (allocate_unforked). */
struct group {
  bool counts_swap;
  int files[group_file_count];
  int64_t cpu_before;
  uint64_t kills_before, memory_before, memory_allowed;
  /** Charged before a runtime started, and what its start has taken. */
  uint64_t memory_before_start, memory_of_start;
  /** Without a file for the peak: the most that was seen charged in this run. */
  uint64_t memory_seen;
  uint64_t limit_held;
  uint64_t processes_held;
};
extern struct group *group;

/** One cgroup version. NULL: with this one there is nothing to do. */
struct group_version {
  void (*open)(void);
  /** Bytes charged for the keeper itself, before it has made a box. */
  uint64_t (*read_keeper_memory)(void);
  /** Makes the next box's group and returns its descriptor. NULL: boxes are in the keeper's. */
  int (*prepare)(void);
  /** Gives back what the last box held. */
  void (*reclaim)(bool waits);
  bool (*has_leftovers)(void);
  bool (*has_room)(void);
  void (*raise_limit)(uint64_t bytes);
  /** Before the memory limit is written that may not be above that of memory and swap. */
  bool (*write_memory_limit)(uint64_t bytes);
  /** Nanoseconds without the keeper's own, good for differences. */
  int64_t (*read_cpu)(void);
  bool (*only_init_is_left)(void);
  bool (*is_empty)(void);
  void (*remove)(void);
  /** What resets the peak. */
  const char *reset;
  /** Processes in the group that are no program's. */
  uint64_t own_processes;
};
extern const struct group_version group_v1, group_v2;

/** A run's memory may be reported while so much more than before it is charged: else the keeper waits for init to free it. */
enum { freed_later_bytes = 1 << 20 };

uint64_t read_group_number(enum group_file file);
/** In a file of `key value` lines. */
uint64_t read_group_key(enum group_file file, const char *key);
bool write_group_text(enum group_file file, const char *text);
bool write_group_number(enum group_file file, uint64_t value);
void set_memory_limit(uint64_t bytes);

#endif
