// Who may call, and how often: by submitters' keys, and by those of operators, who look at the service and steer it.
import { timingSafeEqual } from 'node:crypto'
import { cancelOnAbort } from '#database'
import type { Database } from '#database'
import { digestKey, isWellFormedKey } from './key.ts'
import type { Role } from './key.ts'
import type { TierLimits } from './tier.ts'

export interface Caller {
  readonly apiKeyId: string
  readonly accountId: string
  /** False: over the rate limit. */
  readonly admitted: boolean
  /** Null: the tier has no rate limit. */
  readonly rate: RateWindow | null
  /** The most that a submission's own limits may be, as the log spells them. */
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
  /** It may look, and change nothing. */
  readonly isReadOnly: boolean
}

/** A row of runledger.admit_request; without a quota, `remaining` and `reset_seconds` mean nothing. */
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
 * Finds a request's caller and counts the request, in one round trip.
 * @param signal withdraws an unsent statement: a refused request must not count.
 * @returns null for an unknown, malformed, expired or revoked key.
 */
export async function admitRequest(
  sql: Database,
  key: string,
  signal: AbortSignal = AbortSignal.any([]),
): Promise<Caller | null> {
  const row = await admit(sql, key, 'submit', signal)
  if (row === null) return null
  return {
    apiKeyId: row.api_key_id,
    accountId: row.account_id,
    admitted: row.admitted,
    limits: row.limits,
    batchItems: row.batch_items,
    rate:
      row.quota === null
        ? null
        : { quota: row.quota, remaining: row.remaining, resetSeconds: row.reset_seconds },
  }
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
  const row = await admit(sql, key, 'operator', signal)
  return row === null ? null : { apiKeyId: row.api_key_id, isReadOnly: row.read_only }
}

async function admit(
  sql: Database,
  key: string,
  role: Role,
  signal: AbortSignal,
): Promise<AdmissionRow | null> {
  if (!isWellFormedKey(key, role)) return null
  const digest = digestKey(key)
  const [row] = await cancelOnAbort(
    sql<AdmissionRow[]>`select * from runledger.admit_request(${digest}, ${role})`,
    signal,
  )
  // The lookup is by index; this comparison takes constant time.
  return row !== undefined && timingSafeEqual(digest, row.key_digest) ? row : null
}
