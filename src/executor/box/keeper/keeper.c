// The keeper: makes a fresh box in its slot for each run, so that a run needs to start only the program itself.
//
// The worker starts the keeper in the slot's cgroup, as the slot's user, and talks with it over a socket (channel.c).
// The keeper builds the boxes' file system (root.c) and reports `ready`. One empty box always waits (box.c, init.c).
// For a request, the keeper writes files, input, command line and limits into the box (request.c), reads the counters
// (group.c), starts the program and supervises it (supervise.c). It sends the result (result.c) when only the box's init
// lives, reaps init, and makes the next box. The keeper passes on a program's output unread, and carries the bytes of a
// program that the worker talks with (carry.c). It opens files that a program can write only after the program's end
// (output.c). The keeper itself is confined, too (confine.c).
//
//   worker         root, Node
//     │ socket
//   keeper         the slot's uid; user, network and mount namespace of its own, made once; three capabilities, a filter
//     ├─ box       new pid, ipc, uts, mount and cgroup namespace for each run
//     │    init      pid 1: mounts, drops all rights, adds its own filter, forks, reaps; kept from signals, never dumpable
//     │      program   pid 2: waits for `go`, then exec, or goes on as a fork; its children die with init
//     └─ next box  made while the worker reads the result of the last one
//   cgroup v2: <worker>/<keeper>/{keeper, run-0, run-1, …}, each box born in its own; v1: <worker>/<keeper>/keeper for all
//
// In a resident interpreter the same code forks programs (python.c). In the waiting box a runtime may have started
// already (runtime.c).
#include "keeper.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
  /** Long, because a slow machine is not a failure. The worker waits for a request longer than the keeper does. */
  seconds_until_first = 30,
  seconds_until_ready = 12,
};

struct shared *shared;
struct hello settings;
bool forks;
void (*warm_up)(void);
/** Bytes of the resident interpreter. They count as memory of each program. */
static uint64_t share;
static struct box box;

/** Called after the run was measured, so that its figures do not include this. */
static void send_output_files(const struct request *request) {
  if (request->output_files == 0) return;
  // The program may have filled its cgroup. On v1 the keeper shares that cgroup.
  cgroup->raise_limit(0);
  if (!box.outlives) pass_output_files(box.mounts[0], request->output_files_bytes);
  close(box.mounts[0]);
}

static void send_line(const char *line) {
  append_line(line);
  send_all();
}

/** Done before the next request, which would otherwise wait for it. */
static void settle_slot(void) {
  cgroup->reclaim(true);
  cgroup->raise_limit(0);
  send_line("settled");
}

/** Sends the result, then waits until nothing of the box is left. */
static void finish_run(void) {
  if (box.outlives) die_with("box.kill", "the box outlives SIGKILL");
  bool reaped = box.pid == 0;
  if (reaped) end_group();
  send_all();
  if (!reaped) {
    kill_box(&box);
    reap_box(&box);
    end_group();
  }
  close(box.pidfd);
  close(box.reports);
  close(box.go);
}

/** @param line the request's. */
static void run(const char *line) {
  struct request request;
  read_request(line, &request);
  wait_until_ready(&box, seconds_until_ready);
  fill_box(&box, &request);
  struct stream streams[2];
  begin_streams(&box, &request, streams);
  begin_group(&request, share);
  int64_t started = now();
  release_box(&box);
  program_started = true;
  enum reason reason = supervise(&box, &request, streams, started);
  bool has_started = !has_runtime() || runtime_began(&box);
  // A limit that was passed before the program began still counts, because a caller may set limits that no runtime can
  // meet.
  if (!has_started && reason == no_reason && group_memory_kills() == 0) {
    program_started = false;
    die_with("box.setup", "the runtime ended before its program");
  }
  pass_on(&streams[0]);
  pass_on(&streams[1]);
  struct result result = measure(reason, streams, started, share);
  send_output_files(&request);
  // The input stays open until now, so that it is charged before the run and at its end, whether or not it was read.
  close(box.input);
  result.unsettled = cgroup->has_leftovers();
  append_result(&result);
  // The result is valid from now on, so a later failure is reported as `refused`.
  program_started = false;
  finish_run();
  // Before the slot is settled, which the streams' reader must not wait for.
  if (settings.own_streams != 0) end_carriers();
  if (result.unsettled) settle_slot();
}

void setup(void) {
  open_channel();
  open_supervision();
  open_output_files();
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) die("keeper.memory");
  if (fcntl(worker_socket, F_SETFD, FD_CLOEXEC) != 0) die("keeper.socket");
  PARSE_LINE(read_line(), "hello", HELLO_FIELDS, &settings);
  size_t filters = settings.filter_bytes + settings.keeper_filter_bytes, layout_end = filters + settings.layout_bytes;
  char *text = malloc(layout_end + settings.runtime_bytes + 1);
  if (text == NULL) die("keeper.memory");
  read_exactly(text, layout_end + settings.runtime_bytes);
  open_group();
  open_runtime(text + layout_end);
  text[layout_end] = 0;
  share = cgroup->read_keeper_memory();
  load_filter(text, settings.filter_bytes);
  build_root(text + filters, settings.layout_bytes);
  open_boxes();
  confine_keeper(text + settings.filter_bytes, settings.keeper_filter_bytes);
  free(text);
}

/** Clears the stack, because a fork could read what earlier calls left there. */
__attribute__((noinline)) static void clear_stack(void) {
  char used[64 * 1024];
  explicit_bzero(used, sizeof used);
}

/** Room for the start of a runtime, which takes more memory than an empty box. */
static const uint64_t start_bytes = 64 << 20;

static void make_room_for_box(void) {
  if (has_runtime()) {
    cgroup->reclaim(false);
    cgroup->raise_limit(start_bytes);
    begin_start();
  } else {
    cgroup->raise_limit(0);
  }
}

/** Waits for a request, and fails if the waiting runtime ends before. */
static void await_request(void) {
  if (has_runtime() && !has_line() && wait_for_line(box.pidfd))
    die_with("box.setup", "the runtime ended before its program");
}

void serve(void) {
  uint64_t memory = cgroup->read_keeper_memory();
  share = forks && memory > share ? memory - share : 0;
  bool is_ready = !has_runtime();
  if (is_ready) send_line("ready");
  for (;;) {
    make_room_for_box();
    if (forks) clear_stack();
    if (prepare_box(&box)) return;
    if (!is_ready) {
      // The keeper is not ready before its first runtime has started.
      wait_until_ready(&box, seconds_until_first);
      send_line("ready");
      is_ready = true;
    }
    const char *line;
    do {
      await_request();
      line = read_line();
    } while (strcmp(line, "stop") == 0);
    run(line);
    // There is no second run. If the keeper exited before the worker closes the socket, an unread stop message would
    // destroy the result.
    while (settings.own_streams != 0) read_line();
  }
}
