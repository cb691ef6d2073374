// The entry to results. A result is a row of runledger.submission with its outputs.
import type { Database } from '#database'
import { toRecord, toTrackedResult } from './record.ts'
import type { ResultRow, TrackedRow } from './record.ts'
import type { ResultRecord, TrackedResult } from './schema.ts'

export { isFinal } from './record.ts'
export {
  describeCallback,
  encodeLines,
  judge0Fields,
  judge0Statuses,
  signalNumber,
  writeFields,
  toJudge0,
} from './judge0.ts'
export {
  attemptLimits,
  resultRecord,
  resultStatuses,
  summaryEntries,
  webhookStates,
} from './schema.ts'
export type { ResultRecord, ResultStatus, TrackedResult } from './schema.ts'
export { listPage, listResults, pagedMost } from './list.ts'
export type { ResultFilter } from './list.ts'
export { createWaiter } from './wait.ts'
export type { Waiter } from './wait.ts'
export { createStreams } from './stream/stream.ts'
export type { Streams } from './stream/stream.ts'
export { beginning, parsePosition } from './stream/event.ts'
export type { Position } from './stream/event.ts'
export { readLimits, recordedLimits } from './limits.ts'
export { readPreviews, readRequest } from './request.ts'
export type { Preview, ReceivedRequest } from './request.ts'
export { rebuildProjections } from './rebuild.ts'
export { purgeBodies, purgeSubmission } from './purge.ts'

/**
 * Reads one result of any account with its outputs: for webhooks, never for a caller.
 * @returns null when there is no such submission.
 */
export async function readResult(sql: Database, id: string): Promise<ResultRecord | null> {
  const [row] = await sql<ResultRow[]>`
    select r.*, o.stdout, o.stderr, o.compile_output, o.report
    from runledger.submission r
    left join runledger.output o on o.submission_id = r.id
    where r.id = ${id}`
  return row === undefined ? null : toRecord(row)
}

/** Reads a result with its webhook's progress. @returns null when the account has no such submission. */
export async function readTrackedResult(
  sql: Database,
  id: string,
  accountId: string,
): Promise<TrackedResult | null> {
  const [row] = await sql<TrackedRow[]>`select * from runledger.read_result(${id}, ${accountId})`
  return row === undefined ? null : toTrackedResult(row)
}

/** The most output bytes of several results together. A single result may have more. */
const outputBytesMost = 8 * 1024 * 1024

/**
 * Reads several results of an account, by their ids in lower case. Ids that the account does not have are left out. Null:
 * the result's outputs did not fit after those of earlier ids.
 * @param encoding of outputs; when left out, each submission's requested encoding.
 */
export async function readResults(
  sql: Database,
  ids: readonly string[],
  accountId: string,
  encoding?: 'base64',
): Promise<ReadonlyMap<string, TrackedResult | null>> {
  // The lengths of values are stored in the rows' headers, so nothing large is read.
  const sizes = await sql<{ id: string; bytes: number }[]>`
    select r.id, (
      coalesce(length(o.stdout), 0) + coalesce(length(o.stderr), 0) + coalesce(length(o.compile_output), 0)
      + coalesce(length(o.report), 0)
    ) as bytes
    from unnest(${[...ids]}::uuid[]) with ordinality asked (id, n)
    join runledger.submission r on r.id = asked.id and r.account_id = ${accountId}
    left join runledger.output o on o.submission_id = asked.id
    order by asked.n`
  const fitting: string[] = []
  let total = 0
  for (const { id, bytes } of sizes) {
    if (total > 0 && total + bytes > outputBytesMost) continue
    total += bytes
    fitting.push(id)
  }
  const rows = await sql<TrackedRow[]>`
    select found.* from unnest(${fitting}::uuid[]) id, runledger.read_result(id, ${accountId}) found`
  const found = rows.map((row) => {
    const encoded = encoding === undefined ? row : { ...row, output_encoding: encoding }
    return [row.id, toTrackedResult(encoded)] as const
  })
  return new Map([...sizes.map(({ id }) => [id, null] as const), ...found])
}

export async function hasResult(sql: Database, id: string, accountId: string): Promise<boolean> {
  const rows = await sql`
    select from runledger.submission r where r.id = ${id} and r.account_id = ${accountId}`
  return rows.length > 0
}

type Member = Pick<ResultRecord, 'id' | 'status' | 'verdict'>

/**
 * Reads what a batch's webhook reports once all members have ended, in the order of the batch's items. `endedAt`: RFC 3339,
 * of the member that ended last.
 */
export async function readBatch(
  sql: Database,
  id: string,
): Promise<{ readonly endedAt: string; readonly submissions: readonly Member[] }> {
  const rows = await sql<(Member & { finished_at: Date })[]>`
    select * from runledger.read_batch(${id})`
  const endedAt = Math.max(...rows.map((row) => row.finished_at.getTime()))
  return {
    endedAt: new Date(endedAt).toISOString(),
    submissions: rows.map((row) => ({ id: row.id, status: row.status, verdict: row.verdict })),
  }
}
