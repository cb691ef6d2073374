// Carries bytes between the worker and a program that the worker talks with: from the keeper's stdin to the program's,
// and from the program's stdout to the keeper's.
//
// The program and the worker share no socket. The kernel goes through everything that waits for a socket whenever a
// byte is read from it or written to it, and a program can let a million descriptors wait for its own. The keeper has
// only this program, and the same share of the CPU; the worker would make all others wait.
#include "keeper.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

enum { carried_bytes = 64 * 1024 };

static struct carrier {
  /** Where bytes come from, -1 at their end, and where they go. */
  int from, to;
  /** The bytes that are on their way. */
  size_t begin, end;
  char bytes[carried_bytes];
} *carriers;

/** The indices of the carriers. */
enum { to_program, from_program };

void open_carriers(struct box *box) {
  int input[2], output[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, input) != 0 ||
      socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, output) != 0)
    die("box.streams");
  carriers = allocate_unforked(carrier_count * sizeof *carriers);
  carriers[to_program].from = STDIN_FILENO;
  carriers[to_program].to = input[0];
  carriers[from_program].from = output[0];
  carriers[from_program].to = STDOUT_FILENO;
  // The keeper keeps the program's ends open, so that a stream ends when the program shuts it down or the run is over.
  box->input_reader = input[1];
  box->output[0] = -1;
  box->output[1] = output[1];
}

static bool is_empty(const struct carrier *one) { return one->begin == one->end; }

/** False when there is nothing, now or for ever. */
static bool take(struct carrier *one) {
  ssize_t length = recv(one->from, one->bytes, sizeof one->bytes, MSG_DONTWAIT);
  if (length < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  one->begin = 0;
  one->end = length > 0 ? (size_t)length : 0;
  if (length > 0) return true;
  one->from = -1;
  shutdown(one->to, SHUT_WR);
  return false;
}

/** Bytes for a side that reads no more are dropped. */
static void give(struct carrier *one, int flags) {
  ssize_t length = send(one->to, one->bytes + one->begin, one->end - one->begin, MSG_NOSIGNAL | flags);
  if (length < 0 && (errno == EAGAIN || errno == EINTR)) return;
  one->begin = length < 0 ? one->end : one->begin + (size_t)length;
}

void await_carriers(struct pollfd events[carrier_count]) {
  for (size_t index = 0; index < carrier_count; index += 1) {
    const struct carrier *one = carriers + index;
    events[index] = carriers == NULL ? (struct pollfd){-1, 0, 0}
                    : is_empty(one)  ? (struct pollfd){one->from, POLLIN, 0}
                                     : (struct pollfd){one->to, POLLOUT, 0};
  }
}

void carry(const struct pollfd events[carrier_count]) {
  for (size_t index = 0; index < carrier_count; index += 1) {
    struct carrier *one = carriers + index;
    if (events[index].revents != 0 && (!is_empty(one) || take(one))) give(one, MSG_DONTWAIT);
  }
}

void end_carriers(void) {
  struct carrier *last = carriers + from_program;
  while (!is_empty(last) || (last->from >= 0 && take(last))) give(last, 0);
  close(STDIN_FILENO);
  close(STDOUT_FILENO);
}
