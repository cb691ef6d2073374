// What almost every program of an interpreter does to its memory, done before the program is asked for.
//
// A fork shares all pages with the resident, and its first write to one copies it: for a hello this is a fifth of its time. Which
// pages these are, a rehearsal tells (python.c). A fork that waits in its box copies them there.
#define _GNU_SOURCE
#include "keeper.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { ranges_most = 512, page_bytes = 4096, entries_at_once = 512 };

/** Of /proc/self/pagemap. */
static const uint64_t is_present = UINT64_C(1) << 63, is_file = UINT64_C(1) << 61, is_exclusive = UINT64_C(1) << 56;

static struct {
  struct {
    uintptr_t start;
    size_t bytes;
  } ranges[ranges_most];
  size_t count;
} written;

static void add_page(uintptr_t page) {
  size_t last = written.count - 1;
  if (written.count > 0 && written.ranges[last].start + written.ranges[last].bytes == page) {
    written.ranges[last].bytes += page_bytes;
  } else if (written.count < ranges_most) {
    written.ranges[written.count].start = page;
    written.ranges[written.count].bytes = page_bytes;
    written.count += 1;
  }
}

/** What a fork shares with nobody, it has written. */
static void look_through(int pagemap, uintptr_t start, uintptr_t end) {
  static uint64_t entries[entries_at_once];
  for (uintptr_t at = start; at < end;) {
    size_t pages = (end - at) / page_bytes;
    if (pages > entries_at_once) pages = entries_at_once;
    ssize_t length = pread(pagemap, entries, pages * sizeof *entries, (off_t)(at / page_bytes * sizeof *entries));
    if (length <= 0) return;
    size_t told = (size_t)length / sizeof *entries;
    for (size_t index = 0; index < told; index += 1)
      if ((entries[index] & (is_present | is_file | is_exclusive)) == (is_present | is_exclusive))
        add_page(at + index * page_bytes);
    at += told * page_bytes;
  }
}

void tell_written_pages(int descriptor) {
  // What belongs to a process that is not dumpable, it may not open.
  prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
  int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  FILE *maps = fopen("/proc/self/maps", "re");
  char line[4096], rights[5];
  uintptr_t start, end;
  while (pagemap >= 0 && maps != NULL && fgets(line, sizeof line, maps) != NULL)
    if (sscanf(line, "%lx-%lx %4s", &start, &end, rights) == 3 && strncmp(rights, "rw-p", 4) == 0)
      look_through(pagemap, start, end);
  if (write(descriptor, &written, sizeof written) != sizeof written) _exit(70);
}

void note_written_pages(int descriptor) {
  size_t length = 0;
  for (ssize_t more = 1; more > 0 && length < sizeof written; length += (size_t)more) {
    more = read(descriptor, (char *)&written + length, sizeof written - length);
    if (more < 0) fail("python.rehearsal");
  }
  // Programs are only slower without.
  if (length < sizeof written) written.count = 0;
}

void populate_pages(void) {
  // madvise(MADV_POPULATE_WRITE) would take longer than the faults, as the ranges are short.
  for (size_t index = 0; index < written.count; index += 1)
    for (size_t at = 0; at < written.ranges[index].bytes; at += page_bytes) {
      volatile char *page = (char *)(written.ranges[index].start + at);
      *page = *page;
    }
}
