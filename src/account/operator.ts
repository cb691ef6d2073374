// Operators' keys: who looks at the service and steers it.
import { timingSafeEqual } from 'node:crypto'
import { cancelOnAbort } from '#database'
import type { Database } from '#database'
import { digestKey, isWellFormedKey } from './key.ts'

export interface Operator {
  readonly apiKeyId: string
  /** It may look, and change nothing. */
  readonly isReadOnly: boolean
}

/** A row of runledger.admit_operator. */
interface OperatorRow {
  readonly api_key_id: string
  readonly key_digest: Buffer
  readonly read_only: boolean
}

/**
 * Finds whose a request is.
 * @param signal withdraws an unsent statement.
 * @returns null for an unknown, malformed, expired or revoked key, and for one that submits.
 */
export async function admitOperator(
  sql: Database,
  key: string,
  signal: AbortSignal,
): Promise<Operator | null> {
  if (!isWellFormedKey(key, 'operator')) return null
  const digest = digestKey(key)
  const [row] = await cancelOnAbort(
    sql<OperatorRow[]>`select * from runledger.admit_operator(${digest})`,
    signal,
  )
  // The lookup is by index; this comparison takes constant time.
  if (row === undefined || !timingSafeEqual(digest, row.key_digest)) return null
  return { apiKeyId: row.api_key_id, isReadOnly: row.read_only }
}
