// cgroup v2: clone3 puts each box into a new group inside the keeper's directory. The keeper itself is in a sibling
// group.
#include "group.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/** Exists since Linux 5.19. Without it the charge is sampled when the counters are read. */
#define PEAK_FILE "memory.peak"

/** The keeper's directory, and its memory.high, which only the worker may open. */
enum { parent = group_descriptor, high };

/** A box may leave this much more charged to the directory than the boxes before it. */
static const uint64_t slack = 4 << 20;

/** The number of boxes so far, and the group of the present one. Programs must not read it. */
static struct {
  unsigned count;
  char name[32];
  /** The directory's memory.current and memory.stat. */
  int charged, statistics;
  /** Bytes charged before the first box, and bytes of the kernel's caches that it did not free. */
  uint64_t charged_before, kept;
} *boxes;

static int open_file(const char *directory, const char *file, int flags) {
  int path = openat(parent, directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
  int descriptor = openat(path, file, flags | O_CLOEXEC);
  if (descriptor < 0) die_with("group.open", file);
  close(path);
  return descriptor;
}

static void open_tree_of_groups(void) {
  boxes = allocate_unforked(sizeof *boxes);
  if (fcntl(parent, F_SETFD, FD_CLOEXEC) != 0 || fcntl(high, F_SETFD, FD_CLOEXEC) != 0) die("group.open");
  close_range(high + 1, ~0U, 0);
  for (int file = 0; file < group_file_count; file += 1) group->files[file] = -1;
  boxes->charged = open_file(".", "memory.current", O_RDONLY);
  boxes->statistics = open_file(".", "memory.stat", O_RDONLY);
}

static uint64_t read_own_memory(void) {
  int file = open_file("keeper", "memory.current", O_RDONLY);
  uint64_t bytes = read_number(file);
  close(file);
  return bytes;
}

static uint64_t read_charged(void) { return read_number(boxes->charged); }

static uint64_t read_cached(void) { return read_key(boxes->statistics, "slab_reclaimable"); }

/**
 * True when a dead box has left names of files in the kernel's caches. They stay charged to the directory, and a later
 * box would wait while the kernel frees them. Cached files are left out: they cost little to free, and save reading.
 * memory.current comes first, because the kernel adds up memory.stat at each reading.
 */
static bool has_leftovers(void) {
  return read_charged() > boxes->charged_before + slack && read_cached() > boxes->kept + slack;
}

/** Makes the kernel free what it can, by a limit at which it kills nothing. */
static void reclaim(bool waits) {
  if (!waits) return;
  for (int tries = 0; tries < 100 && has_leftovers(); tries += 1)
    if (pwrite(high, "0", 1, 0) != 1) break;
  if (pwrite(high, "max", 3, 0) != 3) die_with("group.limit", "memory.high");
  boxes->kept = read_cached();
}

/** A box's group has no memory of the keeper. */
static bool has_room(void) { return true; }

static void raise_limit(uint64_t bytes) { (void)bytes; }

static bool may_open_peak(int mode) {
  char path[sizeof boxes->name + sizeof "/" PEAK_FILE];
  snprintf(path, sizeof path, "%s/" PEAK_FILE, boxes->name);
  return faccessat(parent, path, mode, 0) == 0;
}

static int prepare(void) {
  if (boxes->count == 0) boxes->charged_before = read_charged();
  snprintf(boxes->name, sizeof boxes->name, "run-%u", boxes->count++);
  if (mkdirat(parent, boxes->name, 0755) != 0) die("group.create");
  // The peak can be reset since Linux 6.12. On older kernels it includes the memory that the box's set-up took.
  int resettable = may_open_peak(W_OK) ? O_RDWR : O_RDONLY;
  const struct {
    enum group_file file;
    const char *name;
    int flags;
  } opened[] = {
      {limit, "memory.max", O_WRONLY},          {peak, PEAK_FILE, resettable}, {usage, "memory.current", O_RDONLY},
      {kills, "memory.events", O_RDONLY},       {cpu, "cpu.stat", O_RDONLY},       {process_limit, "pids.max", O_WRONLY},
      {processes, "cgroup.events", O_RDONLY},   {process_count, "pids.current", O_RDONLY},
  };
  for (size_t index = 0; index < sizeof opened / sizeof *opened; index += 1) {
    if (opened[index].file == peak && !may_open_peak(F_OK)) continue;
    group->files[opened[index].file] = open_file(boxes->name, opened[index].name, opened[index].flags);
  }
  group->memory_seen = 0;
  if (settings.counts_swap != 0) {
    group->files[swap_limit] = open_file(boxes->name, "memory.swap.max", O_WRONLY);
    if (!write_group_text(swap_limit, "0")) die_with("group.limit", "memory.swap.max");
  }
  group->limit_held = 0;
  int made = openat(parent, boxes->name, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (made < 0) die("group.open");
  return made;
}

static bool write_limit(uint64_t bytes) { return write_group_number(limit, bytes); }

static int64_t read_cpu(void) { return (int64_t)read_group_key(cpu, "usage_usec") * 1000; }

static bool has_hit_limit(void) { return read_group_key(kills, "oom") > 0; }

static bool only_init(void) { return read_group_number(process_count) == 1; }

static bool is_empty(void) { return read_group_key(processes, "populated") == 0; }

static void remove_group(void) {
  for (int file = 0; file < group_file_count; file += 1) {
    if (group->files[file] >= 0) close(group->files[file]);
    group->files[file] = -1;
  }
  // A reaped process can hold its group for milliseconds.
  for (int tries = 0; unlinkat(parent, boxes->name, AT_REMOVEDIR) != 0; tries += 1) {
    if (errno != EBUSY || tries == 2000) die("group.remove");
    usleep(1000);
  }
}

const struct cgroup group_v2 = {
    .open = open_tree_of_groups,
    .read_keeper_memory = read_own_memory,
    .prepare = prepare,
    .reclaim = reclaim,
    .has_leftovers = has_leftovers,
    .has_room = has_room,
    .raise_limit = raise_limit,
    .has_hit_limit = has_hit_limit,
    .write_memory_limit = write_limit,
    .read_cpu = read_cpu,
    .only_init_is_left = only_init,
    .is_empty = is_empty,
    .remove = remove_group,
    .reset = "reset",
};
