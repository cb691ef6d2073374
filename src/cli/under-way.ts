// What is under way: the workers that live, and what they run. Read only; an attempt is under way while its start is the last
// thing that the log says of a submission that is pending.
import type { Database } from '#database'
import type { Row } from './output.ts'

interface WorkerRow {
  readonly id: string
  readonly host: string
  readonly pid: number
  readonly slots: number
  readonly busy: number
  readonly box: string | null
  readonly languages: Readonly<Record<string, { readonly version?: string }>>
  readonly started_at: Date
  readonly heartbeat_seconds: number
  readonly suspended_at: Date | null
}

/** The workers that live, the oldest first; `box` is known of one that is at work. */
export async function listWorkers(sql: Database): Promise<Row[]> {
  const rows = await sql<WorkerRow[]>`
    with under_way as (${selectUnderWay(sql)})
    select
      shown.id, shown.host, shown.pid, shown.slots, coalesce(at_work.busy, 0)::integer as busy, at_work.box, w.languages,
      shown.started_at, round(extract(epoch from now() - shown.renewed_at), 1)::float8 as heartbeat_seconds,
      shown.suspended_at
    from audit.worker shown
    join runledger.worker w on w.id = shown.id
    left join (
      select worker_id, count(*) as busy, max(box) as box from under_way group by worker_id
    ) at_work on at_work.worker_id = shown.id
    where shown.alive
    order by shown.started_at`
  return rows.map(({ languages, suspended_at: suspendedAt, ...row }) => ({
    ...row,
    languages: Object.values(languages)
      .map(({ version }) => version ?? '?')
      .join(', '),
    suspended_at: suspendedAt,
    // The only reason that there is; what failed stands in its log.
    suspended_because: suspendedAt === null ? null : 'its sandbox failed',
  }))
}

/** What runs, the longest first. */
export async function listRunning(sql: Database): Promise<Row[]> {
  const rows = await sql`
    with under_way as (${selectUnderWay(sql)})
    select
      u.submission_id as submission, account.name as account, k.label as api_key, r.language, u.attempt,
      u.worker_id as worker, u.host, u.started_at, round(extract(epoch from now() - u.started_at), 1)::float8 as seconds
    from under_way u
    left join runledger.result r on r.id = u.submission_id
    left join runledger.account on account.id = r.account_id
    left join runledger.api_key k on k.id = r.api_key_id
    order by u.started_at`
  return rows.map((row) => ({ ...row }))
}

function selectUnderWay(sql: Database) {
  return sql`
    select
      p.submission_id, (head.data ->> 'worker')::uuid as worker_id, head.data ->> 'host' as host,
      (head.data ->> 'attempt')::integer as attempt, head.data #>> '{isolation,box}' as box, head.recorded_at as started_at
    from runledger.pending p
    cross join lateral (
      select e.type, e.data, e.recorded_at from runledger.event e
      where e.stream_id = p.submission_id
      order by e.stream_version desc limit 1
    ) head
    where p.admitted and head.type = 'execution.started'`
}
