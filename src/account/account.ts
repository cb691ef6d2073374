// The entry to accounts. Keys are managed on the server only, never over HTTP.
import { json } from '#database'
import type { Database, Queryable } from '#database'
import { schemaVersion } from '#event'
import type { EventData, Metadata } from '#event'
import { createId } from '#id'
import { digestKey, findCell, generateKey, labelKey } from './key.ts'
import type { Role } from './key.ts'

export { isCell, isKeyName, isWellFormedKey, keyNameMost } from './key.ts'
export type { Role } from './key.ts'
export { createAdmit, createAdmitOperator } from './admit.ts'
export type { Caller, Operator, RateWindow } from './admit.ts'
export { listTiers, setTier } from './tier.ts'
export type { ListedTier, Tier, TierLimits } from './tier.ts'

/** Columns of audit.api_key. */
interface ListedKey {
  readonly id: string
  readonly account: string
  readonly label: string
  readonly name: string | null
  readonly tier: string
  readonly created_at: Date
  readonly expires_at: Date | null
  readonly revoked_at: Date | null
  readonly role: Role
  /** True for an operator key that can read but change nothing. */
  readonly read_only: boolean
}

/** A new key. Its text is shown once. */
export interface IssuedKey {
  readonly id: string
  readonly key: string
}

interface KeyRequest {
  /** The account's name. The account is created if it does not exist. */
  readonly account: string
  readonly tier: string
  readonly expiresAt?: Date | undefined
  /** `submit` by default. */
  readonly role?: Role
  /** For an operator key: it can read but change nothing. */
  readonly readOnly?: boolean
  /** Must pass `isKeyName`. Several keys may have the same name. */
  readonly name?: string | undefined
  /** Must pass `isCell`. A router finds the key's database by it. */
  readonly cell?: string | undefined
  /** A new id by default. */
  readonly id?: string
  /** The key that this one replaces. */
  readonly replaces?: string
}

/**
 * Issues a key. Its text is returned here only, because only its digest is stored.
 * @throws 23503 when the tier does not exist.
 */
export async function issueKey(
  sql: Queryable,
  request: KeyRequest,
  operator: string,
): Promise<IssuedKey> {
  const { id = createId(), role = 'submit', readOnly = false, name, cell } = request
  const key = generateKey(role, cell)
  const data: EventData['api_key.issued'] = {
    account: request.account,
    tier: request.tier,
    label: labelKey(key),
    expires_at: request.expiresAt?.toISOString() ?? null,
    replaces: request.replaces ?? null,
    ...(role === 'operator' && { role, read_only: readOnly }),
    ...(name !== undefined && { name }),
  }
  const metadata: Metadata = { actor: { operator } }
  await sql`
    select runledger.issue_key(
      ${id}, ${createId()}, ${digestKey(key)}, ${schemaVersion}, ${json(sql, data)}, ${json(sql, metadata)}
    )`
  return { id, key }
}

/** Lists keys, newest first. */
export async function listKeys(sql: Database, account?: string): Promise<ListedKey[]> {
  return sql<ListedKey[]>`
    select id, account, label, name, tier, created_at, expires_at, revoked_at, role, read_only
    from audit.api_key
    where ${account ?? null}::text is null or account = ${account ?? null}
    order by created_at desc`
}

/**
 * Issues a successor with the same name and cell, in one transaction. The old key works until the overlap is over.
 * @param expiresAt the successor's expiry; by default that of the old key.
 * @returns null when no such key is in force.
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
  const successorId = createId()
  return sql.begin(async (transaction) => {
    const isInForce = await changeKey(transaction, id, operator, 'api_key.rotated', {
      replaced_by: successorId,
      works_until: worksUntil.toISOString(),
    })
    if (!isInForce) return null
    const { account, tier, role, read_only: readOnly, name, label } = old
    const cell = findCell(label)
    const ends = expiresAt ?? old.expires_at ?? undefined
    const successor = { id: successorId, replaces: id, name: name ?? undefined, expiresAt: ends }
    return issueKey(transaction, { account, tier, role, readOnly, cell, ...successor }, operator)
  })
}

/** Moves a key to another tier. @returns false when no such key is in force. @throws 23503 when the tier does not exist. */
export async function changeKeyTier(
  sql: Database,
  id: string,
  tier: string,
  operator: string,
): Promise<boolean> {
  return changeKey(sql, id, operator, 'api_key.changed', { tier })
}

/** Revokes a key at once. @returns false when no such key is in force. */
export async function revokeKey(sql: Queryable, id: string, operator: string): Promise<boolean> {
  return changeKey(sql, id, operator, 'api_key.revoked', {})
}

/**
 * Finds the key under which operators submit for an account. A missing key is created: it is revoked at
 * once, and nobody has its text.
 * @returns the key's id.
 * @throws 23503 when there is no tier `unlimited`.
 */
export async function findOperatorKey(
  sql: Database,
  accountId: string,
  metadata: Metadata,
): Promise<string> {
  const [{ id }] = await sql<[{ id: string | null }]>`
    select runledger.find_operator_key(
      ${accountId}, ${createId()}, ${schemaVersion}, ${json(sql, metadata)}
    ) as id`
  if (id === null) throw new Error(`there is no account ${accountId}`)
  return id
}

async function changeKey<Type extends `api_key.${string}` & keyof EventData>(
  sql: Queryable,
  id: string,
  operator: string,
  type: Type,
  data: EventData[Type],
): Promise<boolean> {
  const metadata: Metadata = { actor: { operator } }
  const [{ changed }] = await sql<[{ changed: boolean }]>`
    select runledger.change_key(
      ${id}, ${type}, ${schemaVersion}, ${json(sql, data)}, ${json(sql, metadata)}
    ) as changed`
  return changed
}
