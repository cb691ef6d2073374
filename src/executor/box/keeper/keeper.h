// Declarations shared by the keeper's files. keeper.c describes a run, channel.c the protocol.
#ifndef KEEPER_H
#define KEEPER_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "prestart.h"
#include "message.h"

enum {
  argument_bytes_most = 64 * 1024,
  strings_most = 1024,
  /** Descriptors that the worker passes: its socket, then the cgroup's files (group.c). */
  worker_socket = 3,
  group_descriptor = 4,
  scratch_count = 3,
  name_bytes_most = 255,
  /** The longest line of a message, with its end. */
  line_bytes_most = 1024,
  /** Bytes of memory that the keeper and each process of a box may lock. */
  locked_most = 64 << 10,
};

/** Memory that the keeper shares with the box's first two processes. It is unmapped before the program begins. */
struct shared {
  /** The keeper writes `request` and `block` before it starts the program. */
  struct request request;
  char block[argument_bytes_most];
  /** The box writes how the program ended (`ended` is written last: has_ended), or what failed before. */
  int ended;
  int end_code;
  int end_status;
  int64_t end_nanoseconds;
  int error;
  char error_step[32];
  /** The keeper counts its looks at the running program, so that init notices when it hangs. */
  uint64_t looks;
};

struct box {
  int pid;
  int pidfd;
  int input;
  int input_reader;
  int output[2];
  int errors[2];
  /**
   * Events. `reports`: init has forked and ignores signals, the program's process waits, later the program has ended.
   * `go`: the keeper starts the program.
   */
  int reports, go;
  /** The mounts of /box, /tmp and /dev/shm (scratch_paths). */
  int mounts[scratch_count];
  /** Socket pair by which the keeper notifies a waiting runtime of its program. */
  int orders[2];
  /** True when the program's process waits. */
  bool ready;
  /** True when the box did not end after it was killed. */
  bool outlives;
};

struct stream {
  int descriptor;
  /** The kind of its messages. */
  const char *kind;
  uint64_t limit;
  uint64_t received;
  /** Output that is not in a message yet. */
  char *pending;
  size_t pending_length;
};

// keeper.c
extern struct shared *shared;
/** The worker's first message. */
extern struct hello settings;
void setup(void);
/** True when programs are forks of an interpreter (python.c), which need no exec. */
extern bool forks;
/** Called in each fork before it waits for its program. */
extern void (*warm_up)(void);
/** Serves until the worker closes the socket. Returns only in a program's process that needs no exec. */
void serve(void);

// request.c
/** Reads a file's name below /box, and ends it with NUL. @param name of name_bytes_most + 1 bytes. */
void read_name(char *name, uint64_t bytes);
/** Reads a request without its files and its input, whose size it checks later. @param line its first line. */
void read_request(const char *line, struct request *request);
/** Reads the rest of the request into a box that is ready. */
void fill_box(const struct box *box, const struct request *request);

// output.c
void open_output_files(void);
void read_output_names(uint64_t count);
/** @param directory /box. @param bytes_most of all contents together. */
void pass_output_files(int directory, uint64_t bytes_most);

// channel.c
/** True from the start of a program until its result is ready to be sent. */
extern bool program_started;
/**
 * Returns zeroed memory that forks do not get. All data from runs must be in such memory, because a program that is a
 * fork of an interpreter can read all other memory.
 */
void *allocate_unforked(size_t bytes);
void open_channel(void);
/** False when nothing has arrived. Ends the keeper when the worker has closed the socket. */
bool read_more(void);
/** True when a line from the worker was read and is not handled yet. */
bool has_line(void);
/** Waits for more from the worker. True when the process of this pidfd ends first. */
bool wait_for_line(int process);
/** Returns the next line without its end. It is overwritten by the next call. */
const char *read_line(void);
/** Use PARSE_LINE. Fails unless the line is `kind`, then ` name=number` for each name. */
void parse_line(const char *line, const char *kind, const char *const names[], uint64_t values[], size_t count);
void read_exactly(void *target, size_t size);
void copy_to_file(int descriptor, uint64_t size, const char *step);
bool has_unsent(void);
/** Returns the free bytes for messages. */
size_t tx_room(void);
void append_line(const char *line);
void append(const void *data, size_t length);
/** Appends a line, to which `bytes` is added, and the bytes. */
void append_bytes(const char *line, const void *data, size_t length);
void send_some(void);
void send_all(void);
_Noreturn void die(const char *step);
_Noreturn void die_with(const char *step, const char *words);

// supervise.c
enum reason { no_reason, cpu_limit, wall_limit, output_limit, memory_limit, aborted, starved, squeezed };
int64_t now(void);
void open_supervision(void);
void begin_streams(const struct box *box, const struct request *request, struct stream streams[2]);
void pass_on(struct stream *stream);
/**
 * Supervises a run from the program's first instruction until its output is read and its box is reaped. It does not
 * wait for an init that is alone and has almost nothing to free (only_init_is_left), because the end of init takes as
 * long as an empty run. Nor does it wait for a box that outlives its kill.
 */
enum reason supervise(struct box *box, const struct request *request, struct stream streams[2], int64_t started);
void reap_box(struct box *box);

// carry.c
/** The two directions. */
enum { carrier_count = 2 };
/** Makes the stdin and stdout of a program that the worker talks with. */
void open_carriers(struct box *box);
/** Says what the carriers wait for; nothing when there are none. */
void await_carriers(struct pollfd events[carrier_count]);
void carry(const struct pollfd events[carrier_count]);
/** Carries the last output of a program that is dead, and closes the worker's streams. */
void end_carriers(void);

// result.c
struct result {
  /** CLD_EXITED, CLD_KILLED or CLD_DUMPED; 0 when the program was killed with its box. */
  int end;
  int status;
  enum reason reason;
  /** How long the program could run but got no processor. */
  uint64_t delay_milliseconds;
  /** True when the run left more memory charged to the slot than the next run may find. `settled` follows. */
  bool unsettled;
  uint64_t wall_nanoseconds, cpu_nanoseconds;
  uint64_t memory_peak_bytes, memory_kills;
  uint64_t stdout_bytes, stderr_bytes;
};
/** Measures a run whose program has ended or was killed. @param share bytes of the resident interpreter. */
struct result measure(enum reason reason, const struct stream streams[2], int64_t started, uint64_t share);
void append_result(const struct result *result);

// root.c
/** The paths of the writable file systems, in the order of `mounts`. */
extern const char *const scratch_paths[scratch_count];
/** A mount namespace with the keeper's root, but without /proc. */
extern int box_namespace;
/**
 * Replaces the keeper's root.
 * @param layout three strings per entry, each ended by NUL: `bind`, source, target (read-only); `link`, text, path;
 * `file`, text, path.
 */
void build_root(char *layout, size_t bytes);

// confine.c
/** Ends the set-up. @param instructions a filter for the keeper. It applies to its boxes, too, besides their own. */
void confine_keeper(void *instructions, size_t bytes);
/** Bytes that the keeper and each process of a box may lock. The host may allow less than locked_most. */
extern uint64_t most_locked;

// loopback.c
/**
 * Brings loopback up. Called in a box's init, in its own network namespace. Returns NULL, or the step that failed, with
 * errno.
 */
const char *raise_loopback(void);
/** True when the box has so many sockets that their uncounted memory would be too much (loopback.c). */
bool holds_too_many_sockets(const struct box *box);

// init.c
/** Descriptor of the host's /proc. A box's own /proc is read-only. */
extern int host_proc;
void open_init(void);
void load_filter(const void *instructions, size_t bytes);
/**
 * Makes the box's first two processes. Returns false only in a program's process that needs no exec.
 * @param group the box's cgroup on v2; -1 on v1.
 */
bool clone_init(struct box *box, int group);

// box.c
void open_boxes(void);
/** Returns true only in a program's process that needs no exec. */
bool prepare_box(struct box *box);
/** @returns the file's descriptor. */
int create_file(const struct box *box, const char *name, bool executable);
void resize_box(const struct box *box, uint64_t box_bytes, uint64_t scratch_bytes);
void wait_until_ready(struct box *box, int seconds);
/** Starts the program, and closes the mounts. Only /box stays open, if output files must be read there. */
void release_box(struct box *box);
/** Fails with what has failed in the box before its program, if anything has. */
void require_no_failure(void);
/** True when shared->end_* hold how the program ended. */
bool has_ended(void);
void kill_box(struct box *box);

// modules.c
/** Loads the modules that programs import most. Called in the resident interpreter before it serves. */
void put_modules_by(void);
/** Python's module gc, which is not in sys.modules until the program imports it. */
extern struct _object *collector;

// early-end.c
/** Undoes gc.freeze. Called before the program, or the end of the interpreter, looks at the living objects. */
void unfreeze(void);
/** Called in the resident interpreter, before it serves. */
void prepare_early_end(void);
/**
 * Runs a script that prints nothing. A fork then copies the pages that every script writes before its program starts, and
 * not while the program runs.
 */
void run_empty_script(void);
/** True when the script holds one of these words, or cannot be searched. */
bool has_word(FILE *script, const char *const words[], size_t count);
/** False for a script that the interpreter's own main must run. */
bool may_end_early(FILE *script);
/**
 * Runs the script with the same calls as the interpreter's main. When the script has ended without an exception, the
 * rest of the interpreter's end is left out if nobody could notice.
 */
_Noreturn void run_script(FILE *file, const char *path);

// runtime.c
/** @param text the path that the runtime waits for, its arguments and its variables, each ended by NUL. */
void open_runtime(char *text);
bool has_runtime(void);
/** Makes the descriptors for the next runtime. */
void prepare_runtime(struct box *box);
/** Closes the keeper's copies of the descriptors that the next runtime has. */
void leave_runtime(const struct box *box);
/** Becomes the runtime. Returns only when it cannot be started. */
void start_runtime(const struct box *box);
void release_runtime(struct box *box, const struct request *request);
/** True when the runtime's program began. May be called once, after the end of the box. */
bool runtime_began(struct box *box);
struct own_limits find_own_limits(const struct request *request);

// delay.c
void open_delay(void);
void begin_delay(const struct box *box, int64_t started);
/** Called each time that the counters are read. @param used CPU time of the box. */
void note_delay(uint64_t used);
/** Returns the longest measured delay, in nanoseconds. */
uint64_t run_delay(void);
/** Returns when a run whose wall time ends at `ends` must end: later by the time in which it was not allowed to run. */
int64_t forgiven_until(int64_t ends, uint64_t used);

// group.c
/** What the keeper's cgroup does as its version requires. */
extern const struct cgroup {
  void (*open)(void);
  /** Returns the bytes that are charged for the keeper itself. Valid only between two boxes. */
  uint64_t (*read_keeper_memory)(void);
  /** Makes the next box's group and returns its descriptor. -1 when boxes share the keeper's group. */
  int (*prepare)(void);
  /** True when a dead box left more memory charged than the next run may find. */
  bool (*has_leftovers)(void);
  /** Makes the kernel free that memory. @param waits as long as necessary; otherwise v1 fails after seconds. */
  void (*reclaim)(bool waits);
  /** v1: false when memory for the keeper itself could reach the limit of its boxes, so that the keeper would wait. */
  bool (*has_room)(void);
  /** v1: raises the limit so that there is room for this many bytes more. */
  void (*raise_limit)(uint64_t bytes);
  /** Writes the memory limit. On v1 it may not be above the limit of memory and swap, so both are written. */
  bool (*write_memory_limit)(uint64_t bytes);
  /** Returns CPU nanoseconds without the keeper's own. Only differences are meaningful. */
  int64_t (*read_cpu)(void);
  /** True when the box has reached its own memory limit. The kernel also kills for a group above and for the host. */
  bool (*has_hit_limit)(void);
  bool (*only_init_is_left)(void);
  bool (*is_empty)(void);
  /** v2: removes the box's group. */
  void (*remove)(void);
  /** The text that resets the peak. */
  const char *reset;
  /** True when boxes share the keeper's group. */
  bool shares_group;
} *cgroup;
void open_group(void);
/** Memory that a runtime takes between begin_start and note_start counts as its program's. */
void begin_start(void);
void note_start(void);
void begin_group(const struct request *request, uint64_t share);
uint64_t group_cpu_nanoseconds(void);
uint64_t group_memory_peak(uint64_t share);
uint64_t group_memory_kills(void);
/** True when only the box's init lives, with almost nothing to free. */
bool only_init_is_left(void);
/** Proves that nothing of the box is left. */
void end_group(void);

#endif
