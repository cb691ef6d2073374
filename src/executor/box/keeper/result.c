// Measures a run that is over, and reports it.
#include "keeper.h"

#include <inttypes.h>
#include <signal.h>

struct result measure(enum reason reason, const struct stream streams[2], int64_t started, uint64_t share) {
  bool has_end = has_ended();
  int64_t ended = has_end ? shared->end_nanoseconds : now();
  struct result result = {
      .end = has_end ? shared->end_code : 0,
      .status = shared->end_status,
      .reason = reason,
      .delay_milliseconds = run_delay() / 1000000,
      .wall_nanoseconds = (uint64_t)(ended - started),
      .cpu_nanoseconds = group_cpu_nanoseconds(),
      .memory_peak_bytes = group_memory_peak(share),
      .memory_kills = group_memory_kills(),
      .stdout_bytes = streams[0].received,
      .stderr_bytes = streams[1].received,
  };
  require_no_failure();
  if (result.memory_kills > 0 && !cgroup->has_hit_limit()) result.reason = squeezed;
  if (!has_end && reason == no_reason && result.memory_kills == 0)
    die_with("box.watch", "the box ended without a status");
  return result;
}

static const char *name_end(int end) { return end == 0 ? "none" : end == CLD_EXITED ? "exited" : "killed"; }

void append_result(const struct result *result) {
  static const char *const reasons[] = {
      [no_reason] = "none",           [cpu_limit] = "cpu_limit",       [wall_limit] = "wall_limit",
      [output_limit] = "output_limit", [memory_limit] = "memory_limit", [aborted] = "aborted",
      [starved] = "starved",          [squeezed] = "squeezed",
  };
  char line[line_bytes_most];
  snprintf(line, sizeof line,
           "result end=%s status=%d reason=%s delay_milliseconds=%" PRIu64 " unsettled=%d wall_nanoseconds=%" PRIu64
           " cpu_nanoseconds=%" PRIu64 " memory_peak_bytes=%" PRIu64 " memory_kills=%" PRIu64 " stdout_bytes=%" PRIu64
           " stderr_bytes=%" PRIu64,
           name_end(result->end), result->status, reasons[result->reason], result->delay_milliseconds,
           result->unsettled, result->wall_nanoseconds, result->cpu_nanoseconds, result->memory_peak_bytes,
           result->memory_kills, result->stdout_bytes, result->stderr_bytes);
  append_line(line);
}
