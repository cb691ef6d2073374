// Shared by the keeper's files. keeper.c describes a run, channel.c the protocol.
#ifndef KEEPER_H
#define KEEPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "prestart.h"
#include "message.h"

enum {
  argument_bytes_most = 64 * 1024,
  strings_most = 1024,
  /** The worker's socket, then the cgroup's files (group.c). */
  worker_socket = 3,
  group_descriptor = 4,
  scratch_count = 3,
  name_bytes_most = 255,
  /** That the keeper, and each process of a box, may lock. */
  locked_most = 64 << 10,
};

/** Shared with a box's own two processes; no program has it mapped. */
struct shared {
  /** Written before the program is let go, as is `block`. */
  struct request request;
  char block[argument_bytes_most];
  /** Written by the box: how the program ended (`ended` last: has_ended), or what failed before. */
  int ended;
  int end_code;
  int end_status;
  int64_t end_nanoseconds;
  int error;
  char error_step[32];
};

struct box {
  int pid;
  int pidfd;
  int input;
  int input_reader;
  int output[2];
  int errors[2];
  /** Of /box, /tmp and /dev/shm (scratch_paths). */
  int mounts[scratch_count];
  /** Where a runtime that waits hears of its program. */
  int orders[2];
  /** The program's process waits. */
  bool ready;
  /** The box did not end after its kill. */
  bool outlives;
};

struct stream {
  int descriptor;
  uint64_t kind;
  uint64_t limit;
  uint64_t received;
  /** Output that is in no frame yet. */
  char *pending;
  size_t pending_length;
};

// keeper.c
extern struct shared *shared;
/** The program has the keeper's stdin and stdout. */
extern bool own_streams;
/** Each box has a network of its own. */
extern bool has_loopback;
void setup(void);
/** Programs are forks of an interpreter (python.c), and need no exec. */
extern bool forks;
/** Serves until the worker goes. Returns only in a program's process that needs no exec. */
void serve(void);

/** A file's name below /box, ended by NUL. @param name of name_bytes_most + 1 bytes. */
void read_name(char *name, uint64_t bytes);

// output.c
void open_output_files(void);
/** Of the request that is being read. */
void read_output_names(uint64_t count);
/** @param directory /box. @param bytes_most of all contents together. */
void pass_output_files(int directory, uint64_t bytes_most);

// channel.c
/** From when a program is let go until its result stands. */
extern bool program_started;
/**
 * Zeroed memory that forks lack, for all that comes from runs: programs forked from an interpreter could read the rest.
 */
void *allocate_unforked(size_t bytes);
void open_channel(void);
/** False when nothing waits. Ends the keeper when the worker has gone. */
bool read_more(void);
/** A message of the worker's waits. */
bool has_message(void);
/** Waits for more of it. True when the process of this pidfd ends first. */
bool wait_for_message(int process);
void read_exactly(void *target, size_t size);
void copy_to_file(int descriptor, uint64_t size, const char *step);
/** Something waits to be sent. */
bool has_unsent(void);
/** Free bytes for frames. */
size_t tx_room(void);
void append_frame(uint64_t kind, const void *data, size_t length);
void send_some(void);
void send_all(void);
_Noreturn void die(const char *step);
_Noreturn void die_with(const char *step, const char *words);

// supervise.c
int64_t now(void);
void open_supervision(void);
void begin_streams(const struct box *box, const struct request *request, struct stream streams[2]);
void pass_on(struct stream *stream);
/**
 * From the program's first instruction until its output is read and its box reaped. It does not wait for a first
 * process that is alone and has almost nothing to free (only_init_is_left): this takes as long as an empty run. Nor does
 * it wait for a box that outlives its kill.
 */
enum reason supervise(struct box *box, const struct request *request, struct stream streams[2], int64_t started);
void reap_box(struct box *box);

// root.c
/** In the order of `mounts`. */
extern const char *const scratch_paths[scratch_count];
/** A mount namespace with the keeper's root but for /proc. */
extern int box_namespace;
/**
 * Replaces the keeper's root.
 * @param layout three strings per entry, each ended by NUL: `bind`, source, target (read-only); `device`, source,
 * target; `link`, text, path.
 */
void build_root(char *layout, size_t bytes);

// confine.c
/** The last of the set-up. @param instructions a filter for the keeper, which its boxes have below their own. */
void confine_keeper(void *instructions, size_t bytes);
/** Bytes that the keeper and each process of a box may lock: the host may allow less than locked_most. */
extern uint64_t most_locked;

// loopback.c
/**
 * In a box's init, in its own network namespace. Null, or the step that failed, with errno.
 */
const char *raise_loopback(void);
/** More than a box's memory limit could answer for. */
bool holds_too_many_sockets(const struct box *box);

// init.c
/** The host's, as a box's own is read-only. */
extern int host_proc;
void open_init(void);
void load_filter(const void *instructions, size_t bytes);
/** Programs give way to everything else in their group. */
extern bool yields_cpu;
/**
 * Makes the box's two processes. Returns false only in a program's process that needs no exec.
 * @param group on cgroup v2 the box's.
 */
bool clone_init(struct box *box, int group);

// box.c
extern struct box_events {
  /** Init has forked and is deaf to signals; the program's process waits; the keeper lets it go; the program has ended. */
  int forked, ready, go, ended;
} box_events;
void open_boxes(void);
/** Returns true only in a program's process that needs no exec. */
bool prepare_box(struct box *box);
/** @returns its descriptor. */
int create_file(const struct box *box, const char *name, bool executable);
void resize_box(const struct box *box, uint64_t box_bytes, uint64_t scratch_bytes);
void wait_until_ready(struct box *box, int seconds);
/** Only /box is held on to, and that only if there are files to be read in it. */
void release_box(struct box *box);
/** True when shared->end_* say how the program ended. */
bool has_ended(void);
void kill_box(struct box *box);

// modules.c
/** In the resident interpreter, before it serves: loads what programs import most. */
void put_modules_by(void);
/** Python's gc, which the program has not imported. */
extern struct _object *collector;

// early-end.c
/** Before the program, or the interpreter's end, looks at what is alive. */
void unfreeze(void);
/** In the resident interpreter, before it serves. */
void prepare_early_end(void);
/** False for a script that the interpreter's own main must run. */
bool may_end_early(FILE *script);
/**
 * Runs the script by the same calls as the interpreter's main. What remains when it has ended without exception is left out
 * where nobody could notice.
 */
_Noreturn void run_script(FILE *file, const char *path);

// runtime.c
/** What is to be prestarted: the path that it waits for, its arguments and variables, each ended by NUL. */
void open_runtime(char *text, const struct hello *hello);
bool has_runtime(void);
bool runtime_has_all_stack(void);
/** Makes what the next one is given. */
void prepare_runtime(struct box *box);
/** Closes here what the next one has. */
void leave_runtime(const struct box *box);
/** In its process. Returns only when it cannot be started. */
void start_runtime(const struct box *box);
void release_runtime(struct box *box, const struct request *request);
/** To be asked once, after the end: whether its program began. */
bool runtime_began(struct box *box);
struct own_limits find_own_limits(const struct request *request);

// delay.c
void open_delay(void);
void begin_delay(const struct box *box, const struct request *request, int64_t started);
/** At each look at the counters. @param used CPU time of the box. */
void note_delay(uint64_t used);
/** The longest that was measured, in nanoseconds. */
uint64_t run_delay(void);
/** When a run that has used up its wall time must end: it was not let run for the time between. */
int64_t forgiven_until(int64_t ends, uint64_t used);

// group.c
void open_group(uint64_t version, bool counts_swap);
/** Bytes charged for the keeper itself; between two boxes. */
uint64_t read_keeper_memory(void);
/** v2: makes the next box's cgroup and returns its descriptor. v1: -1. */
int prepare_group(void);
/** v1: a box that has died left more charged than the next run may find. */
bool group_has_leftovers(void);
/** v1: gives that back. @param waits however long it takes; else it fails after seconds. */
void reclaim_leftovers(bool waits);
/** v1: false when what the keeper takes for itself could meet the limit of its boxes, and so wait for them. */
bool group_has_room(void);
/** v1: raises the limit for this many bytes more. */
void raise_limit_for(uint64_t bytes);
/** What a runtime takes from here to note_start is its program's. */
void begin_start(void);
void note_start(void);
void begin_group(const struct request *request, uint64_t share);
uint64_t group_cpu_nanoseconds(void);
uint64_t group_memory_peak(uint64_t share);
uint64_t group_memory_kills(void);
/** Only the box's init lives, with almost nothing to free. */
bool only_init_is_left(void);
/** Proves that nothing of the box is left. */
void end_group(void);

#endif
