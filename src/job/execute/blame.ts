// Whose failure it is that a run failed and its program did not: what can be seen of it by itself. A trial shows the rest
// (suspension.ts).
import { errorCode } from '#database'
import { SandboxError, stepsOfRequest } from '#executor'

/**
 * `request`: no other attempt would go better. `run`: it says nothing of other runs, and another worker may do better. `outside`:
 * something other than the request struck, though a trial right after may pass. `unknown`: the request's, if the worker is well.
 */
type Blame = 'request' | 'run' | 'outside' | 'unknown'

/**
 * A language that is not offered, a blob that is gone, a checker that fails and a box that other work of the host kept from
 * running.
 */
const stepsOfOneRun: ReadonlySet<string> = new Set([
  'language.missing',
  'blob.read',
  'checker.thread',
  'box.starved',
])

/** A keeper that was killed or stands still, a cgroup that cannot be made, what is gone, replaced or closed. */
const stepsFromOutside =
  /^(?:keeper\.(?:gone|silent|spawn|start|compile)|cgroup\.|slot\.|language\.|body\.|cache\.|executor\.)/

/** The box's first process, which no program can end, was killed. */
const wordsFromOutside = /^keeper\.failed: box\.watch: /

/** A system call's or the database's, but for those that say that what was given cannot be: Node's own, and of words too long. */
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
