// Preloaded into GCC by the driver (driver.cpp): holds the compiler proper where it would open its source, until the driver says
// that there is one. Until then it has read nothing of a submission.
#include "gate.h"

#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <poll.h>
#include <unistd.h>

#include "opened-header.h"
#include "read-again.h"
#include "written-pages.h"

namespace {

constexpr char source[] = "main.cpp";
bool isAwaited = false;
constexpr int pauseMilliseconds = 300;

/** In each of GCC's processes; only the compiler proper opens the source. */
__attribute__((constructor)) void begin() { isAwaited = getenv(gateVariable) != nullptr; }

/** Waits so long at most. */
bool isThere(int milliseconds) {
  pollfd go = {goDescriptor, POLLIN, 0};
  return poll(&go, 1, milliseconds) > 0;
}

void awaitSource() {
  isAwaited = false;
  if (write(saidDescriptor, "", 1) != 1) _exit(70);
  // Where one compilation follows another, nothing is done in vain.
  if (!isThere(pauseMilliseconds)) mapHeadersAhead(getenv(gateVariable), [] { return isThere(0); });
  char byte;
  if (readAgain(goDescriptor, &byte, 1) != 1) _exit(70);
  close(goDescriptor);
  close(saidDescriptor);
}

} // namespace

extern "C" int open(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  int mode = va_arg(rest, int);
  va_end(rest);
  if (isAwaited && strcmp(path, source) == 0) awaitSource();
  using Open = int (*)(const char *, int, ...);
  int file = reinterpret_cast<Open>(dlsym(RTLD_NEXT, "open"))(path, flags, mode);
  if (file >= 0) noteOpened(path);
  return file;
}

/** g++ would see that there is no source yet. That there will be one is sure; before that nothing is read. */
extern "C" int access(const char *path, int mode) noexcept {
  if (isAwaited && strcmp(path, source) == 0) return 0;
  using Access = int (*)(const char *, int);
  return reinterpret_cast<Access>(dlsym(RTLD_NEXT, "access"))(path, mode);
}
