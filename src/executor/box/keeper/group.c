// The slot's cgroup: limits, counters, and the proof that nothing is left. group-v2.c and group-v1.c hold what differs.
#include "group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct cgroup *cgroup;
struct group *group;

static void read_text(int descriptor, char *text, size_t size) {
  ssize_t length = pread(descriptor, text, size - 1, 0);
  if (length < 0) die("group.read");
  text[length] = 0;
}

uint64_t read_number(int descriptor) {
  char text[64];
  read_text(descriptor, text, sizeof text);
  return strtoull(text, NULL, 10);
}

uint64_t read_key(int descriptor, const char *key) {
  char text[4096];
  read_text(descriptor, text, sizeof text);
  size_t length = strlen(key);
  for (char *line = text; line != NULL && *line != 0;) {
    if (strncmp(line, key, length) == 0 && line[length] == ' ') return strtoull(line + length, NULL, 10);
    line = strchr(line, '\n');
    if (line != NULL) line += 1;
  }
  die_with("group.read", key);
}

uint64_t read_group_number(enum group_file file) { return read_number(group->files[file]); }

uint64_t read_group_key(enum group_file file, const char *key) { return read_key(group->files[file], key); }

bool write_group_text(enum group_file file, const char *text) {
  return pwrite(group->files[file], text, strlen(text), 0) == (ssize_t)strlen(text);
}

bool write_group_number(enum group_file file, uint64_t value) {
  char text[32];
  snprintf(text, sizeof text, "%llu", (unsigned long long)value);
  return write_group_text(file, text);
}

void open_group(void) {
  cgroup = settings.cgroup_version == 1 ? &group_v1 : &group_v2;
  group = allocate_unforked(sizeof *group);
  cgroup->open();
}

void set_memory_limit(uint64_t bytes) {
  if (bytes == group->limit_held) return;
  group->limit_held = bytes;
  if (!cgroup->write_memory_limit(bytes)) die("group.limit");
}

void begin_start(void) {
  // A group that was made for this box has no charge yet.
  group->memory_before_start = cgroup->shares_group ? read_group_number(usage) : 0;
}

void note_start(void) {
  uint64_t held = read_group_number(usage);
  group->memory_of_start = held > group->memory_before_start ? held - group->memory_before_start : 0;
}

void begin_group(const struct request *request, uint64_t share) {
  // Init, and on v1 the keeper, are not the program's.
  uint64_t own_processes = cgroup->shares_group ? 2 : 1;
  if (!write_group_number(process_limit, request->processes + own_processes)) die("group.limit");
  if (!write_group_text(peak, cgroup->reset) && cgroup->shares_group) die("group.reset");
  if (group->files[swap_peak] >= 0 && !write_group_text(swap_peak, cgroup->reset)) die("group.reset");
  uint64_t held = read_group_number(usage);
  group->memory_before = held > group->memory_of_start ? held - group->memory_of_start : 0;
  group->memory_allowed = request->memory_bytes;
  // Memory charged before does not count for the program, except the interpreter's share. The limit is rounded, so that
  // it is seldom written.
  const uint64_t step = 256 * 1024;
  if (request->memory_bytes <= share) die_with("group.limit", "less memory than the interpreter's share");
  set_memory_limit(request->memory_bytes - share + (group->memory_before + step - 1) / step * step);
  group->kills_before = read_group_key(kills, "oom_kill");
  group->cpu_before = cgroup->read_cpu();
}

static uint64_t read_peak(void) {
  if (group->files[peak] >= 0) return read_group_number(peak);
  uint64_t held = read_group_number(usage);
  if (held > group->memory_seen) group->memory_seen = held;
  return group->memory_seen;
}

uint64_t group_cpu_nanoseconds(void) {
  if (group->files[peak] < 0) read_peak();
  int64_t used = cgroup->read_cpu() - group->cpu_before;
  return used > 0 ? (uint64_t)used : 0;
}

uint64_t group_memory_peak(uint64_t share) {
  // The kernel charges 64 pages at a time per processor, so some of a run's pages were charged before the run. With
  // this addition no program on two processors is reported with less than it took.
  const uint64_t unseen = 2 * 64 * 4096;
  // Charges from before the run that were released during it are not subtracted, such as those of the box's set-up.
  uint64_t left = read_group_number(usage);
  uint64_t not_its_own = left < group->memory_before ? left : group->memory_before;
  uint64_t highest = read_peak();
  uint64_t taken = (highest > not_its_own ? highest - not_its_own : 0) + unseen + share;
  return taken < group->memory_allowed ? taken : group->memory_allowed;
}

uint64_t group_memory_kills(void) {
  uint64_t total = read_group_key(kills, "oom_kill");
  return total < group->kills_before ? 0 : total - group->kills_before;
}

bool only_init_is_left(void) {
  // Init frees files and shared memory, which may take seconds. Otherwise this memory would count as charged before the
  // next run, and would give that run more room when it is freed.
  return read_group_number(usage) <= group->memory_before + freed_later_bytes && cgroup->only_init_is_left();
}

void end_group(void) {
  // Reaped processes may still be counted for an instant.
  for (int tries = 0; !cgroup->is_empty(); tries += 1) {
    if (tries == 2000) die_with("group.empty", "processes are left");
    usleep(1000);
  }
  if (!cgroup->shares_group) cgroup->remove();
}
