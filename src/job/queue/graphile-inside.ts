// All that leans on the inside of graphile-worker 0.18.0 and of its driver, pg 8.23.1: what they do and nowhere promise.
// What, why and what it buys stand here; test/job/queue/graphile-inside.test.ts is red when a release changes one of them.
// The figures are bench/README.md's.
//
// The same in SQL, each with its reason beside it in sql/functions/queue/: job.enqueue_first writes a row of
// graphile_worker._private_jobs (add_job took 1.0 of the 4.0 ms of PostgreSQL's that a submission cost), job.take_job removes
// one, by an index of its own where need be, job.find_task says a task's number, job.wake_workers notifies as graphile-worker
// does. No other function names a private table.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool, PoolClient } from 'pg'

/** What is called when a connection is given back; with a reason, or true, it is closed. */
export type Release = (because?: Error | boolean) => void

/** Of the row that its statement answers, what graphile-worker needs to run a job and to remove its row by id. */
export interface JobRow {
  readonly id: string
  /** From the tasks that it registered; of another it runs nothing. */
  readonly task_id: number
  readonly payload: object
}

/**
 * True for the statement with which a job is asked for: graphile-worker names it `get_job/<schema>` and has no other place
 * where one could answer in its stead. So a job is taken and its attempt begun by one statement, which waits for no disk,
 * where there were four transactions, three of which did.
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
 * Lets LISTEN and UNLISTEN come to nothing on the connection that graphile-worker listens on. Every listening connection
 * of a database is woken by every notification, and notifying is a tenth of what a submission costs PostgreSQL: a worker
 * has one that listens, for both its runners.
 */
export function ignoreListening(client: PoolClient): void {
  const query = client.query.bind(client) as (...parameters: unknown[]) => Promise<unknown>
  client.query = ((...parameters: unknown[]) =>
    /^(UN)?LISTEN /.test(String(parameters[0]))
      ? Promise.resolve()
      : query(...parameters)) as PoolClient['query']
}

/**
 * What a notification says of the jobs that were added. Ours (job.wake_workers) name the task; those of graphile-worker's
 * own functions do not, but they count as well.
 */
export function readAnnouncement(payload = ''): { task?: unknown; count?: number } {
  try {
    const { task, count } = JSON.parse(payload) as { task?: unknown; count?: unknown }
    return { task, ...(Number.isInteger(count) && Number(count) > 0 && { count: Number(count) }) }
  } catch {
    return {} // anybody may notify anything
  }
}

/** The connection it listens on graphile-worker gives back twice when that breaks while it stops; pg throws at the second. */
export function giveBackOnce(release: Release | undefined): Release {
  let isReleased = false
  return (because) => {
    if (isReleased) return
    isReleased = true
    release?.(because)
  }
}

// pg's own words for a connection that was lost, refused or silent; these errors carry no code.
const connectionLost =
  /^(Connection terminated|timeout exceeded when trying to connect|Client (has encountered a connection error|was closed))/

/** Throws the error, with a code when the connection was lost. */
export function throwWithCode(error: unknown): never {
  if (error instanceof Error && !('code' in error) && connectionLost.test(error.message)) {
    throw Object.assign(error, { code: 'ECONNRESET' })
  }
  throw error
}

const idleMilliseconds = 5000

/**
 * Ends a pool that its runner has stopped using. graphile-worker does not wait until its last jobs are marked complete,
 * and a pool that has ended fails them, which nobody catches.
 */
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
