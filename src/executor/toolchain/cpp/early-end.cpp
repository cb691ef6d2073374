// Preloaded into GCC by the driver (driver.cpp): the compiler proper compiles in a child and tells its end before the kernel takes
// back its memory. That is a twentieth of a small program's compilation, and g++ would wait for it before it links.
#include "gate.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <initializer_list>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "read-again.h"

namespace {

constexpr char compiler[] = "cc1plus";
int end = -1;

void tellEnd(int status, void *) {
  fflush(nullptr);
  // Others wait for the end of what is written to these.
  for (int file : {STDOUT_FILENO, STDERR_FILENO}) close(file);
  auto byte = static_cast<unsigned char>(status);
  _exit(write(end, &byte, 1) == 1 ? status : EXIT_FAILURE);
}

/** Stands for the child before g++. */
[[noreturn]] void awaitEnd(pid_t child, int told) {
  prctl(PR_SET_NAME, "awaits-cc1plus");
  for (int file = STDIN_FILENO; file <= goDescriptor; file += 1) close(file);
  unsigned char status;
  if (readAgain(told, &status, 1) == 1) _exit(status);
  // It was killed. The driver hears no word of it, and has plain g++ compile.
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  _exit(EXIT_FAILURE);
}

/** Before anything of GCC's own; where it cannot be had, GCC ends as it always does. */
__attribute__((constructor)) void begin() {
  int ends[2];
  if (getenv(gateVariable) == nullptr || strcmp(program_invocation_short_name, compiler) != 0 || pipe2(ends, O_CLOEXEC) != 0)
    return;
  pid_t child = fork();
  if (child > 0) {
    close(ends[1]);
    awaitEnd(child, ends[0]);
  }
  close(ends[0]);
  if (child == 0 && on_exit(tellEnd, nullptr) == 0) end = ends[1];
  else close(ends[1]);
}

} // namespace
