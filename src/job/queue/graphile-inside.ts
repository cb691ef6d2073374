// All that relies on internals of graphile-worker 0.18.0 and pg 8.23.1, its driver;
// test/job/queue/graphile-inside.test.ts fails when one changes. The figures are in docs/decisions/0002.
//
// The same in SQL, in sql/functions/queue/: job.enqueue_first writes rows of graphile_worker._private_jobs (add_job
// took 1.0 of a submission's 4.0 ms in PostgreSQL), job.lock_jobs and job.take_jobs remove those that are due,
// job.remove_execute and runledger.displace_low one that is not to run, job.find_task reads a task's number,
// job.wake_workers notifies as graphile-worker does. No other function names a private table.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool, PoolClient } from 'pg'

/** Gives a connection back; with a reason, or true, it is closed. */
export type Release = (because?: Error | boolean) => void

/** What graphile-worker needs to run a job and to remove its row. */
export interface JobRow {
  readonly id: string
  /** One that it registered; it runs no other. */
  readonly task_id: number
  readonly payload: object
}

/**
 * True for the statement that asks for a job, `get_job/<schema>`. Our answer takes a job and begins its attempt in one
 * statement that waits for no disk, instead of four transactions, three of which did.
 */
export function asksForJob(statement: unknown): boolean {
  return (
    typeof statement === 'object' &&
    statement !== null &&
    'name' in statement &&
    String(statement.name).startsWith('get_job/')
  )
}

/**
 * Disables LISTEN and UNLISTEN. Every notification wakes every listening connection, and notifying is a tenth of a
 * submission's cost in PostgreSQL: one connection listens for both runners.
 */
export function ignoreListening(client: PoolClient): void {
  const query = client.query.bind(client) as (...parameters: unknown[]) => Promise<unknown>
  client.query = ((...parameters: unknown[]) =>
    /^(UN)?LISTEN /.test(String(parameters[0]))
      ? Promise.resolve()
      : query(...parameters)) as PoolClient['query']
}

/**
 * On the connection on which graphile-worker is about to listen, listens to further channels, in the same statement: pg
 * wants one at a time. Its notifications come with graphile-worker's.
 * @param onListening from now on none is missed.
 */
export function listenAlso(
  client: PoolClient,
  channels: readonly string[],
  onListening: () => void,
): void {
  const query = client.query.bind(client) as (...parameters: unknown[]) => Promise<unknown>
  client.query = ((...parameters: unknown[]) => {
    const [text] = parameters
    if (!String(text).startsWith('LISTEN ')) return query(...parameters)
    const others = channels.map((channel) => ` LISTEN "${channel}";`).join('')
    const listening = query(`${String(text)}${others}`)
    // Whoever asked sees to a failure, and listens anew.
    listening.then(onListening, () => {})
    return listening
  }) as PoolClient['query']
}

/** Ours (job.wake_workers) name the task; graphile-worker's do not, but count as well. */
export function readAnnouncement(payload: string): { task?: unknown; count?: number } {
  try {
    const { task, count } = JSON.parse(payload) as { task?: unknown; count?: unknown }
    return { task, ...(Number.isInteger(count) && Number(count) > 0 && { count: Number(count) }) }
  } catch {
    return {} // anybody may notify anything
  }
}

/** graphile-worker gives a broken listening connection back twice while it stops; pg throws then. */
export function giveBackOnce(release: Release | undefined): Release {
  let isReleased = false
  return (because) => {
    if (isReleased) return
    isReleased = true
    release?.(because)
  }
}

// pg's messages for connections lost, refused or silent; these errors carry no code.
const connectionLost =
  /^(Connection terminated|timeout exceeded when trying to connect|Client (has encountered a connection error|was closed))/

/** Adds a code when the connection was lost. */
export function throwWithCode(error: unknown): never {
  if (error instanceof Error && !('code' in error) && connectionLost.test(error.message)) {
    throw Object.assign(error, { code: 'ECONNRESET' })
  }
  throw error
}

const idleMilliseconds = 5000

/** graphile-worker does not wait until its last jobs are marked complete; an ended pool would fail them, uncaught. */
export async function endIdle(pool: Pool): Promise<void> {
  const endsAt = performance.now() + idleMilliseconds
  do {
    await sleep(10)
  } while (
    (pool.waitingCount > 0 || pool.idleCount < pool.totalCount) &&
    performance.now() < endsAt
  )
  await pool.end()
}
