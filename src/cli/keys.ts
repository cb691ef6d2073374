// The commands `keys …`. Each change is an event of the key's stream, with the operator's name.
import {
  changeKeyTier,
  isCell,
  isKeyName,
  issueKey,
  keyNameMost,
  listKeys,
  listTiers,
  revokeKey,
  rotateKey,
} from '#account'
import type { Role } from '#account'
import { errorCode, sqlState } from '#database'
import type { Database } from '#database'
import { isUuid } from '#id'
import { CommandError, defineCommand, flag, misuse, takes } from './command.ts'
import { operator, withDatabase } from './connect.ts'
import { findId, isPart } from './option.ts'
import { jsonOption, printRecord, printRows } from './output.ts'
import { describeTier } from './tiers.ts'

const idNotes =
  'ID: a key’s id, the beginning or end of the id, or the name of a valid key if no other valid key has it.'

const expires = takes('DATE', 'when it expires, such as 2030-01-31')

export const keyCommands = [
  defineCommand({
    name: 'keys issue',
    summary: 'issue a key, which is shown only once',
    options: {
      account: takes('NAME', 'account of the key; created if it is new', { required: true }),
      tier: takes('TIER', 'see `runledger tiers list`; default `beta`'),
      name: takes('TEXT', 'what the key is for; `change`, `rotate` and `revoke` accept it as ID'),
      expires,
      role: takes(
        'ROLE',
        '`submit`, or `operator`: watches and controls the service, cannot submit',
        { default: 'submit' },
      ),
      cell: takes(
        'LETTER',
        'first character of the key, by which a router finds its cell: docs/cells.md',
      ),
      'read-only': flag('an operator’s key that cannot change anything'),
    },
    run: ({ values }) =>
      withDatabase(async (sql) => {
        const { account, tier: given, 'read-only': readOnly } = values
        const role = readRole(values.role, given, readOnly)
        const name = readName(values.name)
        const tier = given ?? (role === 'operator' ? 'unlimited' : 'beta')
        const cell = readCell(values.cell)
        const expiresAt = readDate(values.expires)
        const request = { account, tier, name, expiresAt, role, readOnly, cell }
        const issued = await nameTiers(sql, tier, () => issueKey(sql, request, operator()))
        const isForPeople = process.stdout.isTTY && role === 'submit'
        const words = isForPeople ? { tier: await describeOne(sql, tier) } : {}
        printRecord({ ...issued, ...words }, process)
      }),
  }),
  defineCommand({
    name: 'keys list',
    summary: 'list keys, newest first',
    options: { account: takes('NAME', 'only keys of this account'), json: jsonOption },
    run: ({ values: { account, json } }) =>
      withDatabase(async (sql) => printRows(await listKeys(sql, account), process, json)),
  }),
  defineCommand({
    name: 'keys change',
    operands: ['ID'],
    summary: 'change the tier of a key',
    notes: idNotes,
    options: { tier: takes('TIER', 'see `runledger tiers list`', { required: true }) },
    run: ({ operands: [id = ''], values: { tier } }) =>
      withKey(id, async (sql, key) => {
        const isChanged = await nameTiers(sql, tier, () =>
          changeKeyTier(sql, key, tier, operator()),
        )
        return isChanged ? { id: key, tier } : null
      }),
  }),
  defineCommand({
    name: 'keys rotate',
    operands: ['ID'],
    summary: 'issue a successor of a key; the old key works until the overlap ends',
    notes: idNotes,
    options: {
      overlap: takes('SECONDS', 'how long both keys work', { default: '86400' }),
      expires,
    },
    run: ({ operands: [id = ''], values: { overlap, expires: end } }) =>
      withKey(id, (sql, key) => {
        // At most thirty years, because a bad date must fail before the successor is issued.
        if (!/^\d{1,9}$/.test(overlap))
          throw misuse('--overlap must be a number of seconds, at most 999999999')
        return rotateKey(sql, key, Number(overlap), operator(), readDate(end))
      }),
  }),
  defineCommand({
    name: 'keys revoke',
    operands: ['ID'],
    summary: 'revoke a key at once',
    notes: idNotes,
    run: ({ operands: [id = ''] }) =>
      withKey(id, async (sql, key) =>
        (await revokeKey(sql, key, operator())) ? { id: key, revoked: true } : null,
      ),
  }),
]

/** Changes a key and prints the result. @param change returns null when there is no such key in force. */
async function withKey(
  part: string,
  change: (sql: Database, key: string) => Promise<object | null>,
): Promise<void> {
  await withDatabase(async (sql) => {
    const changed = await change(sql, await readId(sql, part))
    if (changed === null) throw new CommandError('there is no valid key with this ID')
    printRecord(changed, process)
  })
}

async function describeOne(sql: Database, name: string): Promise<string> {
  const tier = (await listTiers(sql)).find((one) => one.name === name)
  return tier === undefined ? name : describeTier(tier)
}

/** Does the work. @throws {CommandError} that lists the tiers when there is no such tier. */
async function nameTiers<T>(sql: Database, tier: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (errorCode(error) !== sqlState.foreignKeyViolation) throw error
    const known = (await listTiers(sql)).map(describeTier)
    throw new CommandError(`there is no tier ${tier}; the tiers are ${known.join(', ')}`)
  }
}

function readDate(text: string | undefined): Date | undefined {
  if (text === undefined) return undefined
  const date = new Date(text)
  if (!(date.getTime() > Date.now())) throw misuse('--expires must be a future date')
  return date
}

function readRole(word: string, tier: string | undefined, readOnly: boolean): Role {
  if (word !== 'submit' && word !== 'operator') throw misuse('--role must be submit or operator')
  if (word === 'operator' && tier !== undefined)
    throw misuse('--tier is for keys that submit: an operator’s key has no limits')
  if (word === 'submit' && readOnly) throw misuse('--read-only needs --role operator')
  return word
}

function readName(text: string | undefined): string | undefined {
  if (text === undefined || isKeyName(text)) return text
  throw misuse(
    `--name must be one line of 1 to ${keyNameMost} characters, without control characters, without blanks at its ends, and not a key`,
  )
}

function readCell(text: string | undefined): string | undefined {
  if (text === undefined || isCell(text)) return text
  throw misuse('--cell must be a letter, A to Z or a to z')
}

/**
 * Finds a key's id.
 * @param part the id, its beginning or end, or the name of one key in force.
 * @throws {CommandError} when no key fits, or several, such as one by its name and another by its id.
 */
async function readId(sql: Database, part: string): Promise<string> {
  if (isUuid(part)) return part
  const keys = await listKeys(sql)
  const named = keys.filter(
    ({ name, revoked_at: revokedAt, expires_at: expiresAt }) =>
      name === part && revokedAt === null && (expiresAt?.getTime() ?? Infinity) > Date.now(),
  )
  const [first] = named
  if (first === undefined) return findId(keys, part, 'key')
  const fitting = new Set([...named, ...keys.filter(({ id }) => isPart(part, id))])
  if (fitting.size === 1) return first.id
  const ids = [...fitting].map(({ id, account }) => `${id} (${account})`)
  throw new CommandError(`${part} could be ${ids.length} keys: ${ids.join(', ')}`)
}
