// What the ledger says of a submission, and whether it keeps its promises.
import type { Database } from '#database'
import { readStream } from '#event'

/** Lists the types of a stream's events, in their order. */
export async function listTypes(sql: Database, id: string): Promise<string[]> {
  return (await readStream(sql, id)).map(({ type }) => type)
}

/** Reads a submission's status. */
export async function readStatus(sql: Database, id: string): Promise<string> {
  const [row] = await sql`select status from runledger.submission where id = ${id}`
  return (row?.['status'] as string | undefined) ?? 'unknown'
}

/** Returns every broken promise of the ledger, such as a hash that does not fit or a projection that differs from the log. */
export async function findBroken(sql: Database): Promise<unknown[]> {
  return [...(await sql`select * from audit.invariant`)]
}
