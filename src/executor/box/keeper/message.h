// Messages on a keeper's socket; order in channel.c, the worker's side in structure.ts.
#ifndef MESSAGE_H
#define MESSAGE_H

#include <stdint.h>

struct hello {
  uint32_t kind;
  uint32_t cgroup_version;
  uint32_t flags;
  /** Of the boxes' filter, and of the keeper's own. */
  uint32_t filter_bytes;
  uint32_t keeper_filter_bytes;
  uint32_t layout_bytes;
  /** A runtime that is to be started ahead; 0 without one. */
  uint32_t runtime_bytes;
  uint32_t runtime_arguments;
  uint32_t runtime_variables;
};

/**
 * The group counts swap; it has its own share of the CPU; the runtime has all the stack that the limits leave; the program
 * has the keeper's own stdin and stdout, by which the worker speaks with it; each box has a network of its own (loopback.c).
 */
enum hello_flag {
  hello_counts_swap = 1,
  hello_shares_cpu = 2,
  hello_unlimited_stack = 4,
  hello_own_streams = 8,
  hello_loopback = 16
};

struct request {
  uint32_t kind;
  uint32_t argument_bytes;
  uint32_t arguments;
  uint32_t variables;
  uint32_t files;
  uint32_t processes;
  uint32_t unlimited_stack;
  /** The program's stderr is its stdout. */
  uint32_t merges_stderr;
  /** Names of files that are told of when the program has left them. */
  uint32_t output_files;
  uint64_t stdin_bytes;
  uint64_t memory_bytes;
  uint64_t cpu_nanoseconds;
  uint64_t wall_nanoseconds;
  uint64_t stdout_bytes;
  uint64_t stderr_bytes;
  /** Sizes of /box, and of /tmp and /dev/shm each. */
  uint64_t box_bytes;
  uint64_t scratch_bytes;
  uint64_t file_size_limit;
  /** Of the contents of output files together. */
  uint64_t output_files_bytes;
  /** That the box may use at once, in thousandths. */
  uint64_t cores_per_mille;
};

/** Its name and content follow. */
struct file_head {
  uint32_t name_bytes;
  uint32_t executable;
  uint64_t size;
};

/** Precedes all that a keeper says. */
struct frame {
  uint32_t kind;
  uint32_t length;
};

/** Content follows, all of it in as many messages as it takes, or none. */
struct output_file {
  uint32_t index;
  uint32_t unused;
  uint64_t size;
};

enum reason { no_reason, cpu_limit, wall_limit, output_limit, memory_limit, aborted, starved };

struct result {
  uint32_t end_code;
  uint32_t end_status;
  uint32_t reason;
  /** For so long the program could run and was not let. */
  uint32_t delay_milliseconds;
  /** 1: the slot holds more of the run than the next one may have; a word follows when it does not. */
  uint32_t unsettled;
  uint32_t unused;
  uint64_t wall_nanoseconds;
  uint64_t cpu_nanoseconds;
  uint64_t memory_peak_bytes;
  uint64_t memory_kills;
  uint64_t stdout_bytes;
  uint64_t stderr_bytes;
};

#endif
