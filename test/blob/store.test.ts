// Several web processes store blobs at the same time: a quota is exact, and the same bytes are stored once.
import { createHash, randomBytes } from 'node:crypto'
import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { setTier } from '#account'
import type { Caller } from '#account'
import { findBlobs, storeBlob } from '#blob'
import type { Stored } from '#blob'
import { openTestDatabase } from '../helper/database.ts'
import { createCaller } from '../helper/submission.ts'

const { sql } = await openTestDatabase(t)
const never = new AbortController().signal
const nameOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

const store = ({ apiKeyId }: Caller, bytes: Uint8Array): Promise<Stored> =>
  storeBlob(sql, apiKeyId, nameOf(bytes), bytes, never)

async function createCallerWith(blobBytes: number | null): Promise<Caller> {
  const name = `t${uuidv7().slice(-12)}`
  const tier = { name, blob_bytes: blobBytes }
  await setTier(sql, tier, 'test')
  return createCaller(sql, name)
}

const broken = async (): Promise<unknown[]> => [...(await sql`select * from audit.invariant`)]

t.test('as many are stored at once as the quota has room for, and no more', async (t) => {
  for (const size of [5000, 300_000]) {
    const caller = await createCallerWith(7 * size)
    const stored = await Promise.all(
      Array.from({ length: 20 }, () => store(caller, randomBytes(size))),
    )
    t.equal(stored.filter((one) => one === 'new').length, 7)
    t.equal(stored.filter((one) => one === 'quota_exceeded').length, 13)
  }
  t.strictSame(await broken(), [])
})

t.test('the same bytes at once are stored once, whole, and counted once', async (t) => {
  for (const size of [10, 1_000_000]) {
    const bytes = randomBytes(size)
    const caller = await createCallerWith(Math.max(4096, size))
    const stored = await Promise.all(Array.from({ length: 5 }, () => store(caller, bytes)))
    t.equal(stored.filter((one) => one === 'new').length, 1)
    t.equal(stored.filter((one) => one === 'kept').length, 4)
    t.strictSame(
      [...(await findBlobs(sql, caller.accountId, [nameOf(bytes)]))],
      [[nameOf(bytes), size]],
    )
  }
  t.strictSame(await broken(), [])
})

t.test('what is refused leaves nothing, and what is there is kept without room', async (t) => {
  const caller = await createCallerWith(700_000)
  const [first, second] = [randomBytes(600_000), randomBytes(600_000)]
  t.equal(await store(caller, first), 'new')
  t.equal(await store(caller, second), 'quota_exceeded')
  t.equal((await findBlobs(sql, caller.accountId, [nameOf(second)])).size, 0)
  await setTier(sql, { name: 'narrow', blob_bytes: 1 }, 'test') // prettier-ignore
  await sql`update runledger.api_key set tier = 'narrow' where id = ${caller.apiKeyId}`
  t.equal(await store(caller, first), 'kept')
  t.equal(await store(caller, randomBytes(1)), 'quota_exceeded')
  t.strictSame(await broken(), [])
})

t.test('a tier without a limit has none', async (t) => {
  const caller = await createCallerWith(null)
  await sql`update runledger.account set blob_bytes = 1e15 where id = ${caller.accountId}`
  t.equal(await store(caller, randomBytes(10)), 'new')
})
