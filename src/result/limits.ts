// Limits in force, as callers read them: the names and units of requests.
import * as v from 'valibot'

const phase = v.pipe(
  v.object({
    cpu_seconds: v.number(),
    wall_seconds: v.number(),
    memory_bytes: v.number(),
    processes: v.number(),
    stdout_bytes: v.number(),
    stderr_bytes: v.number(),
    disk_bytes: v.number(),
  }),
  v.transform((told) => ({
    cpu_time: told.cpu_seconds,
    wall_time: told.wall_seconds,
    memory: told.memory_bytes,
    stdout: told.stdout_bytes,
    stderr: told.stderr_bytes,
    disk: told.disk_bytes,
    processes: told.processes,
  })),
)

/** As execution.started has them. */
const recorded = v.object({ compile: v.nullable(phase), run: phase })

/** Of each phase, in seconds and bytes; `compile` is null for a language without a compiler. */
export type AttemptLimits = v.InferOutput<typeof recorded>

/** Null when there are none, or this release would not write them so. */
export function readLimits(stored: unknown): AttemptLimits | null {
  const parsed = v.safeParse(recorded, stored)
  return parsed.success ? parsed.output : null
}
