// The keeper: a process that stays in its slot and makes a fresh box for each run without starting anything but the
// program itself.
//
// Theory of operation. The worker starts one keeper a slot, in the slot's cgroup and as the slot's user, and speaks with
// it over a socket, descriptor 3. The keeper builds the file system that its boxes share (box.c), says `ready`, and has
// from then on always one box standing in which nothing runs yet. A request brings the program's files, input, command
// line and limits; they are put into that box, the counters are read (group.c) and the program is let go. The keeper
// then carries its output to the worker, keeps both clocks, and kills on a passed limit, on a word of the worker and
// when the worker is gone. When nothing of the box is alive but its first process the result is sent; when that one is
// reaped the next box is made. A keeper never reads what a program wrote but to pass it on, and never opens what it can write.
//
// Protocol. All numbers are little-endian; nothing is padded beyond what the structures in message.h show.
// From the worker:
//   'H' struct hello; then the filter (struct sock_filter[]) and the layout (build_root in box.c). First of all, once.
//   'R' struct request; then the strings of the command line and of the environment, each ended by NUL; then for each
//       file: struct file_head, name, content; then the input. One at a time.
//   'A' u32. Kills what runs; without a run, nothing.
// To the worker, each after a struct frame:
//   'r' share u64: ready; bytes of memory that an interpreter resident in the keeper holds.
//   'o', 'e' bytes of stdout and stderr, at most the limit's.
//   'x' struct result: the run is over, every process of it dead but the box's first one, which is ending. Should that not
//       be so, or the first one not end, 'n' follows, whatever was asked for meanwhile.
//   'n' text: the keeper failed, at the step before the colon, and has ended; no program runs or was let go since the last
//       result, so what was asked for may be asked of another keeper.
//   'f' text: the same of a keeper that had let the program go. Whatever else comes, or does not, is a failure too, of
//       which nobody knows whether the program ran, unless the worker's own end says that its request was not read.
//       The worker kills what is in the cgroup and starts another keeper.
//
// The same code serves a resident interpreter, which forks instead of starting the program anew (python.c).
#define _GNU_SOURCE
#include "keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
  longest_look_milliseconds = 20,
  shortest_look_milliseconds = 5,
  kill_seconds = 5,
  largest_setup_bytes = 1 << 20,
  answer_bytes = 256 * 1024,
  gathered_bytes = 64 * 1024,
};

/** Some thirty years. */
static const uint64_t longest_nanoseconds = UINT64_C(1000000000000000000);

struct shared *shared;
/** Memory that an interpreter resident in this process holds and that counts as each program's. */
static uint64_t share;
static struct box box;
/** From before a program is let go until its result stands: a failure then may have cost it a run. */
static bool begun;

/**
 * What is read from the worker, what waits to be written to it, and what the last request asked for. A fork of a resident
 * interpreter has the keeper's memory and may read it, so all that comes from runs lies where no fork has it (unforked).
 * All there from the start, so that a run's output is never charged to the program as memory.
 */
static struct {
  char question[64 * 1024];
  size_t question_start, question_end;
  char answer[answer_bytes];
  size_t answer_start, answer_end;
  /** Of stdout and stderr: a frame costs the worker more than the byte that a program may write at a time. */
  char gathered[2][gathered_bytes];
  /** What is past an output's limit. */
  char beyond[16 * 1024];
  /** Scratch sizes: the next box is made with them. */
  uint64_t box_bytes, scratch_bytes;
} *talk;

int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

void *allocate_unforked(size_t bytes) {
  void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (pages == MAP_FAILED || madvise(pages, bytes, MADV_DONTFORK) != 0) _exit(71);
  return pages;
}

static void await_socket(short what) {
  struct pollfd event = {worker_socket, what, 0};
  while (poll(&event, 1, -1) < 0 && errno == EINTR) {
  }
}

/** False when nothing waits to be read. Ends the keeper when the worker has gone. */
static bool read_more(void) {
  if (talk->question_start == talk->question_end) talk->question_start = talk->question_end = 0;
  size_t room = sizeof talk->question - talk->question_end;
  if (room == 0) fail_saying("protocol", "more than was asked for");
  ssize_t length = recv(worker_socket, talk->question + talk->question_end, room, MSG_DONTWAIT);
  if (length > 0) talk->question_end += (size_t)length;
  if (length == 0) _exit(0);
  if (length < 0 && errno != EAGAIN && errno != EINTR) _exit(0);
  return length > 0;
}

static void read_exactly(void *target, size_t size) {
  char *next = target;
  while (size > 0) {
    size_t taken = talk->question_end - talk->question_start;
    if (taken == 0) {
      if (!read_more()) await_socket(POLLIN);
      continue;
    }
    if (taken > size) taken = size;
    memcpy(next, talk->question + talk->question_start, taken);
    talk->question_start += taken;
    next += taken;
    size -= taken;
  }
}

static void copy_to_file(int descriptor, uint64_t size, const char *step) {
  while (size > 0) {
    size_t taken = talk->question_end - talk->question_start;
    if (taken == 0) {
      if (!read_more()) await_socket(POLLIN);
      continue;
    }
    if (taken > size) taken = (size_t)size;
    ssize_t written = write(descriptor, talk->question + talk->question_start, taken);
    if (written < 0) fail(step);
    talk->question_start += (size_t)written;
    size -= (uint64_t)written;
  }
}

/** Sends what the socket takes. */
static void send_some(void) {
  while (talk->answer_start < talk->answer_end) {
    ssize_t length = send(worker_socket, talk->answer + talk->answer_start, talk->answer_end - talk->answer_start,
                          MSG_DONTWAIT | MSG_NOSIGNAL);
    if (length < 0 && errno == EAGAIN) return;
    if (length < 0 && errno != EINTR) _exit(0);
    if (length > 0) talk->answer_start += (size_t)length;
  }
  talk->answer_start = talk->answer_end = 0;
}

static void send_all(void) {
  for (send_some(); talk->answer_end > 0; send_some()) await_socket(POLLOUT);
}

static void append_frame(uint32_t kind, const void *data, size_t length) {
  struct frame frame = {kind, (uint32_t)length};
  if (sizeof talk->answer - talk->answer_end < sizeof frame + length) send_all();
  memcpy(talk->answer + talk->answer_end, &frame, sizeof frame);
  memcpy(talk->answer + talk->answer_end + sizeof frame, data, length);
  talk->answer_end += sizeof frame + length;
}

_Noreturn void fail_saying(const char *step, const char *words) {
  char text[512];
  int length = snprintf(text, sizeof text, "%s: %s: %s", step, words, strerror(errno));
  if (length >= (int)sizeof text) length = sizeof text - 1;
  append_frame(begun ? 'f' : 'n', text, (size_t)length);
  send_all();
  _exit(70);
}

_Noreturn void fail(const char *step) { fail_saying(step, "refused"); }

/** One of a program's two outputs. */
struct stream {
  int descriptor;
  uint32_t kind;
  uint64_t limit;
  uint64_t received;
  /** What was read and is in no frame yet. */
  char *gathered;
  size_t gathered_length;
};

/** True when what waits for the worker leaves no room for a whole piece of output. */
static bool is_full(void) { return sizeof talk->answer - talk->answer_end < sizeof(struct frame) + gathered_bytes; }

static void pass_on(struct stream *stream) {
  if (stream->gathered_length > 0) append_frame(stream->kind, stream->gathered, stream->gathered_length);
  stream->gathered_length = 0;
}

/** Takes what a program wrote; what is past the limit is only counted. False at the end of the stream. */
static bool drain(struct stream *stream) {
  uint64_t wanted = stream->received < stream->limit ? stream->limit - stream->received : 0;
  if (wanted > 0 && stream->gathered_length == gathered_bytes) {
    if (is_full()) return true;
    pass_on(stream);
  }
  char *target = talk->beyond;
  size_t size = sizeof talk->beyond;
  if (wanted > 0) {
    target = stream->gathered + stream->gathered_length;
    size = gathered_bytes - stream->gathered_length;
    if (size > wanted) size = (size_t)wanted;
  }
  ssize_t length = read(stream->descriptor, target, size);
  if (length == 0) return false;
  if (length < 0) {
    if (errno == EAGAIN || errno == EINTR) return true;
    fail("output.read");
  }
  if (wanted > 0) stream->gathered_length += (size_t)length;
  stream->received += (uint64_t)length;
  return true;
}

/** How long until the next look at the counters: CPU time runs at most on two cores at once. */
static int64_t plan_look(uint64_t cpu_used, uint64_t cpu_limit_nanoseconds) {
  int64_t left = (int64_t)(cpu_limit_nanoseconds - cpu_used) / 2 / 1000000;
  if (left < shortest_look_milliseconds) left = shortest_look_milliseconds;
  if (left > longest_look_milliseconds) left = longest_look_milliseconds;
  return left * 1000000;
}

static enum reason look_at_counters(const struct request *request, int64_t *next_look) {
  // v1 kills one process for want of memory and lets the others live on.
  if (group_memory_kills() > 0) return memory_limit;
  uint64_t used = group_cpu_nanoseconds();
  if (used > request->cpu_nanoseconds) return cpu_limit;
  *next_look = now() + plan_look(used, request->cpu_nanoseconds);
  return no_reason;
}

/** A word of the worker's during a run; there is only one. It may have come right behind the request. */
static bool is_told_to_stop(bool readable) {
  if (readable) read_more();
  if (talk->question_end - talk->question_start < sizeof(uint32_t)) return false;
  uint32_t kind;
  read_exactly(&kind, sizeof kind);
  if (kind != 'A') fail_saying("protocol", "a run is under way");
  return true;
}

/** Waits for the end of the box's first process, whose own end clears the box away. */
static void reap_box(void) {
  struct pollfd end = {box.pidfd, POLLIN, 0};
  errno = 0;
  if (poll(&end, 1, kill_seconds * 1000) <= 0) fail_saying("box.clear", "the box of a run that is over does not go");
  if (waitpid(box.pid, NULL, 0) != box.pid) fail("box.reap");
  box.pid = 0;
}

/** A run from the program's first instruction on. */
struct supervision {
  const struct request *request;
  struct stream *streams;
  /** When its wall time is up, and when its counters are looked at next. */
  int64_t ends;
  int64_t next_look;
  /** Once it is over: when a box that is still there is given up. */
  int64_t gives_up;
  /** The box's first process is not reaped. */
  bool alive;
  /** The program has ended, or was told to: what is left of its box dies. */
  bool over;
  /** The end of the box's first process need not be waited for. */
  bool settled;
};

enum event { from_worker, from_box, from_output, from_errors, from_program, event_count };

static void postpone_giving_up(struct supervision *run) { run->gives_up = now() + kill_seconds * INT64_C(1000000000); }

/** Waits for something to do; returns how many events there are, and fewer than 0 for none but a signal. */
static int await_events(struct supervision *run, struct pollfd events[event_count], bool full) {
  struct stream *streams = run->streams;
  // Small output waits for the result, and both go in one write.
  events[from_worker] = (struct pollfd){worker_socket, (short)(POLLIN | (full ? POLLOUT : 0)), 0};
  events[from_box] = (struct pollfd){run->alive ? box.pidfd : -1, POLLIN, 0};
  for (int index = 0; index < 2; index += 1) {
    bool held_back = full && streams[index].received < streams[index].limit;
    events[from_output + index] = (struct pollfd){held_back ? -1 : streams[index].descriptor, POLLIN, 0};
  }
  events[from_program] = (struct pollfd){run->over ? -1 : box.ended, POLLIN, 0};
  if (run->over && full) postpone_giving_up(run);
  int64_t until = run->over ? run->gives_up : run->next_look < run->ends ? run->next_look : run->ends;
  bool waits = talk->question_end - talk->question_start < sizeof(uint32_t) && (run->alive || full);
  int64_t pause = waits ? until - now() : 0;
  struct timespec timeout = {pause > 0 ? pause / 1000000000 : 0, pause > 0 ? pause % 1000000000 : 0};
  int found = ppoll(events, event_count, &timeout, NULL);
  if (found < 0 && errno != EINTR) fail("keeper.poll");
  return found;
}

static void read_outputs(struct stream streams[2], const struct pollfd events[event_count]) {
  for (int index = 0; index < 2; index += 1) {
    if (events[from_output + index].revents == 0 || drain(&streams[index])) continue;
    close(streams[index].descriptor);
    streams[index].descriptor = -1;
  }
}

/** Sees whether the program has ended, or its box. */
static void look_for_end(struct supervision *run, bool box_ended) {
  if (run->alive && box_ended) {
    reap_box();
    run->alive = false;
  }
  if (run->over || (run->alive && !has_ended())) return;
  run->over = true;
  run->settled = run->alive && group_is_settled();
  postpone_giving_up(run);
}

/** Why a program that runs must end now, if it must. */
static enum reason find_reason(struct supervision *run, bool stopped) {
  const struct stream *streams = run->streams;
  if (stopped) return aborted;
  if (streams[0].received > streams[0].limit || streams[1].received > streams[1].limit) return output_limit;
  if (now() >= run->ends) return wall_limit;
  if (now() >= run->next_look) return look_at_counters(run->request, &run->next_look);
  return no_reason;
}

/**
 * From the program's first instruction until its output is read and its box reaped. Where only the box's first process is
 * left, and next to nothing for it to clear away (group_is_settled), its end is not waited for: it changes nothing any
 * more, and takes as long as an empty box takes to run. Nor is that of a box which a kill does not end (box.outlives).
 */
static enum reason supervise(const struct request *request, struct stream streams[2], int64_t started) {
  struct supervision run = {
      .request = request,
      .streams = streams,
      .ends = started + (int64_t)request->wall_nanoseconds,
      .next_look = started + plan_look(0, request->cpu_nanoseconds),
      .gives_up = INT64_MAX,
      .alive = true,
  };
  enum reason reason = no_reason;
  while ((run.alive && !run.settled) || streams[0].descriptor >= 0 || streams[1].descriptor >= 0) {
    bool full = is_full();
    struct pollfd events[event_count];
    int found = await_events(&run, events, full);
    if (found < 0) continue;
    // Whoever could write is dead, and what was written is read. The pipe may have no end yet: the kernel need not have closed
    // the dead's other ends at once.
    if (found == 0 && !run.alive && !full) break;
    if (events[from_worker].revents & POLLOUT) send_some();
    bool stopped = is_told_to_stop((events[from_worker].revents & (POLLIN | POLLHUP | POLLERR)) != 0);
    read_outputs(streams, events);
    // An end that has happened is seen before a clock that has passed.
    look_for_end(&run, events[from_box].revents != 0);
    if (run.over) {
      box.outlives = run.alive && now() > run.gives_up;
      if (box.outlives) break;
      continue;
    }
    reason = find_reason(&run, stopped);
    if (reason == no_reason) continue;
    kill_box(&box);
    run.over = true;
    postpone_giving_up(&run);
  }
  for (size_t index = 0; index < 2; index += 1)
    if (streams[index].descriptor >= 0) close(streams[index].descriptor);
  return reason;
}

static void read_files(uint32_t count) {
  for (uint32_t index = 0; index < count; index += 1) {
    struct file_head head;
    char name[256];
    read_exactly(&head, sizeof head);
    if (head.name_bytes == 0 || head.name_bytes >= sizeof name) fail_saying("protocol", "a file's name");
    read_exactly(name, head.name_bytes);
    name[head.name_bytes] = 0;
    if (strlen(name) != head.name_bytes || strchr(name, '/') != NULL || strcmp(name, ".") == 0 ||
        strcmp(name, "..") == 0)
      fail_saying("protocol", "a file's name");
    int descriptor;
    write_file(&box, name, head.executable != 0, &descriptor);
    copy_to_file(descriptor, head.size, "box.file");
    close(descriptor);
  }
}

/** The strings of a request must fill their block exactly: the box walks over them by their ends. */
static void read_strings(const struct request *request) {
  if (request->arguments == 0 || request->argument_bytes > sizeof shared->block ||
      (uint64_t)request->arguments + request->variables > strings_most)
    fail_saying("protocol", "the command line");
  read_exactly(shared->block, request->argument_bytes);
  uint64_t ends = 0;
  for (uint32_t index = 0; index < request->argument_bytes; index += 1) ends += shared->block[index] == 0;
  bool whole = request->argument_bytes > 0 && shared->block[request->argument_bytes - 1] == 0;
  if (!whole || ends != (uint64_t)request->arguments + request->variables) fail_saying("protocol", "the command line");
}

/** Reads a request, and puts the program and all that is its own into the box that stands. */
static void fill_box(struct request *request) {
  request->kind = 'R';
  read_exactly((char *)request + sizeof request->kind, sizeof *request - sizeof request->kind);
  // A file system of no bytes would be one without a limit.
  if (request->wall_nanoseconds > longest_nanoseconds || request->cpu_nanoseconds > longest_nanoseconds ||
      request->memory_bytes > INT64_MAX || request->processes > INT32_MAX || request->box_bytes == 0 ||
      request->scratch_bytes == 0)
    fail_saying("protocol", "the limits");
  read_strings(request);
  wait_until_ready(&box);
  settle_group();
  // A box is as large as its scratch space and its files.
  make_room(request->stdin_bytes +
            (request->box_bytes > request->scratch_bytes ? request->box_bytes - request->scratch_bytes : 0));
  resize_box(&box, request->box_bytes, request->scratch_bytes);
  talk->box_bytes = request->box_bytes;
  talk->scratch_bytes = request->scratch_bytes;
  read_files(request->files);
  copy_to_file(box.input, request->stdin_bytes, "box.stdin");
  shared->request = *request;
}

/** Writes down what came of a run. */
static void append_result(enum reason reason, const struct stream streams[2], int64_t started) {
  bool told = has_ended();
  int64_t ended = told ? shared->end_nanoseconds : now();
  struct result result = {
      .end_code = told ? (uint32_t)shared->end_code : 0,
      .end_status = (uint32_t)shared->end_status,
      .reason = reason,
      .wall_nanoseconds = (uint64_t)(ended - started),
      .cpu_nanoseconds = group_cpu_nanoseconds(),
      .memory_peak_bytes = group_memory_peak(share),
      .memory_kills = group_memory_kills(),
      .stdout_bytes = streams[0].received,
      .stderr_bytes = streams[1].received,
  };
  if (shared->error_step[0] != 0) {
    errno = shared->error;
    fail(shared->error_step);
  }
  if (!told && reason == no_reason && result.memory_kills == 0)
    fail_saying("box.watch", "the box ended without a word");
  append_frame('x', &result, sizeof result);
}

/** Sends the result, and waits until nothing of the box is left. */
static void finish_run(void) {
  if (box.outlives) fail_saying("box.kill", "the box outlives SIGKILL");
  bool reaped = box.pid == 0;
  if (reaped) end_group();
  send_all();
  if (!reaped) {
    kill_box(&box);
    reap_box();
    end_group();
  }
  close(box.pidfd);
}

static void run(void) {
  struct request request;
  fill_box(&request);
  struct stream streams[] = {
      {box.output[0], 'o', request.stdout_bytes, 0, talk->gathered[0], 0},
      {box.errors[0], 'e', request.stderr_bytes, 0, talk->gathered[1], 0},
  };
  begin_group(&request, share);
  int64_t started = now();
  begun = true;
  release_box(&box);
  enum reason reason = supervise(&request, streams, started);
  pass_on(&streams[0]);
  pass_on(&streams[1]);
  append_result(reason, streams, started);
  // Whatever comes after it: the program decides neither its own verdict nor that there is none.
  begun = false;
  finish_run();
}

/** Reads what the worker says first and makes everything that all boxes share. */
void setup(void) {
  talk = allocate_unforked(sizeof *talk);
  talk->box_bytes = talk->scratch_bytes = 64 << 20;
  static const int one_page_at_least = sizeof *shared;
  shared = mmap(NULL, (size_t)one_page_at_least, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) fail("keeper.memory");
  if (fcntl(worker_socket, F_SETFD, FD_CLOEXEC) != 0) fail("keeper.socket");
  struct hello hello;
  read_exactly(&hello, sizeof hello);
  if (hello.kind != 'H' || (hello.cgroup_version != 1 && hello.cgroup_version != 2) ||
      hello.layout_bytes > largest_setup_bytes || hello.filter_bytes == 0 ||
      hello.filter_bytes % sizeof(struct sock_filter) != 0 ||
      hello.filter_bytes / sizeof(struct sock_filter) > BPF_MAXINSNS)
    fail_saying("protocol", "the first word");
  char *text = malloc((size_t)hello.filter_bytes + hello.layout_bytes + 1);
  if (text == NULL) fail("keeper.memory");
  read_exactly(text, (size_t)hello.filter_bytes + hello.layout_bytes);
  text[hello.filter_bytes + hello.layout_bytes] = 0;
  open_group(hello.cgroup_version, (hello.flags & hello_counts_swap) != 0);
  if ((hello.flags & hello_shares_cpu) != 0) yield_cpu();
  share = group_memory();
  load_filter(text, hello.filter_bytes);
  build_root(text + hello.filter_bytes, hello.layout_bytes);
  free(text);
}

/** What calls have left on the stack below; a fork would have it (allocate_unforked). */
__attribute__((noinline)) static void clear_stack(void) {
  char used[64 * 1024];
  explicit_bzero(used, sizeof used);
}

bool serve(bool forks) {
  uint64_t memory = group_memory();
  share = forks && memory > share ? memory - share : 0;
  append_frame('r', &share, sizeof share);
  send_all();
  for (;;) {
    make_room(0);
    if (forks) clear_stack();
    if (prepare_box(&box, talk->box_bytes, talk->scratch_bytes, forks)) return may_end_quietly();
    uint32_t kind;
    do read_exactly(&kind, sizeof kind);
    while (kind == 'A');
    if (kind != 'R') fail_saying("protocol", "an unknown word");
    run();
  }
}
