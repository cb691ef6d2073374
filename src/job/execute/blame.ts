// Decides from the error alone what is to blame when a run failed and its program did not. A trial
// shows the rest (suspension.ts).
import { errorCode } from '#database'
import { SandboxError, stepsOfRequest } from '#executor'

/**
 * `request`: no other attempt would succeed. `run`: the failure concerns this run only, and another worker may succeed.
 * `outside`: something other than the request caused it, though a trial right after it may pass. `unknown`: the request
 * caused it if the worker is well.
 */
type Blame = 'request' | 'run' | 'outside' | 'unknown'

/**
 * A language that is not offered, a missing blob, a checker thread that fails, and a box that other work of the host kept from
 * running, or for whose memory one of its processes was killed.
 */
const stepsOfOneRun: ReadonlySet<string> = new Set([
  'language.missing',
  'blob.read',
  'checker.thread',
  'box.starved',
  'box.memory',
])

/** A keeper that was killed or hangs, a cgroup that cannot be created, and things that are gone, replaced or closed. */
const stepsFromOutside =
  /^(?:keeper\.(?:gone|silent|spawn|start|compile)|cgroup\.|slot\.|language\.|body\.|cache\.|executor\.)/

/** The box's first process, which no program can end, was killed. */
const wordsFromOutside = /^keeper\.failed: box\.watch: /

/**
 * Codes for data that cannot be passed on: Node's own errors, and invalid or too long values. All other codes of system calls
 * or of the database come from outside.
 */
const codesOfRequest = /^(?:ERR_|E2BIG$|EINVAL$|ENAMETOOLONG$)/

export function blame(error: unknown): Blame {
  if (!(error instanceof SandboxError)) return hasOutsideCode(error) ? 'outside' : 'unknown'
  const { step, message } = error
  if (Object.values<string>(stepsOfRequest).includes(step)) return 'request'
  if (stepsOfOneRun.has(step)) return 'run'
  if (stepsFromOutside.test(step) || wordsFromOutside.test(message)) return 'outside'
  return hasOutsideCode(error) ? 'outside' : 'unknown'
}

function hasOutsideCode(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = errorCode(error)
  return code === undefined ? hasOutsideCode(error.cause) : !codesOfRequest.test(code)
}
