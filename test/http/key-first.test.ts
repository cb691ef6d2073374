// The key is checked before anything else, at each request. A key that was valid a moment ago is refused, whatever the
// request holds.
import t from 'tap'
import { createTestDatabase } from '../helper/database.ts'
import { startServer } from '../helper/server.ts'

const { sql, url, drop } = await createTestDatabase()
t.teardown(drop)
const { call, issue } = await startServer(t, sql, { url })
const good = { language: 'python', code: '' }
const bad = { language: 'latin', code: '' }

async function createUsedKey(): Promise<{ readonly key: string; readonly id: string }> {
  const key = await issue()
  t.equal((await call('POST', '/api/submit', { key, body: good })).status, 202)
  const [row] = await sql`select id from runledger.api_key order by created_at desc limit 1`
  return { key, id: row?.['id'] as string }
}

async function countEvents(): Promise<number> {
  const [row] = await sql`select count(*) from runledger.event where type = 'submission.received'`
  return row?.['count'] as number
}

t.test('a key that is revoked is refused at once, whatever its request holds', async (t) => {
  const { key, id } = await createUsedKey()
  t.equal((await call('POST', '/api/submit', { key, body: good })).status, 202)
  await sql`update runledger.api_key set revoked_at = now() where id = ${id}`
  const before = await countEvents()
  t.equal((await call('POST', '/api/submit', { key, body: good })).status, 401)
  t.equal((await call('POST', '/api/submit', { key, body: good })).status, 401)
  t.equal(await countEvents(), before)

  const other = await createUsedKey()
  await sql`update runledger.api_key set revoked_at = now() where id = ${other.id}`
  t.equal((await call('POST', '/api/submit', { key: other.key, body: bad })).status, 401)
  const headers = { 'Content-Type': 'text/plain' }
  const third = await createUsedKey()
  await sql`update runledger.api_key set expires_at = now() where id = ${third.id}`
  t.equal((await call('POST', '/api/submit', { key: third.key, headers, body: 'x' })).status, 401)
})

t.test('a stream of one that is revoked is announced to nobody', async (t) => {
  const { key, id } = await createUsedKey()
  await sql`update runledger.api_key set revoked_at = now() where id = ${id}`
  const headers = { Accept: 'text/event-stream' }
  t.equal((await call('POST', '/api/submit', { key, body: good, headers })).status, 401)
  t.strictSame([...(await sql`select from runledger.watch`)], [])
})

t.test('its other requests are refused as well', async (t) => {
  const { key, id } = await createUsedKey()
  await sql`update runledger.api_key set revoked_at = now() where id = ${id}`
  for (const [method, path] of [
    ['GET', '/api/submissions'],
    ['POST', '/api/submit/batch'],
  ] as const) {
    t.equal((await call(method, path, { key })).status, 401, path)
  }
})

t.test('a key that gets a rate limit is counted from its next request on', async (t) => {
  const { key, id } = await createUsedKey()
  await sql`update runledger.api_key set tier = 'beta' where id = ${id}`
  const statuses: number[] = []
  for (let n = 0; n < 61; n += 1) {
    const { status } = await call('POST', '/api/submit', { key, body: n % 2 === 0 ? good : bad })
    statuses.push(status)
  }
  t.equal(statuses.filter((status) => status === 202).length, 30)
  t.equal(statuses.filter((status) => status === 400).length, 30)
  t.equal(statuses.at(-1), 429)
})

t.test('a good key with a bad request is told what is wrong with it', async (t) => {
  const { key } = await createUsedKey()
  const { status, body } = await call('POST', '/api/submit', { key, body: bad })
  t.equal(status, 400)
  t.match(body.issues, [{ path: 'language' }])
})
