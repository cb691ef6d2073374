// What a worker makes of its orders. Operators' come with each renewal of the lease. Signals pause at once, whether or not the
// database is there, and are then written into the row as orders are, so that there is one truth of what is wanted.
import type { Logger } from '#log'
import type { Wanted } from './order.ts'

/** The signals that operators of queues know: the first pauses, the second goes on. */
export type PauseSignal = 'SIGTSTP' | 'SIGCONT'

/** What a worker may do. */
export interface Obedience {
  /** True while it must take nothing. */
  readonly isPaused: boolean
  /** Resolves when it is to finish what it has and end. */
  readonly drained: Promise<void>
  /** What its row says; askedAt: when it was asked, by performance.now(). */
  heed(wanted: Wanted, askedAt: number): void
  /** Resolves when the signal stands in the row. */
  signal(name: PauseSignal): Promise<void>
}

export interface ObedienceOptions {
  /** Writes an order into the row, however long that takes. @returns false when nothing changed. */
  readonly record: (wanted: Wanted, signal: PauseSignal) => Promise<boolean>
  readonly log: Logger
}

/** Creates it: a worker works unless it is told otherwise. */
export function createObedience({ record, log }: ObedienceOptions): Obedience {
  const { promise: drained, resolve: drain } = Promise.withResolvers<void>()
  let wanted: Wanted = 'working'
  /** Signals that are not in the row yet: until then the worker takes nothing. */
  let unrecorded = 0
  /** A signal has paused it, so that a signal may resume it: SIGCONT also follows every SIGSTOP, and undoes no operator. */
  let isPausedBySignal = false
  let recordedAt = Number.NEGATIVE_INFINITY
  let recording = Promise.resolve()

  function follow(next: Wanted): void {
    if (next === wanted) return
    wanted = next
    log.info(next === 'working' ? 'worker.resumed' : `worker.${next}`)
    if (next === 'working') isPausedBySignal = false
    if (next === 'drained') drain()
  }

  async function recordSignal(name: PauseSignal): Promise<void> {
    if (name === 'SIGCONT' && !isPausedBySignal) return
    const next = name === 'SIGTSTP' ? 'paused' : 'working'
    const isChanged = await record(next, name)
    recordedAt = performance.now()
    // Unchanged, it is paused already, or drains, which the next renewal tells.
    follow(next)
    isPausedBySignal = isChanged && next === 'paused'
  }

  return {
    get isPaused() {
      return wanted !== 'working' || unrecorded > 0
    },
    drained,
    heed(next, askedAt) {
      // An answer from before the signal was recorded would undo it for a moment.
      if (askedAt >= recordedAt) follow(next)
    },
    signal(name) {
      unrecorded += 1
      recording = recording
        .then(() => recordSignal(name))
        .catch((error: unknown) => log.error({ err: error, signal: name }, 'worker.order_failed'))
        .finally(() => (unrecorded -= 1))
      return recording
    },
  }
}
