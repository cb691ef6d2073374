// The socket to the worker, and the keeper's failures. A failure is the keeper's last message.
//
// A message is a line of text, `kind name=value …`, so that strace shows it. Bytes may follow: as many as its fields say.
// From the worker, with the fields of message.h:
//   hello        Then the boxes' filter and the keeper's (struct sock_filter[]), the layout (build_root in root.c) and the
//                runtime (runtime.c). Sent once, first.
//   request      Then the arguments and the variables, each ended by NUL; the lines `file`, each with name and content; the
//                lines `output_file`, each with its name; and the input. The worker sends one request at a time.
//   stop         Kills the running program, if any.
// To the worker. `bytes` is the size of what follows:
//   ready
//   stdout, stderr bytes    Output, at most as much as the limit.
//   delayed                 The program's wall time is extended, because the box was not run. The worker waits longer, too.
//   dying                   The box of a run that is over does not die. The worker lifts the box's quota of CPU time.
//   file index size bytes   A file that the program has left: the `index`th that was asked for. Either all of its content
//                           follows or nothing. Sent after all output.
//   result                  Its fields are in result.c. Every process of the run is dead except the box's init, which is
//                           ending. If init does not end, or something else is left, `refused` follows, also when another
//                           request was sent meanwhile.
//   settled                 The slot may be lent. Sent after a result with `unsettled=1`. The worker sends no request before.
//   refused bytes           `step: words`: the keeper failed and has ended. It has started no program since the last result,
//                           so the worker may ask another keeper.
//   failed bytes            As `refused`, but after the program was started. After `failed`, and after any other end, it is
//                           unknown whether the program ran, unless the socket shows that the request was not read. The
//                           worker empties the cgroup and starts a new keeper.
#include "keeper.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

bool program_started;

/** Allocated at the start, so that no run is charged for it. */
static struct {
  char rx[64 * 1024];
  size_t rx_start, rx_end;
  char line[line_bytes_most];
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

bool has_line(void) { return memchr(talk->rx + talk->rx_start, '\n', talk->rx_end - talk->rx_start) != NULL; }

bool wait_for_line(int process) {
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

const char *read_line(void) {
  for (size_t length = 0; length < sizeof talk->line; length += 1) {
    read_exactly(talk->line + length, 1);
    if (talk->line[length] != '\n') continue;
    talk->line[length] = 0;
    return talk->line;
  }
  die_with("protocol", "a line without an end");
}

/** Returns the rest of a line that must begin with this text. */
static const char *skip(const char *line, const char *text) {
  size_t length = strlen(text);
  if (strncmp(line, text, length) != 0) die_with("protocol", text);
  return line + length;
}

void parse_line(const char *line, const char *kind, const char *const names[], uint64_t values[], size_t count) {
  const char *next = skip(line, kind);
  for (size_t index = 0; index < count; index += 1) {
    next = skip(skip(skip(next, " "), names[index]), "=");
    if (*next < '0' || *next > '9') die_with("protocol", names[index]);
    char *end;
    values[index] = strtoull(next, &end, 10);
    next = end;
  }
  if (*next != 0) die_with("protocol", kind);
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

void append_line(const char *line) {
  if (tx_room() < line_bytes_most) send_all();
  talk->tx_end += (size_t)snprintf(talk->tx + talk->tx_end, line_bytes_most, "%s\n", line);
}

void append(const void *data, size_t length) {
  if (tx_room() < length) send_all();
  memcpy(talk->tx + talk->tx_end, data, length);
  talk->tx_end += length;
}

void append_bytes(const char *line, const void *data, size_t length) {
  if (tx_room() < line_bytes_most + length) send_all();
  talk->tx_end += (size_t)snprintf(talk->tx + talk->tx_end, line_bytes_most, "%s bytes=%zu\n", line, length);
  append(data, length);
}

_Noreturn void die_with(const char *step, const char *words) {
  char text[512];
  int length = snprintf(text, sizeof text, "%s: %s: %s", step, words, strerror(errno));
  if (length >= (int)sizeof text) length = sizeof text - 1;
  append_bytes(program_started ? "failed" : "refused", text, (size_t)length);
  send_all();
  _exit(70);
}

_Noreturn void die(const char *step) { die_with(step, "refused"); }
