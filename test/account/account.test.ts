// Keys are issued and rotated as a whole or not at all, and a presented key is compared in constant time.
import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import t from 'tap'
import { createAdmit, issueKey, listKeys, revokeKey, rotateKey } from '#account'
import type { IssuedKey } from '#account'
import { openTestDatabase } from '../helper/database.ts'
import { createCaller } from '../helper/submission.ts'

const { sql } = await openTestDatabase(t)

const countRows = async (): Promise<unknown> =>
  (
    await sql`
      select (select count(*) from runledger.account) as accounts, (select count(*) from runledger.api_key) as keys,
        (select count(*) from runledger.event) as events`
  )[0]

t.test('a tier that does not exist leaves nothing behind, no account either', async (t) => {
  const before = await countRows()
  const issuing = issueKey(sql, { account: 'new', tier: 'none' }, 'test')
  await t.rejects(issuing, { code: '23503' })
  t.strictSame(await countRows(), before)
})

t.test('keys of one account name belong to one account, also when it is new', async (t) => {
  const issued = await Promise.all(
    Array.from({ length: 8 }, () => issueKey(sql, { account: 'racing', tier: 'beta' }, 'test')),
  )
  const callers = await Promise.all(issued.map(({ key }) => createAdmit(sql)(key)))
  t.equal(new Set(callers.map((caller) => caller?.accountId)).size, 1)
})

t.test('keys that come together have each its own answer, and each one counts', async (t) => {
  const [one, other, revoked] = await Promise.all([1, 2, 3].map(() => createCaller(sql, 'beta')))
  await revokeKey(sql, revoked!.apiKeyId, 'test')
  const admit = createAdmit(sql)
  const asked = [other, revoked, one, other, one, one]
  const answers = await Promise.all(asked.map((caller) => admit(caller!.key)))
  t.strictSame(
    answers.map((answer) => answer?.apiKeyId),
    asked.map((caller) => (caller === revoked ? undefined : caller!.apiKeyId)),
  )
  const remaining = answers.map((answer) => answer?.rate?.remaining)
  const most = one!.rate!.remaining // after its first request
  t.strictSame(new Set([remaining[0], remaining[3]]), new Set([most - 1, most - 2]))
  t.strictSame(new Set([2, 4, 5].map((n) => remaining[n])), new Set([1, 2, 3].map((n) => most - n)))
})

t.test('a rotation that fails leaves the old key as it was', async (t) => {
  const { apiKeyId, key } = await createCaller(sql, 'beta')
  const readKey = async (): Promise<unknown> => (await listKeys(sql)).find(({ id }) => id === apiKeyId) // prettier-ignore
  const [before, rows] = [await readKey(), await countRows()]
  await sql`
    create function refuse_issue() returns trigger language plpgsql as
    $$ begin raise exception 'no' using errcode = 'P0001'; end $$`
  await sql`
    create trigger refuse before insert on runledger.event
    for each row when (new.type = 'api_key.issued') execute function refuse_issue()`
  await t.rejects(rotateKey(sql, apiKeyId, 0, 'test'), { code: 'P0001' })
  await sql`drop trigger refuse on runledger.event`
  t.strictSame(await readKey(), before)
  t.strictSame(await countRows(), rows)
  t.not(await createAdmit(sql)(key), null)
  t.not(await rotateKey(sql, apiKeyId, 0, 'test'), null)
  t.equal(await createAdmit(sql)(key), null)
})

// Only two searches take a time that depends on the key: the index's, and the one among recently seen keys. Both search for
// a digest, so an attacker who measures them would have to choose digests, that is, invert SHA-256. The final comparison
// with the row that the database found takes constant time.
t.test('a key is looked up by its digest, and compared by timingSafeEqual alone', async (t) => {
  const { key } = await createCaller(sql)
  const other = await createCaller(sql)
  const { timingSafeEqual } = crypto
  const compared: Buffer[][] = []
  t.teardown(() => {
    crypto.timingSafeEqual = timingSafeEqual
    syncBuiltinESMExports()
  })
  crypto.timingSafeEqual = (a, b) => {
    compared.push([a as Buffer, b as Buffer])
    return timingSafeEqual(a, b)
  }
  syncBuiltinESMExports()
  t.not(await createAdmit(sql)(key), null)
  const digest = crypto.createHash('sha256').update(key).digest()
  t.strictSame(compared, [[digest, digest]])
  // A look-up that returns another key's row admits nobody.
  crypto.timingSafeEqual = () => false
  syncBuiltinESMExports()
  t.equal(await createAdmit(sql)(other.key), null)
})

t.test('a successor expires with the key it follows, unless told otherwise', async (t) => {
  const expiresAt = new Date(Date.now() + 86_400_000)
  const later = new Date(Date.now() + 2 * 86_400_000)
  const first = await issueKey(sql, { account: 'expiring', tier: 'beta', expiresAt }, 'test')
  const read = async (key: IssuedKey | null): Promise<Date | null | undefined> =>
    (await listKeys(sql, 'expiring')).find(({ id }) => id === key?.id)?.expires_at
  const second = await rotateKey(sql, first.id, 0, 'test')
  t.strictSame(await read(second), expiresAt)
  const third = await rotateKey(sql, second?.id ?? '', 0, 'test', later)
  t.strictSame(await read(third), later)
})

t.test('a key that names a cell has a successor that names it too', async (t) => {
  const first = await issueKey(sql, { account: 'of a cell', tier: 'beta', cell: 'q' }, 'test')
  t.match(first.key, /^rl_live_q/)
  t.match(await rotateKey(sql, first.id, 0, 'test'), { key: /^rl_live_q/ })
  const [other] = await listKeys(sql, 'racing')
  t.match(await rotateKey(sql, other?.id ?? '', 0, 'test'), { key: /^rl_live_[012]/ })
})
