// How a worker follows commands. Operators' come with lease renewals. Signals pause at once, even without a database, and
// are then written into the worker's row, which says what is wanted.
import type { Logger } from '#log'
import type { DesiredState } from './command.ts'

const wantedBy = {
  SIGTSTP: 'paused',
  SIGCONT: 'working',
} as const satisfies Record<string, DesiredState>

/** SIGTSTP pauses, SIGCONT resumes. */
type PauseSignal = keyof typeof wantedBy

export interface CommandFollower {
  /** True while it must take nothing. */
  readonly isPaused: boolean
  /** Resolves when it must finish what it has and end, or begin again. */
  readonly over: Promise<'drained' | 'restarted'>
  /** Follows the worker's row; askedAt: when the row was read, by performance.now(). */
  follow(wanted: DesiredState, askedAt: number): void
  /** Resolves when the signal is in the row. */
  signal(name: PauseSignal): Promise<void>
}

interface CommandFollowerOptions {
  /** However long that takes. @returns false when nothing changed. */
  readonly record: (wanted: DesiredState, signal: PauseSignal) => Promise<boolean>
  readonly log: Logger
}

/** A worker works until a command says otherwise. */
export function createCommandFollower({ record, log }: CommandFollowerOptions): CommandFollower {
  const { promise: over, resolve: end } = Promise.withResolvers<'drained' | 'restarted'>()
  let wanted: DesiredState = 'working'
  /** Signals not in the row yet; until then the worker takes nothing. */
  let unrecorded = 0
  /** A signal resumes only what a signal paused: SIGCONT also follows every SIGSTOP. */
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
    const next = wantedBy[name]
    const isChanged = await record(next, name)
    recordedAt = performance.now()
    // Unchanged: it is paused already, or drains, as the next renewal says.
    enter(next)
    isPausedBySignal = isChanged && next === 'paused'
  }

  return {
    get isPaused() {
      return wanted !== 'working' || unrecorded > 0
    },
    over,
    follow(next, askedAt) {
      // An answer from before the signal was recorded would undo it for a moment.
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
