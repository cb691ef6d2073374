// The fields of the worker's lines on a keeper's socket, in their order (channel.c). message.ts has the same names.
#ifndef MESSAGE_H
#define MESSAGE_H

#include <stdint.h>

#define HELLO_FIELDS(FIELD)                                                                                            \
  FIELD(cgroup_version)                                                                                                \
  /* 1 when the cgroup counts swap. */                                                                                 \
  FIELD(counts_swap)                                                                                                   \
  /* 1 when the cgroup has its own share of the CPU. */                                                                \
  FIELD(shares_cpu)                                                                                                    \
  /* 1 when the program's stdin and stdout lead to the keeper's, so that the worker can talk with it (carry.c). */      \
  FIELD(own_streams)                                                                                                   \
  /* 1 when each box has a network of its own (loopback.c). */                                                         \
  FIELD(loopback)                                                                                                      \
  /* Size of the boxes' filter, and of the keeper's. */                                                                \
  FIELD(filter_bytes)                                                                                                  \
  FIELD(keeper_filter_bytes)                                                                                           \
  FIELD(layout_bytes)                                                                                                  \
  /* The runtime to prestart; 0 without one. With an unlimited stack it may use all that the limits leave. */          \
  FIELD(runtime_bytes)                                                                                                 \
  FIELD(runtime_arguments)                                                                                             \
  FIELD(runtime_unlimited_stack)

#define REQUEST_FIELDS(FIELD)                                                                                          \
  FIELD(argument_bytes)                                                                                                \
  FIELD(arguments)                                                                                                     \
  FIELD(variables)                                                                                                     \
  FIELD(files)                                                                                                         \
  FIELD(processes)                                                                                                     \
  FIELD(unlimited_stack)                                                                                               \
  /* 1 when the program's stderr is its stdout. */                                                                     \
  FIELD(merges_stderr)                                                                                                 \
  /* Number of output files. Those that the program has left are sent after the run. */                                \
  FIELD(output_files)                                                                                                  \
  FIELD(stdin_bytes)                                                                                                   \
  FIELD(memory_bytes)                                                                                                  \
  FIELD(cpu_nanoseconds)                                                                                               \
  FIELD(wall_nanoseconds)                                                                                              \
  FIELD(stdout_bytes)                                                                                                  \
  FIELD(stderr_bytes)                                                                                                  \
  /* Size of /box; size of /tmp and of /dev/shm. */                                                                    \
  FIELD(box_bytes)                                                                                                     \
  FIELD(scratch_bytes)                                                                                                 \
  /* The most bytes of the contents of all output files together. */                                                   \
  FIELD(output_files_bytes)                                                                                            \
  /* Cores that the box may use at once, in thousandths. */                                                            \
  FIELD(cores_per_mille)

/** Begins a file. Its name and content follow. */
#define FILE_FIELDS(FIELD) FIELD(name_bytes) FIELD(executable) FIELD(size)

/** Begins the name of an output file. */
#define OUTPUT_FILE_FIELDS(FIELD) FIELD(name_bytes)

#define AS_MEMBER(name) uint64_t name;
#define AS_NAME(name) #name,

struct hello {
  HELLO_FIELDS(AS_MEMBER)
};
struct request {
  REQUEST_FIELDS(AS_MEMBER)
};
struct file {
  FILE_FIELDS(AS_MEMBER)
};
struct output_file {
  OUTPUT_FILE_FIELDS(AS_MEMBER)
};

/** Parses a line into a structure of its fields. Fails when a name is not the expected one. */
#define PARSE_LINE(line, kind, FIELDS, target)                                                                         \
  parse_line(line, kind, (const char *const[]){FIELDS(AS_NAME)}, (uint64_t *)(target), sizeof *(target) / sizeof(uint64_t))

#endif
