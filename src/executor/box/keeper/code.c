// Puts the interpreter's code on huge pages, so that a fork has it from the start.
//
// A fork begins without what is mapped of files: a hello faults in some forty pieces of the interpreter, of up to sixteen pages,
// which are unmapped again when it ends. A huge page is two megabytes in one entry of the page table, and anonymous memory is what a fork
// is given. The bytes are the same, at the same addresses; nobody can write to them.
#define _GNU_SOURCE
#include "keeper.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

static const uintptr_t huge = 2 << 20;

struct range {
  uintptr_t start, end;
};

/** Whatever lies side by side of the file that `address` is of, and is not written to. */
static struct range find_code(uintptr_t address) {
  struct range found = {0, 0}, none = {0, 0};
  unsigned long file = 0;
  FILE *maps = fopen("/proc/self/maps", "re");
  char line[4096];
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
    uintptr_t start, end;
    unsigned long inode;
    char rights[5];
    if (sscanf(line, "%lx-%lx %4s %*x %*x:%*x %lu", &start, &end, rights, &inode) != 4) continue;
    bool goes_on = inode != 0 && inode == file && start == found.end && rights[1] == '-';
    if (!goes_on && found.start <= address && address < found.end) break;
    if (!goes_on) found.start = start;
    found.end = end;
    file = rights[1] == '-' ? inode : 0;
  }
  if (maps != NULL) fclose(maps);
  return found.start <= address && address < found.end ? found : none;
}

/** A host may have no huge pages, or none free. */
static bool is_huge(const char *memory, size_t bytes) {
  FILE *smaps = fopen("/proc/self/smaps", "re");
  char line[4096];
  uintptr_t start, end;
  size_t kibibytes = 0, told;
  bool is_within = false;
  while (smaps != NULL && fgets(line, sizeof line, smaps) != NULL) {
    if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
      is_within = start <= (uintptr_t)memory && (uintptr_t)memory < end;
    else if (is_within && sscanf(line, "AnonHugePages: %zu", &told) == 1)
      kibibytes = told;
  }
  if (smaps != NULL) fclose(smaps);
  return kibibytes * 1024 >= bytes;
}

size_t enlarge_code_pages(const void *function) {
  struct range code = find_code((uintptr_t)function);
  uintptr_t start = (code.start + huge - 1) & ~(huge - 1), end = code.end & ~(huge - 1);
  if (start >= end) return 0;
  size_t bytes = end - start, reserved = bytes + huge;
  char *area = mmap(NULL, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (area == MAP_FAILED) return 0;
  char *copy = (char *)(((uintptr_t)area + huge - 1) & ~(huge - 1));
  bool is_made = madvise(copy, bytes, MADV_HUGEPAGE) == 0;
  if (is_made) memcpy(copy, (const void *)start, bytes);
  // What lay between code may be run now, too: no more than a program may map for itself.
  is_made = is_made && is_huge(copy, bytes) && mprotect(copy, bytes, PROT_READ | PROT_EXEC) == 0;
  is_made = is_made && mremap(copy, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)start) == (void *)start;
  if (!is_made) munmap(copy, bytes);
  munmap(area, (size_t)(copy - area));
  munmap(copy + bytes, reserved - bytes - (size_t)(copy - area));
  return is_made ? bytes : 0;
}
