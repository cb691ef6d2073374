// The door to results: a row of runledger.submission with its outputs.
import type { Database } from '#database'
import { toRecord, toTrackedResult } from './record.ts'
import type { ResultRecord, ResultRow, TrackedResult, TrackedRow } from './record.ts'

export { isFinal, resultStatuses, webhookStates } from './record.ts'
export type { ResultRecord, ResultStatus, TrackedResult } from './record.ts'
export { listResults } from './list.ts'
export type { ResultFilter } from './list.ts'
export { createWaiter } from './wait.ts'
export type { Waiter } from './wait.ts'
export { createStreams } from './stream/stream.ts'
export type { Streams } from './stream/stream.ts'
export { beginning, parsePosition } from './stream/position.ts'
export type { Position } from './stream/position.ts'
export { readRequest } from './request.ts'
export type { ReceivedRequest } from './request.ts'
export { rebuildProjections } from './rebuild.ts'
export { purgeBodies } from './purge.ts'

/**
 * @param accountId null reads any account's: for webhooks and operators, never for a caller.
 * @returns null when there is none.
 */
export async function readResult(
  sql: Database,
  id: string,
  accountId: string | null,
): Promise<ResultRecord | null> {
  const [row] = await sql<ResultRow[]>`
    select r.*, o.stdout, o.stderr, o.compile_output, o.report
    from runledger.submission r
    left join runledger.output o on o.submission_id = r.id
    where r.id = ${id} and (${accountId}::uuid is null or r.account_id = ${accountId})`
  return row === undefined ? null : toRecord(row)
}

/** Reads a result with its webhook's progress. @returns null when the account has none such. */
export async function readTrackedResult(
  sql: Database,
  id: string,
  accountId: string,
): Promise<TrackedResult | null> {
  const [row] = await sql<TrackedRow[]>`select * from runledger.read_result(${id}, ${accountId})`
  return row === undefined ? null : toTrackedResult(row)
}

export async function hasResult(sql: Database, id: string, accountId: string): Promise<boolean> {
  const rows = await sql`
    select from runledger.submission r where r.id = ${id} and r.account_id = ${accountId}`
  return rows.length > 0
}
