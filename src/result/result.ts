// The door to results: what a caller sees of a submission. A row of runledger.result (a cache of result_from_log) with
// its bodies.
import type { Database } from '#database'

export { createWaiter } from './wait.ts'
export type { Waiter } from './wait.ts'

/** The result record of the HTTP API: seconds, bytes, RFC 3339 in UTC. */
export interface ResultRecord {
  readonly id: string
  readonly status: 'queued' | 'running' | 'completed' | 'failed'
  readonly verdict: string | null
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
}

/** True once a record will not change any more. */
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

// Outputs are bytes; JSON is text: what is no UTF-8 becomes U+FFFD. A byte-order mark the program wrote is kept.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

function toRecord(row: Record<string, unknown>): ResultRecord {
  const final = row['finished_at'] !== null
  const text = (bytes: unknown): string | null =>
    bytes instanceof Uint8Array ? decoder.decode(bytes) : null
  const time = (date: unknown): string | null => (date instanceof Date ? date.toISOString() : null)
  return {
    id: row['id'] as string,
    status: row['status'] as ResultRecord['status'],
    verdict: row['verdict'] as string | null,
    exit_code: row['exit_code'] as number | null,
    signal: row['signal'] as string | null,
    stdout: final ? (text(row['stdout']) ?? '') : null,
    stderr: final ? (text(row['stderr']) ?? '') : null,
    stdout_truncated: row['stdout_truncated'] as boolean | null,
    stderr_truncated: row['stderr_truncated'] as boolean | null,
    compile_output: text(row['compile_output']),
    cpu_time: row['cpu_time'] as number | null,
    wall_time: row['wall_time'] as number | null,
    memory_peak: row['memory_peak'] as number | null,
    language: row['language'] as string,
    runtime: row['runtime'] as string | null,
    created_at: time(row['created_at']) ?? '',
    started_at: time(row['started_at']),
    finished_at: time(row['finished_at']),
  }
}
