// Preloaded into GCC by the driver (driver.cpp), and so into gold: that reads each directory of libraries whole, the largest five
// times, before it looks for its few there, which is a third of a small program's link. So it reads of each the names
// alone that it may look for. Where it misses another one it says so, and plain g++ compiles.
#include "gate.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

constexpr char linker[] = "ld.gold";
/** The last is what GCC's own libgcc_s.so, a script, names. */
constexpr const char *endings[] = {".so", ".a", ".so.1"};
constexpr std::size_t endingCount = sizeof endings / sizeof *endings;

/** The linker's own words; null in any other process. */
char **words = nullptr;
std::size_t wordCount = 0;

/** What stands for a DIR. */
struct Listing {
  int directory;
  std::size_t next;
  dirent64 entry;
};

__attribute__((constructor)) void begin(int count, char **all, char **) {
  if (getenv(gateVariable) == nullptr || strcmp(program_invocation_short_name, linker) != 0) return;
  words = all;
  wordCount = static_cast<std::size_t>(count);
}

template <typename Function> Function findOriginal(const char *name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

/** Whether the entry's name is one of that word's, and there is such a file. */
bool isThere(Listing &listing, const char *word, const char *ending) {
  if (strncmp(word, "-l", 2) != 0) return false;
  char(&name)[sizeof listing.entry.d_name] = listing.entry.d_name;
  struct stat status;
  return snprintf(name, sizeof name, "lib%s%s", word + 2, ending) < static_cast<int>(sizeof name) &&
         fstatat(listing.directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0;
}

} // namespace

extern "C" DIR *opendir(const char *path) {
  if (words == nullptr) return findOriginal<DIR *(*)(const char *)>("opendir")(path);
  int directory = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return nullptr;
  auto *listing = static_cast<Listing *>(calloc(1, sizeof(Listing)));
  if (listing != nullptr) listing->directory = directory;
  else close(directory);
  return reinterpret_cast<DIR *>(listing);
}

extern "C" dirent64 *readdir64(DIR *opened) {
  if (words == nullptr) return findOriginal<dirent64 *(*)(DIR *)>("readdir64")(opened);
  auto &listing = *reinterpret_cast<Listing *>(opened);
  while (listing.next < wordCount * endingCount) {
    std::size_t place = listing.next++;
    if (isThere(listing, words[place / endingCount], endings[place % endingCount])) return &listing.entry;
  }
  return nullptr;
}

extern "C" int closedir(DIR *opened) {
  if (words == nullptr) return findOriginal<int (*)(DIR *)>("closedir")(opened);
  close(reinterpret_cast<Listing *>(opened)->directory);
  free(opened);
  return 0;
}
