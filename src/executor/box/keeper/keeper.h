// What the keeper's files share. The protocol and the way of a run are told at the head of keeper.c.
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
};

/** A page that the keeper shares with a box's own two processes and that a program never has mapped. */
struct shared {
  /** Written before the program is let go. */
  struct request request;
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
  /** Mounts of /box, /tmp and /dev/shm. */
  int mounts[3];
  uint64_t sizes[2];
  /** Can be read from when the program has ended (an eventfd). */
  int ended;
  /** It was to die and has not in time. */
  bool outlives;
};

// keeper.c
extern struct shared *shared;
int64_t now(void);
/** Memory, all zero, that a fork of the keeper does not have. */
void *allocate_unforked(size_t bytes);
void setup(void);
/**
 * Serves requests until the worker goes. Returns only in a program's process that needs no exec, ready to run it:
 * whether it may end quietly (python.c).
 */
bool serve(bool forks);
_Noreturn void fail(const char *step);
_Noreturn void fail_saying(const char *step, const char *words);

// box.c
void build_root(char *layout, size_t bytes);
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
