// Finds the caller of a request by its key, and counts the request. A key is a submitter's, or an operator's, who
// watches and steers the service.
import { timingSafeEqual } from 'node:crypto'
import { cancelOnAbort, createBatch } from '#database'
import type { Database } from '#database'
import { digestKey, isWellFormedKey } from './key.ts'
import type { Role } from './key.ts'
import type { TierLimits } from './tier.ts'

export interface Caller {
  readonly apiKeyId: string
  readonly accountId: string
  /** False when the request exceeds the rate limit. */
  readonly admitted: boolean
  /** Null when the tier has no rate limit. */
  readonly rate: RateWindow | null
  /** The highest limits that a submission may ask for, as the log spells them. */
  readonly limits: TierLimits
  /** The most submissions that a batch may hold. */
  readonly batchItems: number
}

export interface RateWindow {
  /** Requests in any 60 seconds. */
  readonly quota: number
  readonly remaining: number
  /** Seconds until at least one more request is admitted. */
  readonly resetSeconds: number
}

export interface Operator {
  readonly apiKeyId: string
  /** True when the key can read but change nothing. */
  readonly isReadOnly: boolean
}

/** A row of runledger.admit_request. Without a quota, `remaining` and `reset_seconds` mean nothing. */
interface AdmissionRow {
  readonly api_key_id: string
  readonly account_id: string
  readonly key_digest: Buffer
  readonly admitted: boolean
  readonly quota: number | null
  readonly remaining: number
  readonly reset_seconds: number
  readonly limits: TierLimits
  readonly batch_items: number
  readonly read_only: boolean
}

/**
 * Finds who makes a request by the key.
 * @param signal withdraws an unsent statement, because a refused request must not count.
 * @returns null for an unknown, malformed, expired or revoked key, and for a key of the other role.
 */
type Find<Found> = (key: string, signal?: AbortSignal) => Promise<Found | null>

/** Creates the function that finds a request's caller and counts the request. */
export function createAdmit(sql: Database): Find<Caller> {
  const lookUp = createLookUp(sql, 'submit')
  return async (key, signal) => {
    const row = await lookUp(key, signal)
    if (row === null) return null
    const { quota, remaining, reset_seconds: resetSeconds } = row
    return {
      apiKeyId: row.api_key_id,
      accountId: row.account_id,
      admitted: row.admitted,
      limits: row.limits,
      batchItems: row.batch_items,
      rate: quota === null ? null : { quota, remaining, resetSeconds },
    }
  }
}

/** Creates the function that finds a request's operator. */
export function createAdmitOperator(sql: Database): Find<Operator> {
  const lookUp = createLookUp(sql, 'operator')
  return async (key, signal) => {
    const row = await lookUp(key, signal)
    return row === null ? null : { apiKeyId: row.api_key_id, isReadOnly: row.read_only }
  }
}

/** Keys of requests that arrive together are looked up in one statement. */
function createLookUp(sql: Database, role: Role): Find<AdmissionRow> {
  const batch = createBatch<Buffer, AdmissionRow | null>({
    run: (digests, signals) => admitSet(sql, role, digests, signals),
    statements: 2,
    items: 32,
  })
  return async (key, signal) => {
    if (!isWellFormedKey(key, role)) return null
    const digest = digestKey(key)
    const row = await batch(digest, signal)
    // Compares digests in constant time, which the lookup by index does not do.
    return row !== null && timingSafeEqual(digest, row.key_digest) ? row : null
  }
}

/** Looks up keys by digest. Returns a row for each digest, in their order; null for an unknown or invalid key. */
async function admitSet(
  sql: Database,
  role: Role,
  digests: readonly Buffer[],
  signals: readonly AbortSignal[],
): Promise<readonly (AdmissionRow | null)[]> {
  const keys = digests.map((digest, n) => ({ n, digest: digest.toString('hex') }))
  // Sorted by digest, so that two statements that lock the same rate windows cannot deadlock.
  const rows = await cancelOnAbort(
    sql<(AdmissionRow & { readonly n: number })[]>`
      select key.n, admitted.*
      from (
        select * from jsonb_to_recordset(${JSON.stringify(keys)}::text::jsonb) key (n integer, digest text) order by digest
      ) key
      cross join lateral runledger.admit_request(decode(key.digest, 'hex'), ${role}) admitted`,
    ...signals,
  )
  const answers: (AdmissionRow | null)[] = digests.map(() => null)
  for (const { n, ...row } of rows) answers[n] = row
  return answers
}
