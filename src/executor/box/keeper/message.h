// Messages on a keeper's socket; order in channel.c, the worker's side in structure.ts. Every field has 64 bits.
#ifndef MESSAGE_H
#define MESSAGE_H

#include <stdint.h>

struct hello {
  uint64_t kind;
  uint64_t cgroup_version;
  /** The group counts swap; it has its own share of the CPU. */
  uint64_t counts_swap;
  uint64_t shares_cpu;
  /** The program has the keeper's own stdin and stdout, by which the worker speaks with it. */
  uint64_t own_streams;
  /** Each box has a network of its own (loopback.c). */
  uint64_t loopback;
  /** Of the boxes' filter, and of the keeper's own. */
  uint64_t filter_bytes;
  uint64_t keeper_filter_bytes;
  uint64_t layout_bytes;
  /** A runtime that is to be prestarted; 0 without one. It may have all the stack that the limits leave. */
  uint64_t runtime_bytes;
  uint64_t runtime_arguments;
  uint64_t runtime_unlimited_stack;
};

struct request {
  uint64_t kind;
  uint64_t argument_bytes;
  uint64_t arguments;
  uint64_t variables;
  uint64_t files;
  uint64_t processes;
  uint64_t unlimited_stack;
  /** The program's stderr is its stdout. */
  uint64_t merges_stderr;
  /** Names of files that are reported when the program has left them. */
  uint64_t output_files;
  uint64_t stdin_bytes;
  uint64_t memory_bytes;
  uint64_t cpu_nanoseconds;
  uint64_t wall_nanoseconds;
  uint64_t stdout_bytes;
  uint64_t stderr_bytes;
  /** Sizes of /box, and of /tmp and /dev/shm each. */
  uint64_t box_bytes;
  uint64_t scratch_bytes;
  /** Of the contents of output files together. */
  uint64_t output_files_bytes;
  /** That the box may use at once, in thousandths. */
  uint64_t cores_per_mille;
};

/** Its name and content follow. */
struct file_head {
  uint64_t name_bytes;
  uint64_t executable;
  uint64_t size;
};

/** Precedes all that a keeper says. */
struct frame {
  uint64_t kind;
  uint64_t length;
};

/** Content follows, all of it in as many messages as it takes, or none. */
struct output_file {
  uint64_t index;
  uint64_t size;
};

enum reason { no_reason, cpu_limit, wall_limit, output_limit, memory_limit, aborted, starved };

struct result {
  uint64_t end_code;
  uint64_t end_status;
  uint64_t reason;
  /** For so long the program could run and was not let. */
  uint64_t delay_milliseconds;
  /** 1: the slot holds more of the run than the next one may have; a message follows when it does not. */
  uint64_t unsettled;
  uint64_t wall_nanoseconds;
  uint64_t cpu_nanoseconds;
  uint64_t memory_peak_bytes;
  uint64_t memory_kills;
  uint64_t stdout_bytes;
  uint64_t stderr_bytes;
};

#endif
