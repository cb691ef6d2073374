// Who may call, and how often: by submitters' keys, and by those of operators, who look at the service and steer it.
import { timingSafeEqual } from 'node:crypto'
import { cancelOnAbort, createBatch } from '#database'
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
 * Finds a request's caller and counts the request.
 * @param signal withdraws an unsent statement: a refused request must not count.
 * @returns null for an unknown, malformed, expired or revoked key.
 */
export type Admit = (key: string, signal?: AbortSignal) => Promise<Caller | null>

/** One for all requests of a process: those that come together are looked up in one statement. */
export function createAdmit(sql: Database): Admit {
  const batch = createBatch<Buffer, AdmissionRow | null>({
    run: (digests, signals) => admitSet(sql, 'submit', digests, signals),
    statements: 2,
    items: 32,
  })
  return async (key, signal) => {
    if (!isWellFormedKey(key, 'submit')) return null
    const digest = digestKey(key)
    const row = await batch(digest, signal)
    if (row === null || !isFor(row, digest)) return null
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
  const [row] = await admitSet(sql, 'operator', [digest], [signal])
  if (!row || !isFor(row, digest)) return null
  return { apiKeyId: row.api_key_id, isReadOnly: row.read_only }
}

/** Answers in the order of the digests; null where there is no such key. */
async function admitSet(
  sql: Database,
  role: Role,
  digests: readonly Buffer[],
  signals: readonly AbortSignal[],
): Promise<readonly (AdmissionRow | null)[]> {
  const keys = digests.map((digest, n) => ({ n, digest: digest.toString('hex') }))
  // In the order of digests: two statements that lock the same rate windows wait for each other, not in a circle.
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

/** The lookup is by index; this comparison takes constant time. */
function isFor(row: AdmissionRow, digest: Buffer): boolean {
  return timingSafeEqual(digest, row.key_digest)
}
