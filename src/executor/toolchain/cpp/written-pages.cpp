// Preloaded into GCC, which maps a precompiled header privately and then writes to a third of its pages, one after another: each
// is a fault and a copy, and together they are a sixth of a small program's compilation. Which pages those are hardly depends
// on the program. So the file that WRITTEN_PAGES names has runs of them, found when the header was made, and all are copied at
// once; where there is no such file yet, it is written. What GCC has in its memory, and does, is the same.
//
// A run is two numbers of 32 bits: the first page from the header's start, and how many.
#include <cstdint>
#include <cstdlib>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 // Linux 5.14; an older kernel refuses it, and nothing is lost.
#endif

namespace {

struct Run {
  std::uint32_t first, count;
};

/** What GCC takes for its own memory at a time. */
constexpr std::size_t huge = 2 << 20;
constexpr std::uint64_t isPresent = 1ULL << 63, isOfFile = 1ULL << 61;

char *header = nullptr;
std::size_t headerBytes = 0;

std::size_t pageBytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

void copyWritten(const char *path) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  Run runs[512];
  for (ssize_t got; (got = read(file, runs, sizeof runs)) > 0;)
    for (std::size_t index = 0; index < got / sizeof *runs; index += 1)
      madvise(header + runs[index].first * pageBytes(), runs[index].count * pageBytes(), MADV_POPULATE_WRITE);
  close(file);
}

/** At GCC's end: a page of its own is one that it wrote to. */
__attribute__((destructor)) void noteWritten() {
  const char *path = getenv("WRITTEN_PAGES");
  if (path == nullptr || header == nullptr) return;
  int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  if (pagemap < 0) return;
  int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
  Run run = {0, 0};
  bool isWhole = file >= 0;
  auto end = [&] { isWhole = isWhole && (run.count == 0 || write(file, &run, sizeof run) == sizeof run); };
  for (std::uint32_t page = 0; isWhole && page < headerBytes / pageBytes(); page += 1) {
    std::uint64_t entry;
    auto place = (reinterpret_cast<std::uintptr_t>(header) / pageBytes() + page) * sizeof entry;
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

extern "C" void *mmap(void *address, std::size_t bytes, int access, int flags, int file, off_t offset) noexcept {
  using Map = void *(*)(void *, std::size_t, int, int, int, off_t);
  auto original = reinterpret_cast<Map>(dlsym(RTLD_NEXT, "mmap"));
  void *made = original(address, bytes, access, flags, file, offset);
  if (made == MAP_FAILED || (access & PROT_WRITE) == 0) return made;
  if (file < 0) {
    if (bytes >= huge) madvise(made, bytes, MADV_HUGEPAGE);
  } else if (address != nullptr && made == address && header == nullptr) {
    // GCC alone wants a file at a place that it names: where the header was when it was made.
    header = static_cast<char *>(made);
    headerBytes = bytes;
    if (const char *path = getenv("WRITTEN_PAGES")) copyWritten(path);
  }
  return made;
}
