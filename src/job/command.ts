// Commands to a worker, by an operator or a signal. A command is in the worker's row, which is read at each lease
// renewal and before an attempt starts.
import { setTimeout as sleep } from 'node:timers/promises'
import { cancelOnAbort, json } from '#database'
import type { Database } from '#database'
import { schemaVersion } from '#event'
import type { Metadata } from '#event'
import type { Logger } from '#log'
import { untilAvailable } from './retry.ts'

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
