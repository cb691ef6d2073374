// The door to accounts: who may call, with which key, how often. Keys are managed on the server only, never over HTTP.
import { timingSafeEqual } from 'node:crypto'
import { v7 as uuidv7 } from 'uuid'
import { cancelOnAbort, json } from '#database'
import type { Database, Queryable } from '#database'
import { schemaVersion } from '#event'
import type { ApiKeyEvent } from '#event'
import { actor } from './actor.ts'
import { digestKey, generateKey, isWellFormedKey, labelKey } from './key.ts'

export { isWellFormedKey } from './key.ts'
export { createKnownKeys } from './known-key.ts'
export { listTiers, setTier } from './tier.ts'
export type { ListedTier, Tier } from './tier.ts'

/** A valid key's caller and the state of its rate window. */
export interface Caller {
  readonly apiKeyId: string
  readonly accountId: string
  /** False: this request is over the limit. */
  readonly admitted: boolean
  /** Null for a tier without a rate limit. */
  readonly rate: RateWindow | null
}

export interface RateWindow {
  /** Requests in any 60 seconds. */
  readonly quota: number
  readonly remaining: number
  /** After this many seconds the window admits at least one more. */
  readonly resetSeconds: number
}

/** A key as the list shows it. */
export interface ListedKey {
  readonly id: string
  readonly account: string
  readonly label: string
  readonly tier: string
  readonly createdAt: Date
  readonly expiresAt: Date | null
  readonly revokedAt: Date | null
}

/** A new key: its text is shown once. */
export interface IssuedKey {
  readonly id: string
  readonly key: string
}

/** What a new key is for. */
export interface KeyRequest {
  /** The account's name; made if there is none yet. */
  readonly account: string
  readonly tier: string
  readonly expiresAt?: Date | undefined
}

/** A row of runledger.admit_request; without a quota the other figures say nothing. */
interface AdmissionRow {
  readonly api_key_id: string
  readonly account_id: string
  readonly key_digest: Buffer
  readonly admitted: boolean
  readonly quota: number | null
  readonly remaining: number
  readonly reset_seconds: number
}

/**
 * Finds the caller of a request and counts the request. One round trip; none for a key that cannot be one.
 * @param signal withdraws a request that was not sent to the database: one that was answered without it must not count.
 * @returns null for an unknown, malformed, expired or revoked key.
 */
export async function admitRequest(
  sql: Database,
  key: string,
  signal: AbortSignal = AbortSignal.any([]),
): Promise<Caller | null> {
  if (!isWellFormedKey(key)) return null
  const digest = digestKey(key)
  const [row] = await cancelOnAbort(
    sql<AdmissionRow[]>`select * from runledger.admit_request(${digest})`,
    signal,
  )
  // The index found it; comparing again in constant time leaves nothing to the index's own timing.
  if (row === undefined || !timingSafeEqual(digest, row.key_digest)) return null
  return {
    apiKeyId: row.api_key_id,
    accountId: row.account_id,
    admitted: row.admitted,
    rate:
      row.quota === null
        ? null
        : { quota: row.quota, remaining: row.remaining, resetSeconds: row.reset_seconds },
  }
}

/** Issues a key. The returned text is the only time it can be seen. @throws when the tier does not exist (23503). */
export async function issueKey(
  sql: Queryable,
  request: KeyRequest,
  operator: string,
  {
    id = uuidv7(),
    replaces = null,
  }: { readonly id?: string; readonly replaces?: string | null } = {},
): Promise<IssuedKey> {
  const key = generateKey()
  const event: ApiKeyEvent = {
    type: 'api_key.issued',
    data: {
      account: request.account,
      tier: request.tier,
      label: labelKey(key),
      expires_at: request.expiresAt?.toISOString() ?? null,
      replaces,
    },
  }
  await sql`
    select runledger.issue_key(
      ${id}, ${uuidv7()}, ${request.account}, ${request.tier}, ${labelKey(key)}, ${digestKey(key)},
      ${request.expiresAt ?? null}, ${schemaVersion}, ${json(sql, event.data)}, ${actor(sql, operator)}
    )`
  return { id, key }
}

/** All keys, newest first; of one account when it is named. */
export async function listKeys(sql: Database, account?: string): Promise<ListedKey[]> {
  return sql<ListedKey[]>`
    select id, account, label, tier, created_at as "createdAt", expires_at as "expiresAt", revoked_at as "revokedAt"
    from audit.api_key
    where ${account ?? null}::text is null or account = ${account ?? null}
    order by created_at desc`
}

/**
 * Issues a successor with the same account and tier; the old key goes on working for the overlap. Both or neither.
 * @param expiresAt when the successor expires; by default when the old key would have.
 * @returns null when there is no such key in force.
 */
export async function rotateKey(
  sql: Database,
  id: string,
  overlapSeconds: number,
  operator: string,
  expiresAt?: Date,
): Promise<IssuedKey | null> {
  const old = (await listKeys(sql)).find((key) => key.id === id)
  if (old === undefined) return null
  const worksUntil = new Date(Date.now() + overlapSeconds * 1000)
  const successorId = uuidv7()
  return sql.begin(async (transaction) => {
    const isInForce = await endKey(transaction, id, worksUntil, operator, {
      type: 'api_key.rotated',
      data: { replaced_by: successorId, works_until: worksUntil.toISOString() },
    })
    if (!isInForce) return null
    const { account, tier } = old
    return issueKey(
      transaction,
      { account, tier, expiresAt: expiresAt ?? old.expiresAt ?? undefined },
      operator,
      { id: successorId, replaces: id },
    )
  })
}

/**
 * Brings a key to another tier. @returns false when there is no such key in force.
 * @throws when the tier does not exist (23503).
 */
export async function changeKeyTier(
  sql: Database,
  id: string,
  tier: string,
  operator: string,
): Promise<boolean> {
  const event: ApiKeyEvent = { type: 'api_key.changed', data: { tier } }
  const [{ changed }] = await sql<[{ changed: boolean }]>`
    select runledger.change_key(
      ${id}, ${tier}, ${schemaVersion}, ${json(sql, event.data)}, ${actor(sql, operator)}
    ) as changed`
  return changed
}

/** Revokes a key at once. @returns false when there is no such key in force. */
export async function revokeKey(sql: Database, id: string, operator: string): Promise<boolean> {
  return endKey(sql, id, new Date(), operator, { type: 'api_key.revoked', data: {} })
}

async function endKey(
  sql: Queryable,
  id: string,
  endsAt: Date,
  operator: string,
  event: ApiKeyEvent,
): Promise<boolean> {
  const [{ ended }] = await sql<[{ ended: boolean }]>`
    select runledger.end_key(
      ${id}, ${endsAt}, ${event.type}, ${schemaVersion}, ${json(sql, event.data)}, ${actor(sql, operator)}
    ) as ended`
  return ended
}
