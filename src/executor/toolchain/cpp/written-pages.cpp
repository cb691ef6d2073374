// Preloaded into GCC, which maps a precompiled header privately and then writes to a third of its pages, one after another: each
// is a fault and a copy, and together they are a sixth of a small program's compilation. Which pages those are hardly depends
// on the program. So a file beside the header's directory has runs of them, found when the header was made, and all are copied at
// once. What GCC has in its memory, and does, is the same.
//
//   <header's own>/include/<header>.gch
//   <header's own>/written-pages        a Place, then runs; where WRITTEN_PAGES names one that is not there yet, it is written
#include "written-pages.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "opened-header.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 // Linux 5.14; an older kernel refuses it, and nothing is lost.
#endif

namespace {

/** Where GCC wants a header: where it was when it was made. */
struct Place {
  std::uint64_t address, bytes, offset;
};

/** Pages from the header's start. */
struct Run {
  std::uint32_t first, count;
};

/** What GCC takes for its own memory at a time. */
constexpr std::size_t huge = 2 << 20;
constexpr std::uint64_t isPresent = 1ULL << 63, isOfFile = 1ULL << 61;

/** So far from its place that GCC's own is free; a multiple of what the kernel moves at once. */
constexpr std::uint64_t aside = 1ULL << 37;

/** What GCC has mapped. */
char *header = nullptr;
Place headerPlace;

/** What is mapped for it, and whose file. */
struct Ahead {
  char *memory;
  Place place;
  dev_t device;
  ino_t file;
  bool isWhole;
};
Ahead aheads[4];
std::size_t aheadCount = 0;

std::size_t pageBytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

using Map = void *(*)(void *, std::size_t, int, int, int, off_t);

void *mapPlainly(void *address, std::size_t bytes, int access, int flags, int file, off_t offset) {
  static Map original = nullptr;
  if (original == nullptr) original = reinterpret_cast<Map>(dlsym(RTLD_NEXT, "mmap"));
  return original(address, bytes, access, flags, file, offset);
}

/** The list of a header's pages, open behind its place; -1 without one. */
int openList(const char *headerPath, Place &place) {
  const char *named = getenv("WRITTEN_PAGES");
  int list = named != nullptr ? open(named, O_RDONLY | O_CLOEXEC) : openBeside(headerPath, "written-pages");
  if (list >= 0 && read(list, &place, sizeof place) == sizeof place) return list;
  if (list >= 0) close(list);
  return -1;
}

bool never() { return false; }

/** @returns false when it ended early. */
bool copyWritten(char *memory, int list, bool (*isWanted)()) {
  Run runs[256];
  for (ssize_t got; (got = read(list, runs, sizeof runs)) > 0;) {
    if (isWanted()) return false;
    for (std::size_t index = 0; index < got / sizeof *runs; index += 1)
      madvise(memory + runs[index].first * pageBytes(), runs[index].count * pageBytes(), MADV_POPULATE_WRITE);
  }
  return true;
}

void mapAhead(const char *path, bool (*isWanted)()) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  struct stat status;
  Ahead ahead;
  int list = file < 0 ? -1 : openList(path, ahead.place);
  if (list >= 0 && fstat(file, &status) == 0) {
    auto *hint = reinterpret_cast<void *>(ahead.place.address + aside * (aheadCount + 1));
    void *memory = mapPlainly(hint, ahead.place.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, file,
                              static_cast<off_t>(ahead.place.offset));
    if (memory != MAP_FAILED) {
      ahead.memory = static_cast<char *>(memory);
      ahead.device = status.st_dev;
      ahead.file = status.st_ino;
      ahead.isWhole = copyWritten(ahead.memory, list, isWanted);
      aheads[aheadCount++] = ahead;
    }
  }
  if (list >= 0) close(list);
  if (file >= 0) close(file);
}

/** Puts what was mapped ahead where GCC has just mapped the same. @returns whether all its written pages are copied. */
bool moveAhead(char *made, std::size_t bytes, int file, off_t offset) {
  struct stat status;
  if (aheadCount == 0 || fstat(file, &status) != 0) return false;
  for (std::size_t index = 0; index < aheadCount; index += 1) {
    const Ahead &ahead = aheads[index];
    if (ahead.device == status.st_dev && ahead.file == status.st_ino && ahead.place.bytes == bytes &&
        ahead.place.offset == static_cast<std::uint64_t>(offset))
      return mremap(ahead.memory, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, made) == made && ahead.isWhole;
  }
  return false;
}

void copyWrittenOf(char *made) {
  Place place;
  int list = openList(openedHeader(), place);
  if (list < 0) return;
  copyWritten(made, list, never);
  close(list);
}

/** At GCC's end: a page of its own is one that it wrote to. */
__attribute__((destructor)) void noteWritten() {
  const char *path = getenv("WRITTEN_PAGES");
  if (path == nullptr || header == nullptr) return;
  int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  if (pagemap < 0) return;
  int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
  Run run = {0, 0};
  bool isWhole = file >= 0 && write(file, &headerPlace, sizeof headerPlace) == sizeof headerPlace;
  auto end = [&] { isWhole = isWhole && (run.count == 0 || write(file, &run, sizeof run) == sizeof run); };
  for (std::uint32_t page = 0; isWhole && page < headerPlace.bytes / pageBytes(); page += 1) {
    std::uint64_t entry;
    auto place = (headerPlace.address / pageBytes() + page) * sizeof entry;
    isWhole = pread(pagemap, &entry, sizeof entry, static_cast<off_t>(place)) == sizeof entry;
    if ((entry & isPresent) == 0 || (entry & isOfFile) != 0) continue;
    if (run.count > 0 && run.first + run.count == page) {
      run.count += 1;
    } else {
      end();
      run = {page, 1};
    }
  }
  end();
  if (file >= 0 && !isWhole) unlink(path);
}

} // namespace

void mapHeadersAhead(const char *paths, bool (*isWanted)()) {
  while (*paths != 0 && aheadCount < sizeof aheads / sizeof *aheads && !isWanted()) {
    char path[512];
    const char *end = strchrnul(paths, ':');
    snprintf(path, sizeof path, "%.*s", static_cast<int>(end - paths), paths);
    mapAhead(path, isWanted);
    paths = *end == 0 ? end : end + 1;
  }
}

bool isInHeader(const void *address) {
  const char *at = static_cast<const char *>(address);
  return header == nullptr || (at >= header && at < header + headerPlace.bytes);
}

extern "C" void *mmap(void *address, std::size_t bytes, int access, int flags, int file, off_t offset) noexcept {
  void *made = mapPlainly(address, bytes, access, flags, file, offset);
  if (made == MAP_FAILED || (access & PROT_WRITE) == 0) return made;
  if (file < 0) {
    if (bytes >= huge) madvise(made, bytes, MADV_HUGEPAGE);
  } else if (address != nullptr && made == address && header == nullptr) {
    // GCC alone wants a file at a place that it names.
    header = static_cast<char *>(made);
    headerPlace = {reinterpret_cast<std::uintptr_t>(made), bytes, static_cast<std::uint64_t>(offset)};
    if (!moveAhead(header, bytes, file, offset)) copyWrittenOf(header);
  }
  return made;
}
