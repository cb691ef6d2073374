// cgroup v1: after an idle time it takes 10 ms to move a process, so the keeper shares one group with its boxes, and
// figures are differences. The worker opens the files as root, in the order of `group_file`.
#include "group.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

/** How many more bytes may be charged before a run than before the first one. */
static const uint64_t slack = 4 << 20;

/** Bytes charged before the first run, and the least ever charged before a run. Programs must not read it. */
static struct {
  uint64_t at_rest, least;
} *memory;

static void adopt_files(void) {
  memory = allocate_unforked(sizeof *memory);
  for (int file = 0; file < process_count; file += 1) {
    group->files[file] = group_descriptor + file;
    if (fcntl(group->files[file], F_SETFD, FD_CLOEXEC) != 0) die("group.open");
  }
  close_range(group_descriptor + process_count, ~0U, 0);
}

static int prepare(void) { return -1; }

static uint64_t read_memory(void) { return read_group_number(usage); }

/** The limit of memory and swap may never be below that of memory, so memory may need a second attempt. */
static bool write_limit(uint64_t bytes) {
  bool written = write_group_number(limit, bytes);
  if (settings.counts_swap == 0) return written;
  return write_group_number(swap_limit, bytes) && (written || write_group_number(limit, bytes));
}

/**
 * Makes the kernel free a dead box's dentries, shared memory and namespaces. They stay charged until the kernel needs
 * room. Counted as the keeper's, they would give the next program room beyond its limit. A lower limit frees them.
 */
static void reclaim(bool waits) {
  for (int tries = 0; waits || tries < 1000; tries += 1) {
    uint64_t held = read_memory();
    if (memory->at_rest == 0) memory->at_rest = memory->least = held;
    if (held < memory->least) memory->least = held;
    uint64_t most = memory->at_rest + slack;
    if (held <= most) return;
    if (write_group_number(limit, most)) group->limit_held = most;
    else usleep(tries < 1000 ? 5000 : 100000);
  }
  die_with("group.settle", "the memory of a box that has died stays charged");
}

static bool has_leftovers(void) { return memory->at_rest > 0 && read_memory() > memory->at_rest + slack; }

static bool has_room(void) { return read_memory() < group->limit_held - group->limit_held / 8; }

/** A charge that fails is not in the peak: it may be one of a huge page. */
static bool has_hit_limit(void) { return read_group_number(swap_peak) + slack >= group->limit_held; }

/**
 * Memory of the last box may still be charged, up to the limit. Without room the kernel would kill the next box early.
 */
static void raise_limit(uint64_t bytes) {
  if (group->limit_held == 0) return;
  const uint64_t room = 64 << 20;
  uint64_t held = read_memory();
  if (held + bytes + room / 2 > group->limit_held) set_memory_limit(held + bytes + room);
}

/**
 * Subtracts the keeper's own CPU time: output that is written byte by byte costs the keeper half as much as the
 * program. The keeper also ran before it entered the group, so only differences are meaningful. Its clock is read
 * first, because that updates the group's.
 */
static int64_t read_cpu(void) {
  struct timespec own;
  if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &own) != 0) die("group.clock");
  return (int64_t)read_group_number(cpu) - (own.tv_sec * INT64_C(1000000000) + own.tv_nsec);
}

/** Half of `freed_later_bytes` is for memory that the kernel keeps per processor. */
static bool only_keeper_and_init(void) {
  return read_group_number(processes) == 2 && group->memory_before <= memory->least + freed_later_bytes / 2;
}

/** Counts processes by pids.current, because cgroup.procs may be a second old. */
static bool only_keeper(void) { return read_group_number(processes) == 1; }

const struct cgroup group_v1 = {
    .open = adopt_files,
    .read_keeper_memory = read_memory,
    .prepare = prepare,
    .reclaim = reclaim,
    .has_leftovers = has_leftovers,
    .has_room = has_room,
    .has_hit_limit = has_hit_limit,
    .raise_limit = raise_limit,
    .write_memory_limit = write_limit,
    .read_cpu = read_cpu,
    .only_init_is_left = only_keeper_and_init,
    .is_empty = only_keeper,
    .reset = "0",
    .shares_group = true,
};
