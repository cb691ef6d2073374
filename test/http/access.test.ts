// Who gets in: the key is checked before anything else, at each request, and an outsider learns nothing.
import { once } from 'node:events'
import { request } from 'node:http'
import type { ClientRequest, OutgoingHttpHeaders } from 'node:http'
import t from 'tap'
import { listKeys, revokeKey, rotateKey } from '#account'
import { finish } from '../helper/execution.ts'
import { startFreshServer } from '../helper/server.ts'
import { createCaller } from '../helper/submission.ts'

const server = await startFreshServer(t)
const { call, issue, sql } = server
const python = { language: 'python', code: '' }

const statusOf = async (key: string): Promise<number> =>
  (await call('GET', '/api/languages', { key })).status

t.test('without a valid key everything under /api is 401, whatever it is', async (t) => {
  const good = await issue()
  const flipped = good.slice(0, -1) + (good.endsWith('0') ? '1' : '0')
  const keys = [null, '', 'x', 'rl_live_', flipped, `${good}x`, good.toLowerCase(), `${good}, ${good}`] // prettier-ignore
  const paths = ['/api', '/api/', '/api/submit', '/api/nowhere', '/api/result/x', '/API/submit', '/api?key=1'] // prettier-ignore
  for (const key of keys) {
    for (const path of paths) {
      for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS']) {
        const answer = await call(method, path, { key, body: '{"bad', checked: false })
        t.equal(answer.status, 401, `${method} ${path} ${key}`)
        t.equal(answer.body.error, 'unauthorized')
      }
    }
  }
})

t.test('a stranger and a revoked and an expired key are told the same', async (t) => {
  const revoked = await createCaller(sql)
  await revokeKey(sql, revoked.apiKeyId, 'test')
  const expired = await createCaller(sql)
  await sql`update runledger.api_key set expires_at = now() - interval '1 s' where id = ${expired.apiKeyId}`
  const stranger = await createCaller(sql)
  await sql`update runledger.api_key set digest = sha256('other') where id = ${stranger.apiKeyId}`
  const bodies = new Set<string>()
  for (const { key } of [revoked, expired, stranger]) {
    const { status, text, headers } = await call('POST', '/api/submit', { key, body: python })
    t.equal(status, 401)
    t.equal(headers['ratelimit'], undefined)
    bodies.add(text)
  }
  t.equal(bodies.size, 1)
})

const bad = { language: 'latin', code: '' }

async function createUsedKey(): Promise<{ readonly key: string; readonly id: string }> {
  const key = await issue()
  t.equal((await call('POST', '/api/submit', { key, body: python })).status, 202)
  const [row] = await sql`select id from runledger.api_key order by created_at desc limit 1`
  return { key, id: row?.['id'] as string }
}

async function countEvents(): Promise<number> {
  const [row] = await sql`select count(*) from runledger.event where type = 'submission.received'`
  return row?.['count'] as number
}

t.test('a key that is revoked is refused at once, whatever its request holds', async (t) => {
  const { key, id } = await createUsedKey()
  t.equal((await call('POST', '/api/submit', { key, body: python })).status, 202)
  await sql`update runledger.api_key set revoked_at = now() where id = ${id}`
  const before = await countEvents()
  t.equal((await call('POST', '/api/submit', { key, body: python })).status, 401)
  t.equal((await call('POST', '/api/submit', { key, body: python })).status, 401)
  t.equal(await countEvents(), before)

  const other = await createUsedKey()
  await sql`update runledger.api_key set revoked_at = now() where id = ${other.id}`
  t.equal((await call('POST', '/api/submit', { key: other.key, body: bad })).status, 401)
  const headers = { 'Content-Type': 'text/plain' }
  const third = await createUsedKey()
  await sql`update runledger.api_key set expires_at = now() where id = ${third.id}`
  t.equal((await call('POST', '/api/submit', { key: third.key, headers, body: 'x' })).status, 401)
  t.equal((await call('GET', '/api/submissions', { key })).status, 401)
  t.equal((await call('POST', '/api/submit/batch', { key })).status, 401)
})

t.test('a stream of one that is revoked is announced to nobody', async (t) => {
  const { key, id } = await createUsedKey()
  await sql`update runledger.api_key set revoked_at = now() where id = ${id}`
  const headers = { Accept: 'text/event-stream' }
  t.equal((await call('POST', '/api/submit', { key, body: python, headers })).status, 401)
  t.strictSame([...(await sql`select from runledger.watch`)], [])
})

t.test('a key that gets a rate limit is counted from its next request on', async (t) => {
  const { key, id } = await createUsedKey()
  await sql`update runledger.api_key set tier = 'beta' where id = ${id}`
  const statuses: number[] = []
  for (let n = 0; n < 61; n += 1) {
    const { status } = await call('POST', '/api/submit', { key, body: n % 2 === 0 ? python : bad })
    statuses.push(status)
  }
  t.equal(statuses.filter((status) => status === 202).length, 30)
  t.equal(statuses.filter((status) => status === 400).length, 30)
  t.equal(statuses.at(-1), 429)
})

t.test('a rotated key works beside its successor until the overlap is over', async (t) => {
  const { key, apiKeyId } = await createCaller(sql)
  const successor = await rotateKey(sql, apiKeyId, 60, 'test')
  t.equal(await statusOf(key), 200)
  t.equal(await statusOf(successor?.key ?? ''), 200)
  await sql`update runledger.api_key set expires_at = expires_at - interval '60 s' where id = ${apiKeyId}`
  t.equal(await statusOf(key), 401)
  t.equal(await statusOf(successor?.key ?? ''), 200)
})

t.test('rotating neither revives an expired key nor lengthens one’s life', async (t) => {
  const { key, apiKeyId } = await createCaller(sql)
  await sql`update runledger.api_key set expires_at = now() + interval '2 s' where id = ${apiKeyId}`
  await rotateKey(sql, apiKeyId, 3600, 'test')
  const [row] = await sql`
    select expires_at < now() + interval '10 s' as soon from runledger.api_key where id = ${apiKeyId}`
  t.equal(row?.['soon'], true)
  await sql`update runledger.api_key set expires_at = now() - interval '1 s' where id = ${apiKeyId}`
  t.equal(await rotateKey(sql, apiKeyId, 3600, 'test'), null)
  t.equal(await statusOf(key), 401)
})

t.test('a successor sees the submissions of the key it replaced', async (t) => {
  const { key, apiKeyId } = await createCaller(sql)
  const { body } = await call('POST', '/api/submit', { key, body: python })
  const successor = await rotateKey(sql, apiKeyId, 60, 'test')
  t.equal((await call('GET', `/api/result/${body.id}`, { key: successor?.key ?? '' })).status, 200)
})

t.test('keys are kept as digests only', async (t) => {
  const key = await issue()
  const [row] = await sql`
    select count(*) as found from runledger.api_key k where k::text like ${`%${key.slice(12)}%`}`
  t.equal(row?.['found'], 0)
  const listed = JSON.stringify(await listKeys(sql))
  t.notMatch(listed, key.slice(12))
})

/** Begins a submission whose body is still to come. */
const announce = (headers: OutgoingHttpHeaders): ClientRequest =>
  request({
    host: '127.0.0.1',
    port: server.port,
    method: 'POST',
    path: '/api/submit',
    headers: { 'Content-Type': 'application/json', ...headers },
  }).on('error', () => {})

t.test('the key is checked before the body is read', async (t) => {
  const outgoing = announce({ 'Content-Length': 1_000_000 })
  outgoing.write('{') // the rest never follows
  const [response] = await once(outgoing, 'response')
  t.equal(response.statusCode, 401)
  t.notOk(outgoing.writableEnded, 'of which the rest was never sent')
  outgoing.destroy()
})

t.test('a client that asks first is told 401 without being asked for its body', async (t) => {
  let asked = false
  const outgoing = announce({ 'Content-Length': 100_000, Expect: '100-continue' })
  outgoing.on('continue', () => (asked = true))
  outgoing.flushHeaders()
  const [response] = await once(outgoing, 'response')
  t.equal(response.statusCode, 401)
  t.equal(asked, false)
  outgoing.destroy()
})

t.test('a client that asks first and has a key is asked for its body', async (t) => {
  const body = JSON.stringify(python)
  const asks = { 'Content-Length': body.length, Expect: '100-continue' }
  const outgoing = announce({ 'X-API-Key': await issue(), ...asks })
  outgoing.on('continue', () => outgoing.end(body))
  outgoing.flushHeaders()
  const [response] = await once(outgoing, 'response')
  t.equal(response.statusCode, 202)
  response.resume()
})

t.test('an unknown, a malformed and a foreign id cannot be told apart', async (t) => {
  const other = await issue()
  const { body } = await call('POST', '/api/submit', { key: other, body: python })
  await finish(sql, body.id)
  const ids = [
    body.id, body.id.toUpperCase(), '018f0000-0000-7000-8000-000000000000', 'x', '%00', '%',
    '%2e%2e', "'--", 'x'.repeat(3000),
  ] // prettier-ignore
  for (const suffix of ['', '?wait=true', '/events']) {
    const answers = new Set<string>()
    for (const id of ids) {
      const { status, text, headers } = await call('GET', `/api/result/${id}${suffix}`)
      const { date: _date, 'x-request-id': _id, ...rest } = headers
      answers.add(JSON.stringify([status, text, rest]))
    }
    t.equal(answers.size, 1, [...answers].join('\n'))
    t.match([...answers][0], /^\[404,/)
  }
})

t.test('an unknown path is 404', async (t) => {
  const paths = [
    '/', '/x', '/api/x', '/api/result', '/api/result/a/b', '//api/submit', '/api%2fsubmit',
    '/healthz/x',
  ] // prettier-ignore
  for (const path of paths) {
    const { status, body } = await call('GET', path)
    t.equal(status, 404, path)
    t.equal(body.error, 'not_found')
  }
})

t.test('a known path with another method is 405 and says which it takes', async (t) => {
  const rows: [string, string, string][] = [
    ['GET', '/api/submit', 'POST'],
    ['PUT', '/api/submit', 'POST'],
    ['HEAD', '/api/submit', 'POST'],
    ['OPTIONS', '/api/submit', 'POST'],
    ['GET', '/api/submit/batch', 'POST'],
    ['DELETE', '/api/result/x', 'GET, HEAD'],
    ['POST', '/api/result/x/events', 'GET, HEAD'],
    ['POST', '/api/submissions', 'GET, HEAD'],
    ['PATCH', '/api/languages', 'GET, HEAD'],
    ['POST', '/healthz', 'GET, HEAD'],
    ['PROPFIND', '/readyz', 'GET, HEAD'],
    ['POST', '/metrics', 'GET, HEAD'],
    ['TRACE', '/openapi.json', 'GET, HEAD'],
  ]
  for (const [method, path, allow] of rows) {
    const { status, headers, body } = await call(method, path)
    t.equal(status, 405, `${method} ${path}`)
    t.equal(headers.allow, allow, `${method} ${path}`)
    if (method !== 'HEAD') t.equal(body.error, 'method_not_allowed')
  }
})

t.test('HEAD answers as GET, without a body', async (t) => {
  for (const path of ['/healthz', '/readyz', '/api/languages', '/openapi.json']) {
    const { status, text, headers } = await call('HEAD', path)
    t.equal(status, 200)
    t.equal(text, '')
    t.ok(Number(headers['content-length']) > 0)
  }
})

t.test('a body that is not plain JSON is 415', async (t) => {
  const rows: Record<string, string>[] = [
    { 'Content-Type': 'text/plain' },
    { 'Content-Type': '' },
    { 'Content-Type': 'application/x-www-form-urlencoded' },
    { 'Content-Type': 'application/jsonp' },
    { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' },
    { 'Content-Type': 'application/json', 'Content-Encoding': 'br' },
    { 'Content-Type': 'application/json', 'Content-Encoding': 'identity' },
  ]
  for (const path of ['/api/submit', '/api/submit/batch']) {
    for (const headers of rows) {
      const { status, body } = await call('POST', path, { headers, body: python })
      t.equal(status, 415, JSON.stringify(headers))
      t.equal(body.error, 'unsupported_media_type')
    }
  }
  for (const type of [
    'application/json; charset=utf-8',
    'Application/JSON',
    'application/json ;x=y',
  ]) {
    const headers = { 'Content-Type': type }
    t.equal((await call('POST', '/api/submit', { headers, body: python })).status, 202, type)
  }
})

t.test('every answer carries the id of its request', async (t) => {
  const { body, headers } = await call('POST', '/api/submit', { body: python })
  t.match(headers['x-request-id'], /^[0-9a-f-]{36}$/)
  const [event] = await sql`select metadata from runledger.event where stream_id = ${body.id}`
  t.equal(event?.['metadata'].request, headers['x-request-id'])
})
