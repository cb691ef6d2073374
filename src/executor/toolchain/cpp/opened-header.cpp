// Which precompiled header GCC uses, and what is kept beside it.
#include "opened-header.h"

#include <cstdio>
#include <cstring>
#include <fcntl.h>

namespace {

constexpr char ending[] = ".gch", directory[] = "/include/";
constexpr std::size_t endingLength = sizeof ending - 1;
char opened[512];

} // namespace

void noteOpened(const char *path) {
  std::size_t length = strlen(path);
  bool isHeader = length >= endingLength && length < sizeof opened && strcmp(path + length - endingLength, ending) == 0;
  if (isHeader) memcpy(opened, path, length + 1);
}

const char *openedHeader() { return opened[0] == 0 ? nullptr : opened; }

int openBeside(const char *header, const char *name) {
  const char *end = header == nullptr ? nullptr : strstr(header, directory);
  if (end == nullptr) return -1;
  char path[512];
  int length = snprintf(path, sizeof path, "%.*s/%s", static_cast<int>(end - header), header, name);
  return length < static_cast<int>(sizeof path) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
}
