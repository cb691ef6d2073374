// An operator's order to a worker. It stands in the worker's row, which the worker reads at each heartbeat.
import { cancelOnAbort, json } from '#database'
import type { Database } from '#database'
import { schemaVersion } from '#event'
import type { Metadata } from '#event'
import { orderTypes } from '#order'
import type { DesiredState } from '#order'

/** How it stands after an order. */
export interface SteeredWorker {
  readonly id: string
  readonly host: string
  readonly state: string
  readonly wanted: DesiredState
  /** False: it was so already, or it drains or restarts, which no order undoes. */
  readonly changed: boolean
}

/**
 * @param signal withdraws an unsent statement.
 * @returns null when no such worker lives.
 */
export async function steerWorker(
  sql: Database,
  id: string,
  wanted: DesiredState,
  metadata: Metadata,
  signal: AbortSignal,
): Promise<SteeredWorker | null> {
  const order = sql<SteeredWorker[]>`
    select id, host, state, wanted_now as wanted, changed
    from runledger.steer_worker(
      ${id}, ${wanted}, ${orderTypes[wanted]}, ${schemaVersion}, ${json(sql, metadata)}
    )`
  const [row] = await cancelOnAbort(order, signal)
  return row ?? null
}
