// One account must not fill the queue for all: it may hold as much as is free, times its weight.
import t from 'tap'
import { createTestDatabase } from '../helper/database.ts'
import { finish } from '../helper/execution.ts'
import { startServer } from '../helper/server.ts'

const { sql, url, drop } = await createTestDatabase()
t.teardown(drop)
const capacity = 40
const { call, issue } = await startServer(t, sql, { url, queueCapacity: capacity, atOnce: 12 })
const python = { language: 'python', code: '' }

t.beforeEach(async () => {
  await sql`delete from runledger.pending`
  await sql`update runledger.tier set weight = 1`
})

/** Submits until it is refused; how many were received. */
async function fill(key: string): Promise<number> {
  for (let received = 0; received <= capacity; received += 1) {
    const { status, body } = await call('POST', '/api/submit', { key, body: python })
    if (status === 503) {
      t.equal(body.error, 'queue_full')
      return received
    }
  }
  throw new Error('it was never refused')
}

t.test('who is alone has half, and all who come later get in', async (t) => {
  const keys = await Promise.all(Array.from({ length: 4 }, () => issue('unlimited')))
  const held: number[] = []
  for (const key of keys) held.push(await fill(key))
  t.strictSame(held, [20, 10, 5, 3])
})

t.test('what ends goes to those below their share', async (t) => {
  const [first, second] = [await issue('unlimited'), await issue('unlimited')]
  const ids: string[] = []
  for (let n = 0; n < 20; n += 1)
    ids.push((await call('POST', '/api/submit', { key: first, body: python })).body.id)
  t.equal(await fill(second), 10)
  for (const id of ids.slice(0, 4)) await finish(sql, id)
  t.equal(await fill(first), 0)
  t.equal(await fill(second), 2, 'as many as are free then')
})

t.test('a tier of more weight has more', async (t) => {
  await sql`update runledger.tier set weight = 3 where name = 'unlimited'`
  t.equal(await fill(await issue('unlimited')), 30)
})

t.test('a batch gets in whole or not at all', async (t) => {
  const key = await issue('unlimited')
  const post = async (size: number): Promise<number> => {
    const submissions = Array.from({ length: size }, () => python)
    return (await call('POST', '/api/submit/batch', { key, body: { submissions } })).status
  }
  t.equal(await post(15), 202)
  t.equal(await post(15), 503)
  t.equal(await post(5), 202)
})

t.test(
  'requests of an account that come at once pass its share by a connection each',
  async (t) => {
    const key = await issue('unlimited')
    const answers = await Promise.all(
      Array.from({ length: 60 }, () => call('POST', '/api/submit', { key, body: python })),
    )
    const received = answers.filter(({ status }) => status === 202).length
    t.ok(received >= 20 && received <= 30, `${received} received`)
  },
)

t.test("Retry-After goes by the account's own ends", async (t) => {
  const [first, second] = [await issue('unlimited'), await issue('unlimited')]
  for (let n = 0; n < 4; n += 1) {
    const { body } = await call('POST', '/api/submit', { key: second, body: python })
    await finish(sql, body.id)
  }
  await fill(first)
  const { headers, body } = await call('POST', '/api/submit', { key: first, body: python })
  t.equal(headers['retry-after'], '60', 'none of its own has ended')
  t.match(body.message, /^Your account holds its share/)
})
