// Prestarts a runtime in the next box. prestart.c makes it wait when it looks for its program's file.
//
// The start of the runtime is therefore not part of the run, except for the memory that it takes. The runtime is in the
// program's own box, under the same filter and without rights, and runs one program.
#include "keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/** Path of the compiled prestart.c. Tools that only examine this file need none. */
#ifndef PRESTART_LIBRARY
#define PRESTART_LIBRARY "/dev/null"
#endif
__asm__(".section .rodata\n"
        "prestart_library_begin: .incbin \"" PRESTART_LIBRARY "\"\n"
        "prestart_library_end:\n"
        ".previous\n");
extern const char library_begin[] __asm__("prestart_library_begin"), library_end[] __asm__("prestart_library_end");

/** The library is preloaded from a descriptor, because it has no path in a box. */
static char preload[] = "LD_PRELOAD=/proc/self/fd/1021";
_Static_assert(prestart_library == 1021, "it stands in `preload`");

static char awaited[prestart_path_bytes];
/** Arguments, NULL, variables, `preload`, NULL. */
static char **strings;
/** A nameless file, a new one for each box, so that no program can learn about another one through its pages. */
static int library;

/** Exists since Linux 6.3, and a host may require it. A preloaded file need not be executable. */
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

static void open_library(void) {
  const unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  library = memfd_create("runtime", flags | MFD_NOEXEC_SEAL);
  if (library < 0 && errno == EINVAL) library = memfd_create("runtime", flags);
  size_t bytes = (size_t)(library_end - library_begin);
  if (library < 0 || write(library, library_begin, bytes) != (ssize_t)bytes || fchmod(library, 0444) != 0 ||
      fcntl(library, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) != 0)
    die("runtime.library");
}

void open_runtime(char *text) {
  size_t bytes = settings.runtime_bytes, arguments = settings.runtime_arguments;
  if (arguments == 0) return;
  if (strlen(text) >= sizeof awaited) die_with("protocol", "the runtime");
  strcpy(awaited, text);
  size_t count = 0;
  for (size_t index = strlen(text) + 1; index < bytes; index += 1) count += text[index] == 0;
  char *kept = malloc(bytes);
  strings = calloc(count + 3, sizeof *strings);
  if (kept == NULL || strings == NULL) die("keeper.memory");
  memcpy(kept, text, bytes);
  for (size_t index = 0; index < count; index += 1) {
    kept += strlen(kept) + 1;
    strings[index < arguments ? index : index + 1] = kept;
  }
  strings[count + 1] = preload;
}

bool has_runtime(void) { return strings != NULL; }

void prepare_runtime(struct box *box) {
  // Sockets instead of a pipe, because a write after the other end was closed then fails without a signal.
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, box->orders) != 0 ||
      send(box->orders[1], awaited, sizeof awaited, MSG_NOSIGNAL) != sizeof awaited)
    die("box.orders");
  open_library();
}

void leave_runtime(const struct box *box) {
  close(box->orders[0]);
  close(library);
}

void start_runtime(const struct box *box) {
  if (dup2(library, prestart_library) < 0 || dup2(box->orders[0], prestart_orders) < 0 ||
      dup2(box->reports, prestart_ready) < 0)
    return;
  execve(strings[0], strings, strings + settings.runtime_arguments + 1);
}

void release_runtime(struct box *box, const struct request *request) {
  struct own_limits own = find_own_limits(request);
  if (send(box->orders[1], &own, sizeof own, MSG_NOSIGNAL) != sizeof own) die("box.go");
}

bool runtime_began(struct box *box) {
  char word;
  bool began = recv(box->orders[1], &word, sizeof word, MSG_DONTWAIT) == sizeof word;
  close(box->orders[1]);
  return began;
}
