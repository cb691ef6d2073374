// The door to results: what a caller sees of a submission. A row of runledger.result (a cache of result_from_log) with
// its bodies.
import type { Database } from '#database'

export { createWaiter } from './wait.ts'
export type { Waiter } from './wait.ts'
export { rebuildProjections } from './rebuild.ts'
export type { RebuildProgress } from './rebuild.ts'
export { purgeBodies } from './purge.ts'
export type { Purged } from './purge.ts'

/** Where a submission stands. */
export const resultStatuses = ['queued', 'running', 'completed', 'failed'] as const
export type ResultStatus = (typeof resultStatuses)[number]

/** What a final record says of the program; IE says it of us. */
export const resultVerdicts = ['AC', 'WA', 'CE', 'RE', 'TLE', 'MLE', 'OLE', 'IE'] as const
export type ResultVerdict = (typeof resultVerdicts)[number]

/** The result record of the HTTP API: seconds, bytes, RFC 3339 in UTC. */
export interface ResultRecord {
  readonly id: string
  readonly status: ResultStatus
  readonly verdict: ResultVerdict | null
  readonly exit_code: number | null
  readonly signal: string | null
  readonly stdout: string | null
  readonly stderr: string | null
  readonly stdout_truncated: boolean | null
  readonly stderr_truncated: boolean | null
  readonly compile_output: string | null
  readonly cpu_time: number | null
  readonly wall_time: number | null
  readonly memory_peak: number | null
  readonly language: string
  readonly runtime: string | null
  readonly created_at: string
  readonly started_at: string | null
  readonly finished_at: string | null
  /** When retention removed stdout, stderr and compile_output, which are null since; null as long as they are kept. */
  readonly purged_at: string | null
}

/** Where a submission's webhook stands. */
export interface WebhookProgress {
  /** The `webhook-id` of its attempts. */
  readonly id: string
  readonly state: WebhookState
  readonly attempts: number
  /** RFC 3339 in UTC; null unless an attempt is due. */
  readonly next_attempt_at: string | null
}

/** waiting: the submission is not final; pending: an attempt is due; delivered and abandoned: it is over. */
export const webhookStates = ['waiting', 'pending', 'delivered', 'abandoned'] as const
export type WebhookState = (typeof webhookStates)[number]

/** True once a record will not change any more; its webhook's progress may. */
export function isFinal(record: Pick<ResultRecord, 'status'>): boolean {
  return record.status === 'completed' || record.status === 'failed'
}

/**
 * Reads one result.
 * @param accountId whose it must be; null reads anybody's (for webhooks and operators, never for a caller).
 * @returns null when there is none, or it is another account's.
 */
export async function readResult(
  sql: Database,
  id: string,
  accountId: string | null,
): Promise<ResultRecord | null> {
  const [row] = await sql`
    select r.*, body.stdout, body.stderr, body.compile_output
    from runledger.result r
    left join runledger.body on body.submission_id = r.id
    where r.id = ${id} and (${accountId}::uuid is null or r.account_id = ${accountId})`
  return row === undefined ? null : toRecord(row)
}

/** A record as its account reads it. A webhook itself carries it without: that body is the same on every attempt. */
export type TrackedResult = ResultRecord & { readonly webhook: WebhookProgress | null }

/** Reads one result of an account with its webhook's progress. @returns null when the account has none such. */
export async function readTrackedResult(
  sql: Database,
  id: string,
  accountId: string,
): Promise<TrackedResult | null> {
  const [row] = await sql`select * from runledger.read_result(${id}, ${accountId})`
  return row === undefined ? null : { ...toRecord(row), webhook: toWebhookProgress(row) }
}

/** True when there is such a submission and it is the account's. */
export async function hasResult(sql: Database, id: string, accountId: string): Promise<boolean> {
  const rows = await sql`
    select from runledger.result r where r.id = ${id} and r.account_id = ${accountId}`
  return rows.length > 0
}

/** A record without what the program wrote. */
export type ResultSummary = Omit<ResultRecord, 'stdout' | 'stderr' | 'compile_output'>

/** Which of an account's results to list. */
export interface ResultFilter {
  readonly status?: ResultStatus | undefined
  readonly verdict?: ResultVerdict | undefined
  readonly language?: string | undefined
  /** Only ids below this one. */
  readonly before?: string | undefined
  readonly limit: number
}

/** An account's results, newest first. */
export async function listResults(
  sql: Database,
  accountId: string,
  { status, verdict, language, before, limit }: ResultFilter,
): Promise<ResultSummary[]> {
  const rows = await sql`
    select * from runledger.result r
    where r.account_id = ${accountId}
      ${status === undefined ? sql`` : sql`and r.status = ${status}`}
      ${verdict === undefined ? sql`` : sql`and r.verdict = ${verdict}`}
      ${language === undefined ? sql`` : sql`and r.language = ${language}`}
      ${before === undefined ? sql`` : sql`and r.id < ${before}`}
    order by r.id desc
    limit ${limit}`
  return rows.map((row) => {
    const {
      stdout: _stdout,
      stderr: _stderr,
      compile_output: _messages,
      ...summary
    } = toRecord(row)
    return summary
  })
}

// Outputs are bytes; JSON is text: what is no UTF-8 becomes U+FFFD. A byte-order mark the program wrote is kept.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

function formatTime(date: unknown): string | null {
  return date instanceof Date ? date.toISOString() : null
}

function toWebhookProgress(row: Record<string, unknown>): WebhookProgress | null {
  const id = row['webhook_id'] as string | null
  if (id === null) return null
  return {
    id,
    state: row['webhook_state'] as WebhookState,
    attempts: row['webhook_attempts'] as number,
    next_attempt_at: formatTime(row['next_attempt_at']),
  }
}

function toRecord(row: Record<string, unknown>): ResultRecord {
  // What was purged is null: an empty text would say that the program wrote nothing.
  const kept = row['finished_at'] !== null && row['purged_at'] === null
  const text = (bytes: unknown): string | null =>
    bytes instanceof Uint8Array ? decoder.decode(bytes) : null
  return {
    id: row['id'] as string,
    status: row['status'] as ResultRecord['status'],
    verdict: row['verdict'] as ResultRecord['verdict'],
    exit_code: row['exit_code'] as number | null,
    signal: row['signal'] as string | null,
    stdout: kept ? (text(row['stdout']) ?? '') : null,
    stderr: kept ? (text(row['stderr']) ?? '') : null,
    stdout_truncated: row['stdout_truncated'] as boolean | null,
    stderr_truncated: row['stderr_truncated'] as boolean | null,
    compile_output: text(row['compile_output']),
    cpu_time: row['cpu_time'] as number | null,
    wall_time: row['wall_time'] as number | null,
    memory_peak: row['memory_peak'] as number | null,
    language: row['language'] as string,
    runtime: row['runtime'] as string | null,
    created_at: formatTime(row['created_at']) ?? '',
    started_at: formatTime(row['started_at']),
    finished_at: formatTime(row['finished_at']),
    purged_at: formatTime(row['purged_at']),
  }
}
