// The socket to the worker, and the keeper's failures. A failure is the keeper's last message.
//
// Protocol: numbers are little-endian, of 64 bits; structures as in message.h.
// From the worker:
//   'H' struct hello; then the boxes' filter and the keeper's (struct sock_filter[]), the layout (build_root in root.c)
//       and the runtime (runtime.c). Sent once, first.
//   'R' struct request; then the arguments and the variables, each ended by NUL; then for each file: struct file_head,
//       name, content; then for each output file: the length of its name, and the name; then the input. The worker
//       sends one request at a time.
//   'A' no content. Kills the running program, if any.
// To the worker, each after a struct frame:
//   'r' no content: the keeper is ready.
//   'o', 'e' bytes of stdout and stderr, at most as many as the limit.
//   'd' no content: the program's wall time is extended, because the box was not run. The worker waits longer, too.
//   'q' no content: the box of a run that is over does not die. The worker lifts the box's quota of CPU time.
//   'l' struct output_file, then content: a file that the program has left. Sent after all output.
//   'x' struct result: every process of the run is dead except the box's init, which is ending. If init does not end,
//       or something else is left, 'n' follows, also when another request was sent meanwhile.
//   's' no content: the slot may be lent. Sent after a result with `unsettled`. The worker sends no request before it.
//   'n' text, `step: words`: the keeper failed and has ended. It has started no program since the last result, so the
//       worker may ask another keeper.
//   'f' text: as 'n', but after the program was started. After 'f', and after any other end, it is unknown whether the
//       program ran, unless the socket shows that the request was not read. The worker empties the cgroup and starts a
//       new keeper.
#include "keeper.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

bool program_started;

/** Allocated at the start, so that no run is charged for it. */
static struct {
  char rx[64 * 1024];
  size_t rx_start, rx_end;
  char tx[256 * 1024];
  size_t tx_start, tx_end;
} *talk;

void *allocate_unforked(size_t bytes) {
  void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (pages == MAP_FAILED || madvise(pages, bytes, MADV_DONTFORK) != 0) _exit(71);
  return pages;
}

void open_channel(void) { talk = allocate_unforked(sizeof *talk); }

static void await_socket(short what) {
  struct pollfd event = {worker_socket, what, 0};
  while (poll(&event, 1, -1) < 0 && errno == EINTR) {
  }
}

/** Exits. A closed socket is not an error. Any other reason is printed, because the exit status does not show it. */
static _Noreturn void leave(const char *step) {
  if (errno == EPIPE || errno == ECONNRESET) _exit(0);
  dprintf(STDERR_FILENO, "%s: %s", step, strerror(errno));
  _exit(70);
}

bool read_more(void) {
  if (talk->rx_start == talk->rx_end) talk->rx_start = talk->rx_end = 0;
  size_t room = sizeof talk->rx - talk->rx_end;
  if (room == 0) die_with("protocol", "more than was asked for");
  ssize_t length = recv(worker_socket, talk->rx + talk->rx_end, room, MSG_DONTWAIT);
  if (length > 0) talk->rx_end += (size_t)length;
  if (length == 0) _exit(0);
  if (length < 0 && errno != EAGAIN && errno != EINTR) leave("channel.read");
  return length > 0;
}

bool has_message(void) { return talk->rx_end - talk->rx_start >= sizeof(uint64_t); }

bool wait_for_message(int process) {
  struct pollfd events[] = {{worker_socket, POLLIN, 0}, {process, POLLIN, 0}};
  while (poll(events, 2, -1) < 0 && errno == EINTR) {
  }
  return events[0].revents == 0 && events[1].revents != 0;
}

/** Waits for bytes. @returns how many there are, but at most `most`. */
static size_t await_bytes(uint64_t most) {
  while (talk->rx_start == talk->rx_end)
    if (!read_more()) await_socket(POLLIN);
  size_t there = talk->rx_end - talk->rx_start;
  return there < most ? there : (size_t)most;
}

void read_exactly(void *target, size_t size) {
  char *next = target;
  while (size > 0) {
    size_t taken = await_bytes(size);
    memcpy(next, talk->rx + talk->rx_start, taken);
    talk->rx_start += taken;
    next += taken;
    size -= taken;
  }
}

void copy_to_file(int descriptor, uint64_t size, const char *step) {
  while (size > 0) {
    size_t taken = await_bytes(size);
    ssize_t written = write(descriptor, talk->rx + talk->rx_start, taken);
    if (written < 0) die(step);
    talk->rx_start += (size_t)written;
    size -= (uint64_t)written;
  }
}

void send_some(void) {
  while (talk->tx_start < talk->tx_end) {
    ssize_t length = send(worker_socket, talk->tx + talk->tx_start, talk->tx_end - talk->tx_start,
                          MSG_DONTWAIT | MSG_NOSIGNAL);
    if (length < 0 && errno == EAGAIN) return;
    if (length < 0 && errno != EINTR) leave("channel.send");
    if (length > 0) talk->tx_start += (size_t)length;
  }
  talk->tx_start = talk->tx_end = 0;
}

void send_all(void) {
  for (send_some(); talk->tx_end > 0; send_some()) await_socket(POLLOUT);
}

bool has_unsent(void) { return talk->tx_end > 0; }

size_t tx_room(void) { return sizeof talk->tx - talk->tx_end; }

void append_frame(uint64_t kind, const void *data, size_t length) {
  struct frame frame = {kind, length};
  if (tx_room() < sizeof frame + length) send_all();
  memcpy(talk->tx + talk->tx_end, &frame, sizeof frame);
  memcpy(talk->tx + talk->tx_end + sizeof frame, data, length);
  talk->tx_end += sizeof frame + length;
}

_Noreturn void die_with(const char *step, const char *words) {
  char text[512];
  int length = snprintf(text, sizeof text, "%s: %s: %s", step, words, strerror(errno));
  if (length >= (int)sizeof text) length = sizeof text - 1;
  append_frame(program_started ? 'f' : 'n', text, (size_t)length);
  send_all();
  _exit(70);
}

_Noreturn void die(const char *step) { die_with(step, "refused"); }
