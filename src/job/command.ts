// Commands to a worker, by an operator or a signal. The worker's row holds the wanted state. It is read at each lease renewal
// and before an attempt starts. A signal takes effect at once, even without a database, and is then written into the row.
import { setTimeout as sleep } from 'node:timers/promises'
import { cancelOnAbort, json, untilAvailable } from '#database'
import type { Database } from '#database'
import { schemaVersion } from '#event'
import type { Metadata } from '#event'
import type { Logger } from '#log'

/** `drained` is final. */
export type DesiredState = 'working' | 'paused' | 'drained' | 'restarted'

/** The state that each command asks for. */
export const wantedBy = {
  pause: 'paused',
  drain: 'drained',
  restart: 'restarted',
  resume: 'working',
} as const satisfies Record<string, DesiredState>

/** A worker after a command. */
export interface CommandedWorker {
  readonly id: string
  readonly host: string
  readonly state: string
  readonly wanted: DesiredState
  /** False when the worker was in that state already, or when it drains or restarts, which no command undoes. */
  readonly changed: boolean
}

// Within this time a worker that was declared lost is back under a new id.
const returnMilliseconds = 200

/**
 * Writes a command into a worker's row.
 * @param signal withdraws an unsent statement.
 * @returns null when no such worker lives.
 */
export async function commandWorker(
  sql: Database,
  id: string,
  wanted: DesiredState,
  metadata: Metadata,
  signal?: AbortSignal,
): Promise<CommandedWorker | null> {
  const query = sql<CommandedWorker[]>`
    select id, host, state, wanted_now as wanted, changed
    from runledger.command_worker(${id}, ${wanted}, ${schemaVersion}, ${json(sql, metadata)})`
  const [row] = await cancelOnAbort(query, signal)
  return row ?? null
}

/**
 * Writes a worker's command to itself, under the id that it has at that time.
 * @returns false when nothing changed or the worker drains.
 */
export async function commandItself(
  sql: Database,
  worker: { readonly workerId: string },
  wanted: DesiredState,
  actor: Metadata['actor'],
  log: Logger,
): Promise<boolean> {
  for (;;) {
    const row = await untilAvailable(
      () => commandWorker(sql, worker.workerId, wanted, { actor }),
      log,
    )
    if (row !== null) return row.changed
    await sleep(returnMilliseconds)
  }
}

/** SIGTSTP pauses, SIGCONT resumes. */
type PauseSignal = 'SIGTSTP' | 'SIGCONT'

interface CommandFollower {
  /** True while the worker must take no jobs. */
  readonly isPaused: boolean
  /** Resolves when the worker must finish its jobs and then end, or restart. */
  readonly over: Promise<'drained' | 'restarted'>
  /** Follows the worker's row. `askedAt` is when the row was asked for, by performance.now(). */
  follow(wanted: DesiredState, askedAt: number): void
  /** Resolves when the signal is in the row. */
  signal(name: PauseSignal): Promise<void>
}

/**
 * Makes a worker follow commands. It works until a command says otherwise.
 * @param record writes the wanted state into the row, however long that takes, and returns false when nothing changed.
 */
export function createCommandFollower(
  record: (wanted: DesiredState, signal: PauseSignal) => Promise<boolean>,
  log: Logger,
): CommandFollower {
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
