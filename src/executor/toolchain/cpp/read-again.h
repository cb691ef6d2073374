// For the driver and the library that is preloaded into GCC.
#pragma once

#include <cerrno>
#include <unistd.h>

/** Reads once, whatever signals come meanwhile. @returns as read does. */
inline ssize_t readAgain(int file, void *target, size_t bytes) {
  ssize_t got;
  do got = read(file, target, bytes);
  while (got < 0 && errno == EINTR);
  return got;
}
