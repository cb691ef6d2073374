// An attempt that failed although its program did not: what is to blame, and what the log says of it. `blame` decides from the
// error alone. A trial shows the rest (suspension.ts).
import { errorCode } from '#database'
import type { EventData } from '#event'
import { SandboxError, stepsOfRequest } from '#executor'
import { LeaseExpiredError } from '#lease'
import type { Attempt, AttemptDependencies } from './attempt.ts'
import type { Suspension } from './suspension.ts'

export interface Loss {
  readonly loss: EventData['execution.interrupted']
  /** True when the request itself causes the failure, which no further attempt would change. */
  readonly isLast: boolean
}

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

/**
 * Whether the request itself caused a failure: the error's step says so, or the worker is well and nothing from outside
 * struck. A worker that is not well is suspended, because it would harm other submissions.
 */
export async function isOfRequest(
  {
    suspension,
    shutdown,
  }: Pick<AttemptDependencies, 'shutdown'> & { readonly suspension: Suspension },
  { language, code, identity }: Attempt,
  error: unknown,
): Promise<boolean> {
  const blamed = blame(error)
  if (blamed !== 'unknown' && blamed !== 'outside') return blamed === 'request'
  const isOver = (): boolean => identity.signal.aborted || shutdown.aborted
  if (code === null || isOver()) return false
  const isWell = await suspension.noteFailure(language, error)
  return isWell && blamed === 'unknown' && !isOver()
}

/** Describes why an attempt is requeued, and whether that spends an attempt. */
export function describeLoss(
  error: unknown,
  { shutdown, executor }: Pick<AttemptDependencies, 'shutdown' | 'executor'>,
): Loss['loss'] {
  if (shutdown.aborted) return { reason: 'shutdown', spends_attempt: false }
  if (error instanceof LeaseExpiredError) return { reason: 'lease_expired', spends_attempt: false }
  if (!(error instanceof SandboxError)) {
    return { reason: 'sandbox_failed', spends_attempt: true, message: 'unexpected failure' }
  }
  return {
    reason: 'sandbox_failed',
    // Without a slot the program never ran, so the loss is not its fault.
    spends_attempt: !(error.step === 'slot.acquire' && executor.slots === 0),
    step: error.step,
    message: error.message,
  }
}
