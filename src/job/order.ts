// An order to a worker, by an operator at the command line or by a signal to its process. It stands in the worker's row, which
// the worker reads with each renewal of its lease, and which the queue asks before it hands out a job.
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { errorCode, json } from '#database'
import type { Database } from '#database'
import { schemaVersion } from '#event'
import type { Metadata, WorkerEvent } from '#event'
import type { Logger } from '#log'
import { untilAvailable } from './retry.ts'

/** What may be wanted of a worker; `drained` is for good. */
export type Wanted = 'working' | 'paused' | 'drained'

const types = {
  working: 'worker.resumed',
  paused: 'worker.paused',
  drained: 'worker.drained',
} as const satisfies Record<Wanted, WorkerEvent['type']>

/** SQLSTATE of runledger.order_worker: it has ended, or was given up and goes on under another id. */
export const workerGone = 'RL005'

// How long a worker that was given up takes to come back under a new id.
const returnMilliseconds = 200

/**
 * @returns false when nothing changed: it was so already, or the worker drains.
 * @throws with the code `workerGone`.
 */
export async function orderWorker(
  sql: Database,
  worker: { readonly id: string; readonly host: string },
  wanted: Wanted,
  actor: Metadata['actor'],
): Promise<boolean> {
  const event: WorkerEvent = { type: types[wanted], data: { host: worker.host } }
  const [row] = await sql<[{ changed: boolean }]>`
    select runledger.order_worker(
      ${worker.id}, ${wanted}, ${event.type}, ${schemaVersion}, ${json(sql, event.data)}, ${json(sql, { actor })}
    ) as changed`
  return row.changed
}

/** A worker's order to itself, under whatever id it has by the time that the database is there. @returns as orderWorker. */
export async function orderItself(
  sql: Database,
  claim: { readonly workerId: string },
  wanted: Wanted,
  actor: Metadata['actor'],
  log: Logger,
): Promise<boolean> {
  for (;;) {
    try {
      return await untilAvailable(
        () => orderWorker(sql, { id: claim.workerId, host: hostname() }, wanted, actor),
        log,
      )
    } catch (error) {
      if (errorCode(error) !== workerGone) throw error
      await sleep(returnMilliseconds)
    }
  }
}
