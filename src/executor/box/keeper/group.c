// The keeper's cgroup: limits, counters, and the proof that nothing is left.
//
// v1: moving a process costs 10 ms after idleness, so the keeper shares a group with its boxes, and figures are
// differences. The worker opens the files as root, in the order of `files`.
// v2: clone3 puts each box into a new group inside the keeper's directory; the keeper stands outside.
#define _GNU_SOURCE
#include "keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum files { limit, swap_limit, peak, usage, kills, cpu, process_limit, processes, file_count };
/** v2: pids.current, as `processes` is cgroup.events. */
static int process_count = -1;

/** v2 has it since Linux 5.19; without it the charge is sampled when counters are read. Tests name another file. */
#ifndef PEAK_FILE
#define PEAK_FILE "memory.peak"
#endif

static uint32_t version;
static bool swap_counted;
static int descriptors[file_count];
static int parent;

/** Programs may not read it (allocate_unforked). */
static struct {
  char name[32];
  unsigned groups;
  int64_t cpu_before;
  uint64_t kills_before, memory_before, memory_allowed;
  /** Charged before a runtime started, and what its start has taken. */
  uint64_t memory_before_start, memory_of_start;
  /** Charged before the first run. */
  uint64_t memory_at_rest;
  /** v1: the least ever charged before a run. */
  uint64_t memory_least;
  /** v2 without PEAK_FILE: the most that was seen charged in this run. */
  uint64_t memory_seen;
  uint64_t limit_held;
  uint32_t processes_held;
} *run;

/** Bytes that may be charged before a run beyond `memory_at_rest`. */
static const uint64_t memory_slack = 4 << 20;
/** A run waits for its box to free more. Half of it covers what the kernel keeps per processor. */
static const uint64_t settled_slack = 1 << 20;

static size_t read_text(int descriptor, char *text, size_t size, const char *step) {
  ssize_t length = pread(descriptor, text, size - 1, 0);
  if (length < 0) fail(step);
  text[length] = 0;
  return (size_t)length;
}

static uint64_t read_number(int descriptor) {
  char text[64];
  read_text(descriptor, text, sizeof text, "group.read");
  return strtoull(text, NULL, 10);
}

/** In a file of `key value` lines. */
static uint64_t read_key(int descriptor, const char *key) {
  char text[4096];
  read_text(descriptor, text, sizeof text, "group.read");
  size_t length = strlen(key);
  for (char *line = text; line != NULL && *line != 0;) {
    if (strncmp(line, key, length) == 0 && line[length] == ' ') return strtoull(line + length, NULL, 10);
    line = strchr(line, '\n');
    if (line != NULL) line += 1;
  }
  fail_saying("group.read", key);
}

static bool write_text(int descriptor, const char *text) {
  return pwrite(descriptor, text, strlen(text), 0) == (ssize_t)strlen(text);
}

static bool write_number(int descriptor, uint64_t value) {
  char text[32];
  snprintf(text, sizeof text, "%llu", (unsigned long long)value);
  return write_text(descriptor, text);
}

static int open_file(const char *file, int flags) {
  int group = openat(parent, run->name, O_PATH | O_DIRECTORY | O_CLOEXEC);
  int descriptor = openat(group, file, flags | O_CLOEXEC);
  if (descriptor < 0) fail_saying("group.open", file);
  close(group);
  return descriptor;
}

static void write_file_of_group(const char *file, const char *text) {
  int descriptor = open_file(file, O_WRONLY);
  if (!write_text(descriptor, text)) fail_saying("group.limit", file);
  close(descriptor);
}

void open_group(uint32_t cgroup_version, bool counts_swap) {
  run = allocate_unforked(sizeof *run);
  version = cgroup_version;
  swap_counted = counts_swap;
  if (version == 1) {
    for (int file = 0; file < file_count; file += 1) {
      descriptors[file] = group_descriptor + file;
      if (fcntl(descriptors[file], F_SETFD, FD_CLOEXEC) != 0) fail("group.open");
    }
    close_range(group_descriptor + file_count, ~0U, 0);
    return;
  }
  parent = group_descriptor;
  if (fcntl(parent, F_SETFD, FD_CLOEXEC) != 0) fail("group.open");
  close_range(group_descriptor + 1, ~0U, 0);
  for (int file = 0; file < file_count; file += 1) descriptors[file] = -1;
}

uint64_t group_memory(void) {
  if (version == 1) return read_number(descriptors[usage]);
  strcpy(run->name, "keeper");
  int descriptor = open_file("memory.current", O_RDONLY);
  uint64_t bytes = read_number(descriptor);
  close(descriptor);
  return bytes;
}

static bool has_peak(void) {
  char path[sizeof run->name + sizeof "/" PEAK_FILE];
  snprintf(path, sizeof path, "%s/" PEAK_FILE, run->name);
  return faccessat(parent, path, F_OK, 0) == 0;
}

static uint64_t read_peak(void) {
  if (descriptors[peak] >= 0) return read_number(descriptors[peak]);
  uint64_t held = read_number(descriptors[usage]);
  if (held > run->memory_seen) run->memory_seen = held;
  return run->memory_seen;
}

int prepare_group(void) {
  if (version == 1) return -1;
  snprintf(run->name, sizeof run->name, "run-%u", run->groups++);
  if (mkdirat(parent, run->name, 0755) != 0) fail("group.create");
  if (swap_counted) write_file_of_group("memory.swap.max", "0");
  static const struct {
    enum files file;
    const char *name;
    int flags;
  } opened[] = {
      {limit, "memory.max", O_WRONLY},       {peak, PEAK_FILE, O_RDWR},   {usage, "memory.current", O_RDONLY},
      {kills, "memory.events", O_RDONLY},    {cpu, "cpu.stat", O_RDONLY},     {process_limit, "pids.max", O_WRONLY},
      {processes, "cgroup.events", O_RDONLY},
  };
  for (size_t index = 0; index < sizeof opened / sizeof *opened; index += 1) {
    int flags = opened[index].flags;
    // The peak can be reset since Linux 6.12. Before, it includes what the box took, which is no more.
    if (opened[index].file == peak && faccessat(parent, run->name, W_OK, 0) != 0) flags = O_RDONLY;
    if (opened[index].file == peak && !has_peak()) continue;
    descriptors[opened[index].file] = open_file(opened[index].name, flags);
  }
  run->memory_seen = 0;
  process_count = open_file("pids.current", O_RDONLY);
  run->limit_held = 0;
  run->processes_held = 0;
  int group = openat(parent, run->name, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (group < 0) fail("group.open");
  return group;
}

static void set_memory_limit(uint64_t bytes) {
  if (bytes == run->limit_held) return;
  run->limit_held = bytes;
  bool written = write_number(descriptors[limit], bytes);
  if (version == 1 && swap_counted) {
    // The limit of memory and swap may never be below that of memory.
    if (!write_number(descriptors[swap_limit], bytes)) fail("group.limit");
    if (!written) written = write_number(descriptors[limit], bytes);
  }
  if (!written) fail("group.limit");
}

/**
 * v1: a dead box's dentries, shared memory and namespaces stay charged until the kernel needs room. As the keeper's own
 * they would be room beyond the next program's limit. A lower limit frees them.
 */
void settle_group(bool waits) {
  if (version == 2) return;
  for (int tries = 0; waits || tries < 1000; tries += 1) {
    uint64_t held = read_number(descriptors[usage]);
    if (run->memory_at_rest == 0) run->memory_at_rest = run->memory_least = held;
    if (held < run->memory_least) run->memory_least = held;
    uint64_t most = run->memory_at_rest + memory_slack;
    if (held <= most) return;
    if (write_number(descriptors[limit], most)) run->limit_held = most;
    else usleep(tries < 1000 ? 5000 : 100000);
  }
  fail_saying("group.settle", "the memory of a box that has died is not given back");
}

bool group_is_unsettled(void) {
  if (version == 2 || run->memory_at_rest == 0) return false;
  return read_number(descriptors[usage]) > run->memory_at_rest + memory_slack;
}

bool group_has_room(void) {
  if (version == 2) return true;
  return read_number(descriptors[usage]) < run->limit_held - run->limit_held / 8;
}

/**
 * v1: what the last box held may be charged still, up to the limit. Without room the kernel would kill the next box
 * early.
 */
void make_room(uint64_t bytes) {
  if (version == 2 || run->limit_held == 0) return;
  const uint64_t room = 64 << 20;
  uint64_t held = read_number(descriptors[usage]);
  if (held + bytes + room / 2 > run->limit_held) set_memory_limit(held + bytes + room);
}

/**
 * Nanoseconds without the keeper's own, good for differences, as the keeper also ran before it entered. v1: a program's
 * output costs the keeper half of what it costs the program, when written byte by byte. Reading the keeper's clock
 * first updates the group's.
 */
static int64_t read_cpu(void) {
  if (version == 2) return (int64_t)read_key(descriptors[cpu], "usage_usec") * 1000;
  struct timespec own;
  if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &own) != 0) fail("group.clock");
  return (int64_t)read_number(descriptors[cpu]) - (own.tv_sec * INT64_C(1000000000) + own.tv_nsec);
}

void begin_start(void) { run->memory_before_start = version == 1 ? read_number(descriptors[usage]) : 0; }

void note_start(void) {
  uint64_t held = read_number(descriptors[usage]);
  run->memory_of_start = held > run->memory_before_start ? held - run->memory_before_start : 0;
}

void begin_group(const struct request *request, uint64_t share) {
  // Plus the box's first process, and on v1 the keeper.
  uint32_t allowed = request->processes + (version == 1 ? 2 : 1);
  if (allowed != run->processes_held && !write_number(descriptors[process_limit], allowed)) fail("group.limit");
  run->processes_held = allowed;
  if (version == 1 && !write_text(descriptors[peak], "0")) fail("group.reset");
  if (version == 2 && descriptors[peak] >= 0) (void)!write_text(descriptors[peak], "reset");
  uint64_t held = read_number(descriptors[usage]);
  run->memory_before = held > run->memory_of_start ? held - run->memory_of_start : 0;
  run->memory_allowed = request->memory_bytes;
  // What was charged before is not the program's, except the interpreter's share. Rounded, to be written seldom.
  const uint64_t step = 256 * 1024;
  if (request->memory_bytes <= share) fail_saying("group.limit", "less memory than the interpreter's share");
  set_memory_limit(request->memory_bytes - share + (run->memory_before + step - 1) / step * step);
  run->kills_before = 0;
  run->kills_before = group_memory_kills();
  run->cpu_before = read_cpu();
}

uint64_t group_cpu_nanoseconds(void) {
  if (descriptors[peak] < 0) read_peak();
  int64_t used = read_cpu() - run->cpu_before;
  return used > 0 ? (uint64_t)used : 0;
}

uint64_t group_memory_peak(uint64_t share) {
  // The kernel charges 64 pages at a time per processor, so some of a run's pages were charged before. On two
  // processors no program is told less than it took.
  const uint64_t unseen = 2 * 64 * 4096;
  // What was given back meanwhile made room for the program: the box's own set-up, or an earlier box's rest.
  uint64_t left = read_number(descriptors[usage]);
  uint64_t not_its_own = left < run->memory_before ? left : run->memory_before;
  uint64_t highest = read_peak();
  uint64_t taken = (highest > not_its_own ? highest - not_its_own : 0) + unseen + share;
  return taken < run->memory_allowed ? taken : run->memory_allowed;
}

uint64_t group_memory_kills(void) {
  uint64_t total = read_key(descriptors[kills], "oom_kill");
  return total < run->kills_before ? 0 : total - run->kills_before;
}

static bool is_alone(void) {
  if (version == 2) return read_key(descriptors[processes], "populated") == 0;
  // v1's cgroup.procs may be a second old.
  return read_number(descriptors[processes]) == 1;
}

bool group_is_settled(void) {
  // The box's first process frees files and shared memory, which may take seconds. Left, it would count as charged
  // before the next run, and make room in it when freed.
  if (read_number(descriptors[usage]) > run->memory_before + settled_slack) return false;
  if (version == 2) return read_number(process_count) == 1;
  // The keeper and the first process.
  return read_number(descriptors[processes]) == 2 && run->memory_before <= run->memory_least + settled_slack / 2;
}

void end_group(void) {
  run->kills_before = 0;
  // Reaped processes can still show for an instant.
  for (int tries = 0; !is_alone(); tries += 1) {
    if (tries == 2000) fail_saying("group.empty", "processes are left");
    usleep(1000);
  }
  if (version == 1) return;
  for (int file = 0; file < file_count; file += 1) {
    if (descriptors[file] >= 0) close(descriptors[file]);
    descriptors[file] = -1;
  }
  close(process_count);
  // A reaped process can hold its group for milliseconds.
  for (int tries = 0; unlinkat(parent, run->name, AT_REMOVEDIR) != 0; tries += 1) {
    if (errno != EBUSY || tries == 2000) fail("group.remove");
    usleep(1000);
  }
}
