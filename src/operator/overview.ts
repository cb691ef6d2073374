// The overview of the whole service: what waits and for how long, what runs where, how recent submissions ended, and whether
// the ledger is intact. It costs the database one statement, however long the log is and however many operators look.
import * as v from 'valibot'
import { cachedRead } from '#database'
import type { Database } from '#database'
import { count, described, seconds, time, uuid } from '#schema'

const limit = described(v.nullable(count), 'null: no limit.')
const counts = v.record(v.string(), count)

const percentiles = v.nullable(v.object({ p50: seconds, p95: seconds, p99: seconds }))

const oldest = v.object({
  id: uuid,
  seconds,
  language: v.string(),
  account: v.nullable(v.string()),
  priority: v.picklist(['normal', 'low']),
})

const load = v.object({
  waiting: described(count, 'Submissions that wait to be admitted by the limit of their key.'),
  queued: described(count, 'Submissions that wait for a worker.'),
  running: count,
  oldest_waiting_seconds: seconds,
  oldest_queued_seconds: seconds,
  workers: count,
  suspended_workers: count,
  paused_workers: count,
  slots: described(count, 'Slots of workers that take submissions.'),
  deliveries_pending: count,
})

const language = v.object({
  language: v.string(),
  waiting: count,
  low: described(count, 'Waiting submissions with priority low.'),
  running: count,
  oldest_seconds: seconds,
})

const account = v.object({
  id: uuid,
  name: v.string(),
  waiting: count,
  running: count,
  blob_bytes: count,
  keys: described(
    v.array(
      v.object({
        id: uuid,
        label: v.string(),
        name: v.nullable(v.string()),
        tier: v.string(),
        unfinished: count,
        admitted: described(count, 'Submissions that the limit of the key has admitted.'),
        concurrent_executions: limit,
        requests: described(count, 'Requests in the last 60 seconds.'),
        requests_per_minute: limit,
        blob_bytes: limit,
      }),
    ),
    'The ten busiest keys.',
  ),
})

/** The states of workers that are not declared lost. */
export const states = ['working', 'suspended', 'paused', 'draining', 'restarting', 'gone'] as const

/** A worker as the overview shows it. */
export const seenWorker = v.object({
  id: uuid,
  host: v.string(),
  pid: count,
  state: v.picklist(states),
  wanted: v.picklist(['working', 'paused', 'drained', 'restarted']),
  version: v.nullable(v.string()),
  box: v.nullable(v.string()),
  cgroup: v.nullable(v.string()),
  slots: count,
  busy: count,
  started_at: time,
  heartbeat_seconds: v.number(),
  suspended_at: v.nullable(time),
  suspended_because: v.nullable(v.string()),
  languages: v.array(v.string()),
})

const recent = v.object({
  seconds: described(seconds, 'How far back the figures reach: 300 seconds or less.'),
  received: count,
  ended: count,
  waited: percentiles,
  ran: percentiles,
  took: percentiles,
  verdicts: counts,
  languages: counts,
})

const ledger = v.object({
  drift: count,
  broken_chain: count,
  invariant: count,
  checked_at: v.nullable(time),
  walked_at: described(v.nullable(time), 'When the walk through the whole log was last completed.'),
  walked_up_to: time,
  suspects: v.array(uuid),
})

/** The overview as audit.overview returns it and as operators receive it. */
export const overviewSchema = v.object({
  at: time,
  oldest: described(
    v.nullable(oldest),
    'The submission that has waited longest; null when none waits.',
  ),
  load,
  languages: v.array(language),
  accounts: described(
    v.array(account),
    'The twenty accounts with the most unfinished submissions.',
  ),
  workers: v.array(seenWorker),
  recent,
  ledger,
})

type Overview = v.InferOutput<typeof overviewSchema>

const keptMilliseconds = 1000

export async function readOverview(sql: Database): Promise<Overview> {
  const [{ overview }] = await sql<[{ overview: Overview }]>`
    select overview from audit.overview`
  return overview
}

/** Returns a reader that all callers share. It runs at most one statement a second, and none while nobody asks. */
export function createCachedOverview(sql: Database): () => Promise<Overview> {
  return cachedRead(() => readOverview(sql), keptMilliseconds)
}
