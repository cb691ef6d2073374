// Makes a worker follow commands. Operators' commands arrive with lease renewals. A signal takes effect at once, even without
// a database, and is then written into the worker's row, which holds the wanted state.
import type { Logger } from '#log'
import type { DesiredState } from './command.ts'

/** SIGTSTP pauses, SIGCONT resumes. */
type PauseSignal = 'SIGTSTP' | 'SIGCONT'

export interface CommandFollower {
  /** True while the worker must take no jobs. */
  readonly isPaused: boolean
  /** Resolves when the worker must finish its jobs and then end, or restart. */
  readonly over: Promise<'drained' | 'restarted'>
  /** Follows the worker's row. `askedAt` is when the row was asked for, by performance.now(). */
  follow(wanted: DesiredState, askedAt: number): void
  /** Resolves when the signal is in the row. */
  signal(name: PauseSignal): Promise<void>
}

interface CommandFollowerOptions {
  /** Writes the wanted state into the row, however long that takes. @returns false when nothing changed. */
  readonly record: (wanted: DesiredState, signal: PauseSignal) => Promise<boolean>
  readonly log: Logger
}

/** Creates a follower. The worker works until a command says otherwise. */
export function createCommandFollower({ record, log }: CommandFollowerOptions): CommandFollower {
  const { promise: over, resolve: end } = Promise.withResolvers<'drained' | 'restarted'>()
  let wanted: DesiredState = 'working'
  /** Signals that are not in the row yet. Until they are, the worker takes no jobs. */
  let unrecorded = 0
  /** SIGCONT resumes only what a signal paused, because SIGCONT also follows every SIGSTOP. */
  let isPausedBySignal = false
  let recordedAt = Number.NEGATIVE_INFINITY
  let recording = Promise.resolve()

  function enter(next: DesiredState): void {
    if (next === wanted) return
    wanted = next
    log.info(next === 'working' ? 'worker.resumed' : `worker.${next}`)
    if (next === 'working') isPausedBySignal = false
    if (next === 'drained' || next === 'restarted') end(next)
  }

  async function recordSignal(name: PauseSignal): Promise<void> {
    if (name === 'SIGCONT' && !isPausedBySignal) return
    const next = name === 'SIGTSTP' ? 'paused' : 'working'
    const isChanged = await record(next, name)
    recordedAt = performance.now()
    // When nothing changed, the worker was in that state already, or drains, as the next renewal says.
    enter(next)
    isPausedBySignal = isChanged && next === 'paused'
  }

  return {
    get isPaused() {
      return wanted !== 'working' || unrecorded > 0
    },
    over,
    follow(next, askedAt) {
      // An answer that was asked for before the signal was recorded would undo the signal for a moment.
      if (askedAt >= recordedAt) enter(next)
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
