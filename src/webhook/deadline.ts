// A time limit as an AbortSignal. AbortSignal.timeout cannot be cleared, and its timer does not keep the process alive.

/** The signal's reason once time is up. */
export class DeadlineError extends Error {
  override readonly name = 'DeadlineError'

  constructor(step: string, seconds: number) {
    super(`${step}: no answer within ${seconds} s`)
  }
}

/** `clear` must be called when the work is over. */
interface Deadline {
  readonly signal: AbortSignal
  clear(): void
}

/**
 * Its signal also follows the parent's.
 * @param step names in the error what the time was for.
 */
export function createDeadline(step: string, seconds: number, parent?: AbortSignal): Deadline {
  const controller = new AbortController()
  const follow = (): void => controller.abort(parent?.reason)
  const timer = setTimeout(() => controller.abort(new DeadlineError(step, seconds)), seconds * 1000)
  if (parent?.aborted === true) follow()
  parent?.addEventListener('abort', follow, { once: true })
  return {
    signal: controller.signal,
    clear() {
      clearTimeout(timer)
      parent?.removeEventListener('abort', follow)
    },
  }
}
