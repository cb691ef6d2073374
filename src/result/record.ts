// The result record, and how a row of the database becomes one.

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

/** A record as its account reads it. A webhook itself carries it without: that body is the same on every attempt. */
export type TrackedResult = ResultRecord & { readonly webhook: WebhookProgress | null }

/** A record without what the program wrote. */
export type ResultSummary = Omit<ResultRecord, 'stdout' | 'stderr' | 'compile_output'>

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

/** A row of runledger.result with its bodies as a record. */
export function toRecord(row: Record<string, unknown>): ResultRecord {
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

/** A row of runledger.read_result as a record. */
export function toTrackedResult(row: Record<string, unknown>): TrackedResult {
  return { ...toRecord(row), webhook: toWebhookProgress(row) }
}

const times = ['created_at', 'started_at', 'finished_at', 'purged_at', 'next_attempt_at'] as const
const bodies = ['stdout', 'stderr', 'compile_output'] as const

/** An end as runledger.tell_end tells of it. */
export interface ToldEnd {
  readonly id: string
  /** What readTrackedResult would read; left out where it was too long. */
  readonly record?: TrackedResult
}

/** @throws SyntaxError when it is no JSON. */
export function parseToldEnd(text: string): ToldEnd {
  const told = JSON.parse(text) as Record<string, unknown>
  const id = told['id'] as string
  if (told['status'] === undefined) return { id }
  const row = { ...told }
  for (const name of times) row[name] = typeof told[name] === 'string' ? new Date(told[name]) : null
  for (const name of bodies) {
    // PostgreSQL's hexadecimal form: \x and two digits a byte.
    row[name] = typeof told[name] === 'string' ? Buffer.from(told[name].slice(2), 'hex') : null
  }
  return { id, record: toTrackedResult(row) }
}
