// What the keeper's files share. The way of a run is told at the head of keeper.c, the protocol at that of channel.c.
#ifndef KEEPER_H
#define KEEPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "message.h"

enum {
  argument_bytes_most = 64 * 1024,
  strings_most = 1024,
  /** Descriptors that the worker starts a keeper with: the socket, then those of its cgroup (group.c). */
  worker_socket = 3,
  group_descriptor = 4,
  scratch_count = 3,
};

/** A page that the keeper shares with a box's own two processes and that a program never has mapped. */
struct shared {
  /** Written before the program is let go. */
  struct request request;
  /** Its strings. */
  char block[argument_bytes_most];
  /** Written by the box: how the main process ended (`ended` last: has_ended), or what failed before there was one. */
  int ended;
  int end_code;
  int end_status;
  int64_t end_nanoseconds;
  int error;
  char error_step[32];
};

/** A box that stands and waits; or the one under way. */
struct box {
  int pid;
  int pidfd;
  int input;
  int input_reader;
  int output[2];
  int errors[2];
  /** Mounts of /box, /tmp and /dev/shm (scratch_paths). */
  int mounts[scratch_count];
  uint64_t sizes[2];
  /** Can be read from when the program has ended (an eventfd). */
  int ended;
  /** It was to die and has not in time. */
  bool outlives;
};

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

// keeper.c
extern struct shared *shared;
void setup(void);
/**
 * Serves requests until the worker goes. Returns only in a program's process that needs no exec, ready to run it:
 * whether it may end quietly (python.c).
 */
bool serve(bool forks);

// channel.c
/** True from before a program is let go until its result stands: a failure then may have cost it a run. */
extern bool begun;
/**
 * Memory, all zero, that a fork of the keeper does not have. What comes from runs lies in such memory: a program that is a
 * fork of a resident interpreter could read the rest.
 */
void *allocate_unforked(size_t bytes);
void open_channel(void);
/** False when nothing waits to be read. Ends the keeper when the worker has gone. */
bool read_more(void);
/** True when a whole word of the worker's has been read and not been taken. */
bool has_word(void);
void read_exactly(void *target, size_t size);
void copy_to_file(int descriptor, uint64_t size, const char *step);
/** Bytes that still fit into what waits to be sent. */
size_t answer_room(void);
void append_frame(uint32_t kind, const void *data, size_t length);
/** Sends what the socket takes. */
void send_some(void);
void send_all(void);
_Noreturn void fail(const char *step);
_Noreturn void fail_saying(const char *step, const char *words);

// supervise.c
int64_t now(void);
void open_supervision(void);
void begin_streams(const struct box *box, const struct request *request, struct stream streams[2]);
/** Puts what was gathered into a frame. */
void pass_on(struct stream *stream);
/**
 * From the program's first instruction until its output is read and its box reaped. Where only the box's first process is
 * left, and next to nothing for it to clear away (group_is_settled), its end is not waited for: it changes nothing any
 * more, and takes as long as an empty box takes to run. Nor is that of a box which a kill does not end (box.outlives).
 */
enum reason supervise(struct box *box, const struct request *request, struct stream streams[2], int64_t started);
/** Waits for the end of the box's first process, whose own end clears the box away. */
void reap_box(struct box *box);

// root.c
/** Where a box's own scratch file systems are mounted, in the order of `mounts`. */
extern const char *const scratch_paths[scratch_count];
/**
 * Replaces the keeper's own root by what its boxes see.
 * @param layout entries of three strings that end in NUL: `bind`, source, target (read-only); `device`, source,
 * target; `link`, text, path.
 */
void build_root(char *layout, size_t bytes);

// box.c
void open_boxes(void);
void load_filter(const void *instructions, size_t bytes);
/** Programs are to give way to whatever else is in their group. */
void yield_cpu(void);
/** Returns only in the box of a keeper that forks, in the program's process. */
bool prepare_box(struct box *box, uint64_t box_bytes, uint64_t scratch_bytes, bool forks);
/** What the request said of the program's end; to be asked in the program's process. */
bool may_end_quietly(void);
void write_file(struct box *box, const char *name, bool executable, int *descriptor);
void resize_box(struct box *box, uint64_t box_bytes, uint64_t scratch_bytes);
void wait_until_ready(struct box *box);
void release_box(struct box *box);
/** True when the main process has ended; then shared->end_* say how. */
bool has_ended(void);
void kill_box(struct box *box);

// group.c
void open_group(uint32_t version, bool counts_swap);
uint64_t group_memory(void);
/** v2: makes the cgroup that the next box is born in, and returns its descriptor; v1: -1, a box is born in the keeper's. */
int prepare_group(void);
/** v1: what the last box held is gone when it returns, but for what cannot be taken back. */
void settle_group(void);
/** Before a box is made, and before so many bytes are put into it. */
void make_room(uint64_t bytes);
void begin_group(const struct request *request, uint64_t share);
uint64_t group_cpu_nanoseconds(void);
uint64_t group_memory_peak(uint64_t share);
uint64_t group_memory_kills(void);
/** True when nothing of the box is alive but its first process, which has next to nothing to clear away. */
bool group_is_settled(void);
/** Proves that the keeper is alone again. */
void end_group(void);

#endif
