// How a batch has ended: what its webhook says.
import type { Database } from '#database'
import type { ResultRecord } from './schema.ts'

type Member = Pick<ResultRecord, 'id' | 'status' | 'verdict'>

/** Of a batch whose members have all ended, in the order of its items. `endedAt`: RFC 3339, of the last. */
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
