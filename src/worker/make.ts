// First phase of a start: creates the worker's parts, each after those that it needs. No part
// takes jobs or reports anything yet.
import { exitForConfig } from '#config'
import { checkLogin, createDatabase, workerRoles } from '#database'
import type { Database } from '#database'
import { createBlobCache } from '#executor'
import type { BlobCache } from '#executor'
import {
  commandItself,
  createLease,
  createCommandFollower,
  createSuspension,
  fetchBlob,
} from '#job'
import type { Lease, CommandFollower, Suspension } from '#job'
import type { Logger } from '#log'
import { exitIfOlder } from '#release'
import { makeExecutor } from './executor.ts'
import type { WorkerExecutor } from './executor.ts'
import type { WorkerSettings } from './settings.ts'

// Statements take milliseconds. A connection whose statement has no answer for about this long is closed.
export const statementSeconds = 2
// One transaction requeues a thousand attempts of lost workers.
const sweepSeconds = 10
// One statement removes a thousand rows, or writes a result of up to 45 MB, and no caller waits for it.
const patientSeconds = 60

/** The sweep and retention have pools of their own, so that lost workers are found even when the other pools are busy. */
interface Pools {
  readonly database: Database
  readonly sweep: Database
  readonly retention: Database
  /** For large results. */
  readonly patient: Database
}

export interface Parts extends WorkerExecutor {
  readonly settings: WorkerSettings
  readonly log: Logger
  readonly pools: Pools
  readonly lease: Lease
  readonly blobs: BlobCache
  readonly suspension: Suspension
  readonly commands: CommandFollower
  /** Fires when runs and deliveries under way must be requeued. */
  readonly giveBack: AbortController
}

export async function makeParts(settings: WorkerSettings, log: Logger): Promise<Parts> {
  const pools = await makePools(settings)
  await exitIfOlder(pools.database, log)
  const { database } = pools
  const lease = createLease({
    url: settings.DATABASE_URL,
    leaseSeconds: settings.LEASE_SECONDS,
    log,
  })
  const onChange = (): void => lease.renew()
  const made = await makeExecutor(settings, log, onChange)
  return {
    ...made,
    settings,
    log,
    pools,
    lease,
    blobs: createBlobCache({
      directory: `${settings.CACHE_DIRECTORY}/blob`,
      capacityBytes: settings.BLOB_CACHE_BYTES,
      fetch: (accountId, name) => fetchBlob(database, log, accountId, name),
    }),
    suspension: createSuspension({ executor: made.executor, log, onChange }),
    commands: createCommandFollower({
      record: (wanted, signal) => commandItself(database, lease, wanted, { signal }, log),
      log,
    }),
    giveBack: new AbortController(),
  }
}

async function makePools({
  DATABASE_URL: url,
  DATABASE_CONNECTIONS,
}: WorkerSettings): Promise<Pools> {
  const open = (name: string, connections: number, seconds: number): Database =>
    createDatabase({ url, connections, name: `runledger ${name}`, statementSeconds: seconds })
  const pools = {
    database: open('worker', DATABASE_CONNECTIONS, statementSeconds),
    sweep: open('sweep', 1, sweepSeconds),
    retention: open('retention', 1, patientSeconds),
    patient: open('results', 1, patientSeconds),
  }
  const refusal = await checkLogin(pools.database, url, workerRoles)
  if (refusal !== null) exitForConfig(`DATABASE_URL: ${refusal}`)
  return pools
}
