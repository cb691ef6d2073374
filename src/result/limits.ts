// Limits in force, as the log has them and callers read them: the names and units of requests.
import * as v from 'valibot'

const phase = v.object({
  cpu_time: v.number(),
  wall_time: v.number(),
  memory: v.number(),
  stdout: v.number(),
  stderr: v.number(),
  disk: v.number(),
  processes: v.number(),
})

/** As execution.started has them. */
const recorded = v.object({ compile: v.nullable(phase), run: phase })

/** Of each phase, in seconds and bytes; `compile` is null for a language without a compiler. */
export type AttemptLimits = v.InferOutput<typeof recorded>

/** Null when there are none, or this release would not write them so. */
export function readLimits(stored: unknown): AttemptLimits | null {
  const parsed = v.safeParse(recorded, stored)
  return parsed.success ? parsed.output : null
}
