// An order to a worker, by an operator or a signal. It stands in the worker's row, read at each lease renewal and
// before a job is handed out.
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { errorCode, json, sqlState } from '#database'
import type { Database } from '#database'
import { schemaVersion } from '#event'
import type { Metadata, WorkerEvent } from '#event'
import type { Logger } from '#log'
import { untilAvailable } from './retry.ts'

/** `drained` is for good. */
export type DesiredState = 'working' | 'paused' | 'drained' | 'restarted'

/** The event that each order is. */
export const orderTypes = {
  working: 'worker.resumed',
  paused: 'worker.paused',
  drained: 'worker.drained',
  restarted: 'worker.restarted',
} as const satisfies Record<DesiredState, WorkerEvent['type']>

// After this a worker that was given up is back under a new id.
const returnMilliseconds = 200

/**
 * @returns false when nothing changed, or the worker drains.
 * @throws with the code `workerGivenUp`.
 */
export async function orderWorker(
  sql: Database,
  worker: { readonly id: string; readonly host: string },
  wanted: DesiredState,
  actor: Metadata['actor'],
): Promise<boolean> {
  const event: WorkerEvent = { type: orderTypes[wanted], data: { host: worker.host } }
  const [row] = await sql<[{ changed: boolean }]>`
    select runledger.order_worker(
      ${worker.id}, ${wanted}, ${event.type}, ${schemaVersion}, ${json(sql, event.data)}, ${json(sql, { actor })}
    ) as changed`
  return row.changed
}

/** A worker's order to itself, under whatever id it has. @returns as orderWorker. */
export async function orderItself(
  sql: Database,
  worker: { readonly workerId: string },
  wanted: DesiredState,
  actor: Metadata['actor'],
  log: Logger,
): Promise<boolean> {
  for (;;) {
    try {
      return await untilAvailable(
        () => orderWorker(sql, { id: worker.workerId, host: hostname() }, wanted, actor),
        log,
      )
    } catch (error) {
      if (errorCode(error) !== sqlState.workerGivenUp) throw error
      await sleep(returnMilliseconds)
    }
  }
}
