// Live workers and what they run: pending submissions whose last event is execution.started.
import type { Database } from '#database'
import type { Row } from './output.ts'

interface WorkerRow extends Row {
  readonly languages: Readonly<
    Record<string, { readonly version?: string; readonly awaits_trial?: true }>
  >
}

/**
 * Oldest first, with those just lost.
 * @param withGone also those that ended in the last day.
 */
export async function listWorkers(sql: Database, { withGone = false } = {}): Promise<Row[]> {
  const rows = await sql<WorkerRow[]>`
    with under_way as (${selectUnderWay(sql)})
    select
      w.id, w.host, w.pid, w.state, w.slots, coalesce(at_work.busy, 0)::integer as busy,
      w.isolation ->> 'box' as box, w.isolation ->> 'cgroup' as cgroup, w.version, w.languages, w.started_at,
      round(extract(epoch from now() - w.renewed_at), 1)::float8 as heartbeat_seconds,
      w.suspended_at, w.suspended_because
    from audit.worker w
    left join (
      select worker_id, count(*) as busy from under_way group by worker_id
    ) at_work on at_work.worker_id = w.id
    where w.stopped_at is null or (${withGone} and w.stopped_at > now() - interval '1 day')
    order by w.started_at`
  return rows.map(({ languages, ...row }) => ({
    ...row,
    languages: Object.values(languages)
      .filter(({ awaits_trial: awaits }) => awaits !== true)
      .map(({ version }) => version ?? '?')
      .join(', '),
  }))
}

/** The longest first. */
export async function listRunning(sql: Database): Promise<Row[]> {
  const rows = await sql`
    with under_way as (${selectUnderWay(sql)})
    select
      u.submission_id as submission, account.name as account, k.label as api_key, u.language, u.attempt,
      u.worker_id as worker, u.host, u.started_at, round(extract(epoch from now() - u.started_at), 1)::float8 as seconds
    from under_way u
    left join runledger.account on account.id = u.account_id
    left join runledger.api_key k on k.id = u.api_key_id
    order by u.started_at`
  return rows.map((row) => ({ ...row }))
}

function selectUnderWay(sql: Database) {
  return sql`
    select
      p.submission_id, p.account_id, p.api_key_id, p.language, p.worker_id, w.host, p.attempts as attempt, p.started_at
    from runledger.pending p
    left join runledger.worker w on w.id = p.worker_id
    where p.is_running`
}
