// Supervises a run: passes output to the worker, watches the wall clock and the counters, and kills the box at a limit,
// when the worker asks for it, or when the program has ended and left processes.
#include "keeper.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
  longest_look_milliseconds = 20,
  /** For a program that may run for days: the part of the worker that talks with it watches it as well. */
  longest_own_look_milliseconds = 1000,
  shortest_look_milliseconds = 5,
  kill_seconds = 5,
  /** A box that takes longer to die probably waits for its quota. */
  dying_milliseconds = 100,
  /** The longest delay of a run: this many times its wall limit, and this many seconds. */
  delay_factor = 4,
  delay_seconds = 10,
  pending_bytes = 64 * 1024,
  /** Pause between two messages of output. */
  flush_milliseconds = 20,
};

static const uint64_t day_nanoseconds = UINT64_C(86400000000000);

static struct {
  /** Collects output, because a program may write single bytes, and a message for each would cost the worker more. */
  char pending[2][pending_bytes];
  /** Buffer for output beyond the limit, which is dropped. */
  char beyond[16 * 1024];
} *outputs;

int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

void open_supervision(void) {
  open_delay();
  outputs = allocate_unforked(sizeof *outputs);
}

void begin_streams(const struct box *box, const struct request *request, struct stream streams[2]) {
  streams[0] = (struct stream){box->output[0], "stdout", request->stdout_bytes, 0, outputs->pending[0], 0};
  streams[1] = (struct stream){box->errors[0], "stderr", request->stderr_bytes, 0, outputs->pending[1], 0};
}

/** True when there is no room for a full message of output. */
static bool is_full(void) { return tx_room() < line_bytes_most + pending_bytes; }

void pass_on(struct stream *stream) {
  if (stream->pending_length > 0) append_bytes(stream->kind, stream->pending, stream->pending_length);
  stream->pending_length = 0;
}

/** Output beyond the limit is only counted. False at the end of the stream. */
static bool drain(struct stream *stream) {
  uint64_t wanted = stream->received < stream->limit ? stream->limit - stream->received : 0;
  if (wanted > 0 && stream->pending_length == pending_bytes) {
    if (is_full()) return true;
    pass_on(stream);
  }
  char *target = outputs->beyond;
  size_t size = sizeof outputs->beyond;
  if (wanted > 0) {
    target = stream->pending + stream->pending_length;
    size = pending_bytes - stream->pending_length;
    if (size > wanted) size = (size_t)wanted;
  }
  ssize_t length = read(stream->descriptor, target, size);
  if (length == 0) return false;
  if (length < 0) {
    if (errno == EAGAIN || errno == EINTR) return true;
    die("output.read");
  }
  if (wanted > 0) stream->pending_length += (size_t)length;
  stream->received += (uint64_t)length;
  return true;
}

/** Returns the nanoseconds until the counters are read again: the box's cores cannot use up the limit earlier. */
static int64_t plan_look(uint64_t cpu_used, const struct request *request) {
  int64_t left = (int64_t)((request->cpu_nanoseconds - cpu_used) / request->cores_per_mille) / 1000;
  if (left < shortest_look_milliseconds) left = shortest_look_milliseconds;
  bool lives_for_days = request->wall_nanoseconds > day_nanoseconds;
  int64_t longest = lives_for_days ? longest_own_look_milliseconds : longest_look_milliseconds;
  if (left > longest) left = longest;
  return left * 1000000;
}

static enum reason look_at_counters(const struct box *box, const struct request *request, int64_t *next_look) {
  // On v1 the kernel kills only one process, so the keeper must kill the box.
  if (group_memory_kills() > 0) return memory_limit;
  if (settings.loopback != 0 && holds_too_many_sockets(box)) return memory_limit;
  uint64_t used = group_cpu_nanoseconds();
  if (used > request->cpu_nanoseconds) return cpu_limit;
  note_delay(used);
  *next_look = now() + plan_look(used, request);
  return no_reason;
}

void reap_box(struct box *box) {
  struct pollfd end = {box->pidfd, POLLIN, 0};
  errno = 0;
  if (poll(&end, 1, kill_seconds * 1000) <= 0) die_with("box.clear", "the box of a run that is over does not go");
  if (waitpid(box->pid, NULL, 0) != box->pid) die("box.reap");
  box->pid = 0;
}

struct supervision {
  struct box *box;
  const struct request *request;
  struct stream *streams;
  /** When the wall time ends without delays; when it ends with them; when the counters are read next. */
  int64_t wall_ends;
  int64_t ends;
  int64_t next_look;
  /** When the keeper asks for a dying box's quota to be lifted; INT64_MAX once it has asked. */
  int64_t asks;
  /** When the keeper stops waiting for the end of a box whose run is over. */
  int64_t gives_up;
  /** True when the program has ended or was killed, so that the rest of its box dies. */
  bool over;
  /** True when the keeper need not wait for init. */
  bool settled;
  /** The earliest time at which output is passed on. */
  int64_t next_flush;
};

enum event {
  from_worker,
  from_box,
  from_output,
  from_errors,
  from_program,
  from_carriers,
  event_count = from_carriers + carrier_count,
};

/** False when init is reaped. */
static bool is_alive(const struct supervision *run) { return run->box->pid != 0; }

static void postpone_giving_up(struct supervision *run) { run->gives_up = now() + kill_seconds * INT64_C(1000000000); }

static void end_run(struct supervision *run) {
  run->over = true;
  run->asks = now() + dying_milliseconds * INT64_C(1000000);
  postpone_giving_up(run);
}

/** Since Linux 6.18 a box may owe seconds of CPU time that it used inside the kernel, and its processes die after that. */
static void ask_for_quota(struct supervision *run) {
  if (!is_alive(run) || now() < run->asks) return;
  append_line("dying");
  send_some();
  run->asks = INT64_MAX;
}

/** True when the worker stops the run. Only `stop` may arrive during a run, even directly after the request. */
static bool is_stopped(bool readable) {
  if (readable) read_more();
  if (!has_line()) return false;
  if (strcmp(read_line(), "stop") != 0) die_with("protocol", "a run is under way");
  return true;
}

static bool has_unflushed(const struct supervision *run) {
  return run->streams[0].pending_length + run->streams[1].pending_length > 0;
}

/** Passes on pending output, unless that was done a moment ago. */
static void flush_output(struct supervision *run) {
  if (!has_unflushed(run) || now() < run->next_flush) return;
  for (size_t index = 0; index < 2; index += 1)
    if (!is_full()) pass_on(&run->streams[index]);
  send_some();
  run->next_flush = now() + flush_milliseconds * INT64_C(1000000);
}

/** @returns the number of events; below 0 after a signal. */
static int await_events(struct supervision *run, struct pollfd events[event_count], bool full) {
  struct stream *streams = run->streams;
  bool owes = full || has_unsent();
  events[from_worker] = (struct pollfd){worker_socket, (short)(POLLIN | (owes ? POLLOUT : 0)), 0};
  events[from_box] = (struct pollfd){is_alive(run) ? run->box->pidfd : -1, POLLIN, 0};
  for (int index = 0; index < 2; index += 1) {
    bool held_back = full && streams[index].received < streams[index].limit;
    events[from_output + index] = (struct pollfd){held_back ? -1 : streams[index].descriptor, POLLIN, 0};
  }
  events[from_program] = (struct pollfd){run->over ? -1 : run->box->reports, POLLIN, 0};
  await_carriers(events + from_carriers);
  if (run->over && full) postpone_giving_up(run);
  int64_t next_step = is_alive(run) && run->asks < run->gives_up ? run->asks : run->gives_up;
  int64_t until = run->over ? next_step : run->next_look < run->ends ? run->next_look : run->ends;
  if (!run->over && has_unflushed(run) && run->next_flush < until) until = run->next_flush;
  bool waits = !has_line() && (is_alive(run) || full);
  int64_t pause = waits ? until - now() : 0;
  struct timespec timeout = {pause > 0 ? pause / 1000000000 : 0, pause > 0 ? pause % 1000000000 : 0};
  int found = ppoll(events, event_count, &timeout, NULL);
  if (found < 0 && errno != EINTR) die("keeper.poll");
  return found;
}

static void read_outputs(struct stream streams[2], const struct pollfd events[event_count]) {
  for (int index = 0; index < 2; index += 1) {
    if (events[from_output + index].revents == 0 || drain(&streams[index])) continue;
    close(streams[index].descriptor);
    streams[index].descriptor = -1;
  }
}

static void look_for_end(struct supervision *run, bool box_ended) {
  if (box_ended) reap_box(run->box);
  if (run->over || (is_alive(run) && !has_ended())) return;
  end_run(run);
  run->settled = is_alive(run) && only_init_is_left();
}

/** Extends the wall time by the box's delay. A delay beyond the bound is a failure of the sandbox (`starved`). */
static enum reason look_at_wall_time(struct supervision *run) {
  run->ends = forgiven_until(run->wall_ends, group_cpu_nanoseconds());
  int64_t most = delay_factor * (int64_t)run->request->wall_nanoseconds + delay_seconds * INT64_C(1000000000);
  if (run->ends - run->wall_ends > most) return starved;
  if (run->ends <= now()) return wall_limit;
  // Makes the worker wait longer, too.
  append_line("delayed");
  send_some();
  return no_reason;
}

static enum reason find_reason(struct supervision *run, bool stopped) {
  const struct stream *streams = run->streams;
  if (stopped) return aborted;
  if (streams[0].received > streams[0].limit || streams[1].received > streams[1].limit) return output_limit;
  if (now() >= run->ends) return look_at_wall_time(run);
  if (now() >= run->next_look) return look_at_counters(run->box, run->request, &run->next_look);
  return no_reason;
}

enum reason supervise(struct box *box, const struct request *request, struct stream streams[2], int64_t started) {
  struct supervision run = {
      .box = box,
      .request = request,
      .streams = streams,
      .wall_ends = started + (int64_t)request->wall_nanoseconds,
      .ends = started + (int64_t)request->wall_nanoseconds,
      .next_look = started + plan_look(0, request),
      // The output of a short program is sent together with its result, in one write.
      .next_flush = started + flush_milliseconds * INT64_C(1000000),
  };
  begin_delay(box, started);
  enum reason reason = no_reason;
  while ((is_alive(&run) && !run.settled) || streams[0].descriptor >= 0 || streams[1].descriptor >= 0) {
    __atomic_add_fetch(&shared->looks, 1, __ATOMIC_RELAXED);
    bool full = is_full();
    struct pollfd events[event_count];
    int found = await_events(&run, events, full);
    if (found < 0) continue;
    // All writers are dead and their output is read. The kernel may not have closed their ends of the pipes yet.
    if (found == 0 && !is_alive(&run) && !full) break;
    if (events[from_worker].revents & POLLOUT) send_some();
    bool stopped = is_stopped((events[from_worker].revents & (POLLIN | POLLHUP | POLLERR)) != 0);
    read_outputs(streams, events);
    carry(events + from_carriers);
    flush_output(&run);
    // An end that has happened counts before a clock that has run out.
    look_for_end(&run, events[from_box].revents != 0);
    if (run.over) {
      ask_for_quota(&run);
      box->outlives = is_alive(&run) && now() > run.gives_up;
      if (box->outlives) break;
      continue;
    }
    reason = find_reason(&run, stopped);
    if (reason == no_reason) continue;
    kill_box(box);
    end_run(&run);
  }
  for (size_t index = 0; index < 2; index += 1)
    if (streams[index].descriptor >= 0) close(streams[index].descriptor);
  return reason;
}
