// Converts database rows and notifications to result records.
import type { ExceededLimit, PhaseFacts, WebhookAttempt } from '#event'
import { explainLimits, readLimits } from './limits.ts'
import { decodeReport } from './report.ts'
import type { ResultRecord, TrackedResult, WebhookState } from './schema.ts'

/** True once a record cannot change any more; its webhook's progress still can. */
export function isFinal(record: Pick<ResultRecord, 'status'>): boolean {
  return record.status !== 'queued' && record.status !== 'running'
}

// Outputs are bytes, so invalid UTF-8 in them becomes U+FFFD. A byte-order mark is kept.
const utf8 = (): TextDecoder => new TextDecoder('utf-8', { ignoreBOM: true })
const decoder = utf8()

/** A row of runledger.submission, with its outputs if the query reads them. */
export interface ResultRow extends Pick<
  ResultRecord,
  | 'id'
  | 'status'
  | 'verdict'
  | 'exit_code'
  | 'signal'
  | 'stdout_truncated'
  | 'stderr_truncated'
  | 'cpu_time'
  | 'wall_time'
  | 'memory_peak'
  | 'language'
  | 'runtime'
  | 'tag'
  | 'rerun_of'
> {
  readonly exceeded: ExceededLimit | null
  /** As execution.completed has it. */
  readonly compile: (PhaseFacts & { readonly cached: boolean }) | null
  readonly output_encoding: string | null
  readonly score: number | null
  readonly max_score: number | null
  readonly created_at: Date
  readonly started_at: Date | null
  readonly finished_at: Date | null
  readonly purged_at: Date | null
  readonly stdout?: Uint8Array | null
  readonly stderr?: Uint8Array | null
  readonly compile_output?: Uint8Array | null
  /** As report.ts encodes it. */
  readonly report?: Uint8Array | null
}

/** A row of runledger.read_result. */
export interface TrackedRow extends ResultRow {
  readonly webhook_id: string | null
  readonly webhook_state: WebhookState
  readonly webhook_attempts: number
  readonly next_attempt_at: Date | null
  /** As execution.started has it. */
  readonly limits: unknown
  readonly attempt: number | null
  readonly cancel_requested_at: Date | null
  /** The data of the last webhook.attempt_failed. */
  readonly webhook_failure: Pick<WebhookAttempt, 'status' | 'snippet'> | null
}

const formatTime = (date: Date | null): string | null => date?.toISOString() ?? null
/** @param isCut the program wrote more than was kept. A character that the cut divides is left out, because it was valid. */
const decode = (bytes: Uint8Array | null | undefined, isCut = false): string | null => {
  if (!(bytes instanceof Uint8Array)) return null
  return isCut ? utf8().decode(bytes, { stream: true }) : decoder.decode(bytes)
}
const encode = (bytes: Uint8Array | null | undefined): string | null =>
  bytes instanceof Uint8Array ? Buffer.from(bytes).toString('base64') : null

export function toRecord(row: ResultRow): ResultRecord {
  // Outputs that are not kept are null, because an empty text would mean that the program wrote nothing.
  const kept = row.finished_at !== null && row.purged_at === null
  const { difference, tests, files, groups = null } = decodeReport(row.report)
  const { score, max_score } = row
  const show = row.output_encoding === 'base64' ? encode : decode
  return {
    id: row.id,
    status: row.status,
    verdict: row.verdict,
    ...blameEnd(row),
    exit_code: row.exit_code,
    signal: row.signal,
    stdout: kept ? (show(row.stdout, row.stdout_truncated === true) ?? '') : null,
    stderr: kept ? (show(row.stderr, row.stderr_truncated === true) ?? '') : null,
    stdout_truncated: row.stdout_truncated,
    stderr_truncated: row.stderr_truncated,
    compile_output: decode(row.compile_output),
    cpu_time: row.cpu_time,
    wall_time: row.wall_time,
    memory_peak: row.memory_peak,
    language: row.language,
    runtime: row.runtime,
    created_at: row.created_at.toISOString(),
    started_at: formatTime(row.started_at),
    finished_at: formatTime(row.finished_at),
    purged_at: formatTime(row.purged_at),
    compile: row.compile === null ? null : presentCompile(row.compile),
    limit: row.exceeded,
    difference,
    tests:
      tests?.map((test) => ({
        ...test,
        stdout: show(test.stdout, test.stdout_truncated === true),
        stderr: show(test.stderr, test.stderr_truncated === true),
      })) ?? null,
    files: files?.map((file) => ({ ...file, content: encode(file.content) })) ?? null,
    tag: row.tag,
    rerun_of: row.rerun_of,
    ...(score !== null && max_score !== null && { score, max_score, groups }),
  }
}

function blameEnd({ status, verdict }: ResultRow): Pick<ResultRecord, 'fault' | 'retry'> {
  if (!isFinal({ status })) return { fault: null, retry: null }
  if (status === 'failed') return { fault: 'platform', retry: 'new_key' }
  if (verdict === null || verdict === 'AC') return { fault: null, retry: 'never' }
  return { fault: verdict === 'IE' ? 'checker' : 'program', retry: 'never' }
}

function presentCompile(facts: NonNullable<ResultRow['compile']>): TrackedResult['compile'] {
  return {
    exit_code: facts.exit_code,
    cpu_time: facts.cpu_time,
    wall_time: facts.wall_time,
    memory_peak: facts.memory_peak,
    cached: facts.cached,
  }
}

export function toTrackedResult(row: TrackedRow): TrackedResult {
  const record = toRecord(row)
  const limits = readLimits(row.limits)
  return {
    ...record,
    limits,
    message: explainLimits(record, limits),
    attempt: row.attempt,
    cancel_requested_at: formatTime(row.cancel_requested_at),
    webhook: presentWebhook(row),
  }
}

function presentWebhook(row: TrackedRow): TrackedResult['webhook'] {
  if (row.webhook_id === null) return null
  return {
    id: row.webhook_id,
    state: row.webhook_state,
    attempts: row.webhook_attempts,
    next_attempt_at: formatTime(row.next_attempt_at),
    last_error: row.webhook_failure === null ? null : describeFailure(row.webhook_failure),
  }
}

// Only the status of an answer is shown, because its text may come from a host that the caller cannot reach.
function describeFailure({ status, snippet }: NonNullable<TrackedRow['webhook_failure']>): string {
  return status === null ? snippet : `the receiver answered ${status}`
}

const times = [
  'created_at',
  'started_at',
  'finished_at',
  'purged_at',
  'next_attempt_at',
  'cancel_requested_at',
] as const
const bodies = ['stdout', 'stderr', 'compile_output', 'report'] as const

/** The notification of an end (runledger.conclude_and_notify). */
interface EndNotification {
  readonly id: string
  /** The record as readTrackedResult reads it; left out where it is too long for a notification, or cancelled. */
  readonly record?: TrackedResult
}

/** Parses a notification. @throws SyntaxError when the text is not JSON. */
export function parseNotification(text: string): EndNotification {
  const end = JSON.parse(text) as Record<string, unknown> & { readonly id: string }
  const { id } = end
  if (end['status'] === undefined) return { id }
  const row: Record<string, unknown> = { ...end }
  for (const name of times) row[name] = typeof end[name] === 'string' ? new Date(end[name]) : null
  for (const name of bodies) {
    // PostgreSQL writes bytea as \x and two digits for each byte.
    row[name] = typeof end[name] === 'string' ? Buffer.from(end[name].slice(2), 'hex') : null
  }
  return { id, record: toTrackedResult(row as unknown as TrackedRow) }
}
