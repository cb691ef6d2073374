// What operators look up: a submission, an account or a key by a text; and lists of workers, running submissions, webhooks, and
// the reruns of a campaign. Lists that may be long have pages.
import type { Database } from '#database'
import { readStream } from '#event'
import type { RecordedEvent } from '#event'
import { isUuid } from '#id'

type Row = Readonly<Record<string, unknown>>

/** The most rows of each kind. A text that matches more identifies nothing. */
const foundMost = 20
/** The length of a key's label: enough characters to distinguish keys, too few to be a secret. */
const labelCharacters = 12

/**
 * Finds what matches a text, as `Found` of the OpenAPI document describes it:
 * - the submission with this id, or the newest ones of the account with this name;
 * - accounts whose name contains the text;
 * - keys with this label, id or name, or of the account with this name.
 * @param text not empty.
 */
export async function find(
  sql: Database,
  text: string,
): Promise<Readonly<Record<'submissions' | 'accounts' | 'keys', readonly Row[]>>> {
  const id = isUuid(text) ? text : null
  const label = text.slice(0, labelCharacters)
  const [accounts, keys, submissions] = await Promise.all([
    sql<Row[]>`
      select id, name, created_at, blob_bytes::float8 as blob_bytes from audit.account
      where position(lower(${text}) in lower(name)) > 0 or id = ${id}
      order by name <> ${text}, name limit ${foundMost}`,
    sql<Row[]>`
      select id, account, label, name, tier, role, created_at, expires_at, revoked_at from audit.api_key
      where label = ${label} or name = ${text} or account = ${text} or id = ${id}
      order by revoked_at is not null, created_at desc limit ${foundMost}`,
    sql<Row[]>`
      select s.id, a.name as account, k.label as api_key, s.language, s.status, s.verdict, s.created_at, s.started_at, s.finished_at
      from (
        (select * from runledger.submission where id = ${id})
        union all
        (select * from runledger.submission
          where account_id = (select id from audit.account where name = ${text}) order by id desc limit ${foundMost})
      ) s
      left join audit.account a on a.id = s.account_id
      left join audit.api_key k on k.id = s.api_key_id
      order by s.id desc`,
  ])
  return { submissions, accounts, keys }
}

/**
 * Lists workers, oldest first, with silent ones that are not yet declared lost.
 * @param withGone includes workers that stopped in the last day.
 */
export async function listWorkers(sql: Database, { withGone = false } = {}): Promise<Row[]> {
  return sql`
    select
      w.id, w.host, w.pid, w.state, w.slots, coalesce(at_work.busy, 0)::integer as busy,
      w.isolation ->> 'box' as box, w.isolation ->> 'cgroup' as cgroup, w.version,
      (
        select coalesce(string_agg(coalesce(value ->> 'version', '?'), ', '), '')
        from jsonb_each(w.languages) where value -> 'awaits_trial' is distinct from 'true'
      ) as languages,
      w.started_at, round(extract(epoch from now() - w.renewed_at), 1)::float8 as heartbeat_seconds,
      w.suspended_at, w.suspended_because
    from audit.worker w
    left join (
      select worker_id, count(*) as busy from audit.running group by worker_id
    ) at_work on at_work.worker_id = w.id
    where w.stopped_at is null or (${withGone} and w.stopped_at > now() - interval '1 day')
    order by w.started_at`
}

/** Lists running submissions, the longest first. */
export async function listRunning(sql: Database): Promise<Row[]> {
  return sql`
    select
      submission_id as submission, account, api_key, language, attempt, worker_id as worker, host, started_at,
      round(extract(epoch from now() - started_at), 1)::float8 as seconds
    from audit.running order by started_at`
}

/**
 * Lists webhooks, newest first.
 * @param page.before the id of the last webhook on the previous page.
 */
export async function listWebhooks(
  sql: Database,
  page: {
    readonly state?: string | undefined
    readonly before?: string | undefined
    readonly limit: number
  },
): Promise<Row[]> {
  const { state, before, limit } = page
  return sql`
    select * from audit.webhook
    where true
      ${state === undefined ? sql`` : sql`and state = ${state}`}
      ${before === undefined ? sql`` : sql`and webhook_id < ${before}`}
    order by webhook_id desc
    limit ${limit}`
}

/** Some columns of audit.webhook. */
interface Webhook extends Row {
  readonly webhook_id: string
  readonly state: string
}

/**
 * Reads a webhook and its events.
 * @param id the webhook's id, or that of its submission or batch.
 */
export async function readWebhook(
  sql: Database,
  id: string,
): Promise<{ readonly webhook: Webhook; readonly events: readonly RecordedEvent[] } | null> {
  const [webhook] = await sql<Webhook[]>`
    select * from audit.webhook
    where webhook_id = (
      select d.webhook_id from runledger.delivery d where d.webhook_id = ${id} or d.submission_id = ${id}
    )`
  return webhook === undefined
    ? null
    : { webhook, events: await readStream(sql, webhook.webhook_id) }
}

/** Some columns of audit.rerun. */
interface RerunRow {
  readonly id: string
  readonly status: string
  readonly changed: boolean | null
  readonly output: 'same' | 'differs' | 'not known' | null
}

const rerunsOfPage = 1000

/**
 * Reads a page of a campaign, in the order of the original submissions, as `Reruns` of the OpenAPI document describes it.
 * @param after the `next` of the previous page.
 */
export async function readReruns(
  sql: Database,
  campaign: string,
  after: string | null,
): Promise<Row> {
  const rows = await sql<RerunRow[]>`
    select submission_id as id, rerun_id, verdict_before, verdict_after, output, tag, status, changed
    from audit.rerun
    where campaign = ${campaign} ${after === null ? sql`` : sql`and submission_id > ${after}`}
    order by submission_id
    limit ${rerunsOfPage}`
  const count = (...statuses: readonly string[]): number =>
    rows.filter(({ status }) => statuses.includes(status)).length
  const countOutputs = (word: RerunRow['output']): number =>
    rows.filter(({ output }) => output === word).length
  return {
    repeated: rows.length,
    unfinished: count('queued', 'running'),
    cancelled: count('cancelled'),
    outputs: {
      same: countOutputs('same'),
      differs: countOutputs('differs'),
      not_known: countOutputs('not known'),
    },
    changes: rows
      .filter(({ changed, output }) => changed === true || output === 'differs')
      .map(({ status: _status, changed: _changed, ...change }) => change),
    next: rows.length < rerunsOfPage ? null : (rows.at(-1)?.id ?? null),
  }
}

export async function hasAccount(sql: Database, name: string): Promise<boolean> {
  return (await sql`select from audit.account where name = ${name}`).length > 0
}
