// Messages on a keeper's socket. channel.c describes their order, and structure.ts is the worker's side. Every field
// has 64 bits.
#ifndef MESSAGE_H
#define MESSAGE_H

#include <stdint.h>

struct hello {
  uint64_t kind;
  uint64_t cgroup_version;
  /** 1 when the cgroup counts swap. */
  uint64_t counts_swap;
  /** 1 when the cgroup has its own share of the CPU. */
  uint64_t shares_cpu;
  /** 1 when the program uses the keeper's stdin and stdout, so that the worker can talk with it. */
  uint64_t own_streams;
  /** 1 when each box has a network of its own (loopback.c). */
  uint64_t loopback;
  /** Size of the boxes' filter, and of the keeper's. */
  uint64_t filter_bytes;
  uint64_t keeper_filter_bytes;
  uint64_t layout_bytes;
  /** The runtime to prestart; 0 without one. With an unlimited stack it may use all that the limits leave. */
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
  /** 1 when the program's stderr is its stdout. */
  uint64_t merges_stderr;
  /** Number of output files. Those that the program has left are sent after the run. */
  uint64_t output_files;
  uint64_t stdin_bytes;
  uint64_t memory_bytes;
  uint64_t cpu_nanoseconds;
  uint64_t wall_nanoseconds;
  uint64_t stdout_bytes;
  uint64_t stderr_bytes;
  /** Size of /box; size of /tmp and of /dev/shm. */
  uint64_t box_bytes;
  uint64_t scratch_bytes;
  /** The most bytes of the contents of all output files together. */
  uint64_t output_files_bytes;
  /** Cores that the box may use at once, in thousandths. */
  uint64_t cores_per_mille;
};

/** Begins a file. Its name and content follow. */
struct file_head {
  uint64_t name_bytes;
  uint64_t executable;
  uint64_t size;
};

/** Precedes each message of the keeper. */
struct frame {
  uint64_t kind;
  uint64_t length;
};

/** Precedes a part of an output file's content. The whole content is sent, in one or more messages, or none of it. */
struct output_file {
  uint64_t index;
  uint64_t size;
};

enum reason { no_reason, cpu_limit, wall_limit, output_limit, memory_limit, aborted, starved, squeezed };

struct result {
  uint64_t end_code;
  uint64_t end_status;
  uint64_t reason;
  /** How long the program could run but got no processor. */
  uint64_t delay_milliseconds;
  /** 1 when the run left more memory charged to the slot than the next run may find. 's' follows when that is freed. */
  uint64_t unsettled;
  uint64_t wall_nanoseconds;
  uint64_t cpu_nanoseconds;
  uint64_t memory_peak_bytes;
  uint64_t memory_kills;
  uint64_t stdout_bytes;
  uint64_t stderr_bytes;
};

#endif
