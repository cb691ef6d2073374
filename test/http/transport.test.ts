// Clients that stall, lie about lengths, send garbage or never read: each is answered or dropped in time, and other clients
// notice nothing.
import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { findAwaited, finish } from '../helper/execution.ts'
import { startFreshServer, startServer } from '../helper/server.ts'

const { call, countConnections, exchange, issue, port, sql, url } = await startFreshServer(t, {
  requestSeconds: 1,
})
/** A server that gives a large body the usual time, which a slow machine needs. */
const patient = await startServer(t, sql, { url })
const key = await issue()
const python = JSON.stringify({ language: 'python', code: '' })

function post(headers: Readonly<Record<string, string | number>>, body = ''): string {
  const lines = Object.entries({
    Host: 'x',
    'X-API-Key': key,
    'Content-Type': 'application/json',
    ...headers,
  })
  return `POST /api/submit HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`
}

const statusLines = (text: string): string[] => text.match(/HTTP\/1\.1 \d{3}/g) ?? []
const absolute = (headers: string): string =>
  `GET http://example.com/api/languages HTTP/1.1\r\nHost: example.com\r\nConnection: close\r\n${headers}\r\n`

const close = { Connection: 'close' }

/** Opens a connection and sends bytes. @param staysOpen the client never closes its half. */
async function open(
  bytes: string,
  staysOpen = false,
): Promise<{ socket: Socket; received: () => string }> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: staysOpen })
  let text = ''
  socket.on('data', (chunk: Buffer) => (text += chunk.toString())).on('error', () => {})
  await once(socket, 'connect')
  socket.write(bytes)
  return { socket, received: () => text }
}

t.test('a body that does not arrive is 408 without an id, and the connection closes', async (t) => {
  const text = await exchange(post({ 'Content-Length': 100 }, '{"lang'))
  t.strictSame(statusLines(text), ['HTTP/1.1 408'])
  t.match(text, /Connection: close/)
  t.match(text, /"error":"request_timeout"/)
  t.notMatch(text, /"id"/)
})

t.test('headers that do not arrive are 408, and a silent connection is closed', async (t) => {
  t.match(await exchange('POST /api/submit HTTP/1.1\r\nHost: x\r\nX-Slow: '), /^HTTP\/1\.1 408/)
  t.match(await exchange(''), /^(HTTP\/1\.1 408|$)/)
})

t.test('a body that drips is 408 too', async (t) => {
  const { socket, received } = await open(post({ 'Content-Length': 1000 }))
  const timer = setInterval(() => socket.write('x'), 100)
  await once(socket, 'close')
  clearInterval(timer)
  t.match(received(), /^HTTP\/1\.1 408/)
})

t.test('1,000 stalled connections are closed in time; others are served meanwhile', async (t) => {
  const stalled = await Promise.all(
    Array.from({ length: 1000 }, (_, n) =>
      open(n % 2 === 0 ? 'GET / HTTP/1.1\r\nX: ' : post({ 'Content-Length': 10 }, '{')),
    ),
  )
  for (let n = 0; n < 20; n += 1) t.equal((await call('GET', '/healthz')).status, 200)
  await Promise.all(stalled.map(async ({ socket }) => socket.closed || once(socket, 'close')))
  t.ok(stalled.every(({ received }) => /^(HTTP\/1\.1 408|$)/.test(received())))
})

t.test('who never closes a connection does not keep it', async (t) => {
  const before = await countConnections()
  const stalled = await Promise.all(
    ['', 'GET / HTTP/1.1\r\nX: ', post({ 'Content-Length': 10 }, '{'), 'garbage\r\n\r\n'].map(
      (bytes) => open(bytes, true),
    ),
  )
  t.ok((await countConnections()) > before)
  await Promise.all(stalled.map(async ({ socket }) => once(socket, 'end')))
  while ((await countConnections()) > before) await sleep(20)
  for (const { socket } of stalled) socket.destroy()
})

t.test('a request refused as too slow is not carried out when its rest arrives', async (t) => {
  const count = async (): Promise<unknown> =>
    (await sql`select count(*) from runledger.submission`)[0]
  const before = await count()
  const { socket, received } = await open(
    post({ 'Content-Length': python.length }, python.slice(0, 5)),
    true,
  )
  await once(socket, 'end')
  t.match(received(), /^HTTP\/1\.1 408/)
  socket.write(python.slice(5))
  await Promise.race([once(socket, 'close'), sleep(500)])
  socket.destroy()
  t.strictSame(await count(), before)
})

t.test('a request that is answered before it is complete gets no second answer', async (t) => {
  const text = await exchange(post({ 'X-API-Key': '', 'Content-Length': 100 }, '{'))
  t.strictSame(statusLines(text), ['HTTP/1.1 401'])
})

t.test('a request without Host is 400 as JSON, behind the key', async (t) => {
  const get = (path: string, headers = ''): string =>
    `GET ${path} HTTP/1.1\r\nConnection: close\r\n${headers}\r\n`
  t.match(await exchange(get('/api/languages')), /^HTTP\/1\.1 401 [^]*"unauthorized"/)
  const refusal = /^HTTP\/1\.1 400 [^]*"issues":\[\{"path":"Host","message":"is required"\}\]/
  t.match(await exchange(get('/api/languages', `X-API-Key: ${key}\r\n`)), refusal)
  t.match(await exchange(get('/healthz')), refusal)
  t.match(await exchange('GET /healthz HTTP/1.0\r\n\r\n'), /^HTTP\/1\.1 200/)
})

t.test('a body that is declared over its limit is 400 and not read', async (t) => {
  for (const [path, most] of [
    ['/api/submit', 2 * 1024 * 1024],
    ['/api/submit/batch', 16 * 1024 * 1024],
  ] as const) {
    const outgoing = request({
      host: '127.0.0.1', port, method: 'POST', path,
      headers: { 'X-API-Key': key, 'Content-Type': 'application/json', 'Content-Length': most + 1 },
    }) // prettier-ignore
    outgoing.on('error', () => {})
    outgoing.write('{')
    const [response] = await once(outgoing, 'response')
    t.equal(response.statusCode, 400)
    t.equal(response.headers.connection, 'close')
    const chunks = await response.toArray()
    t.match(JSON.parse(Buffer.concat(chunks).toString()), {
      error: 'invalid_request',
      issues: [{ path: '', message: `the body is larger than ${most} bytes` }],
    })
    outgoing.destroy()
  }
})

t.test('a client that sends 20 MiB all the same gets the answer, chunked or not', async (t) => {
  const bytes = Buffer.alloc(20 * 1024 * 1024, 0x20)
  for (const chunked of [false, true]) {
    const outgoing = request({
      host: '127.0.0.1', port: patient.port, method: 'POST', path: '/api/submit',
      headers: {
        'X-API-Key': key, 'Content-Type': 'application/json',
        ...(chunked ? { 'Transfer-Encoding': 'chunked' } : { 'Content-Length': bytes.length }),
      },
    }) // prettier-ignore
    outgoing.on('error', () => {})
    outgoing.end(bytes)
    const [response] = await once(outgoing, 'response')
    t.equal(response.statusCode, 400, chunked ? 'chunked' : 'declared')
    response.resume()
    outgoing.destroy()
  }
})

t.test('a body of exactly 2 MiB is read', async (t) => {
  const body = python + ' '.repeat(2 * 1024 * 1024 - python.length)
  t.equal((await patient.call('POST', '/api/submit', { body })).status, 202)
  t.equal((await patient.call('POST', '/api/submit', { body: `${body} ` })).status, 400)
})

t.test('what is no HTTP is 400 as JSON and ends the connection', async (t) => {
  const garbage = [
    'garbage\r\n\r\n', '\x16\x03\x01\x02\0\x01\0', 'GET / HTTP/9.9\r\n\r\n',
    'GET / HTTP/1.1\r\nNo colon\r\n\r\n', 'GET / HTTP/1.1\r\nHost: x\r\nX: \0\r\n\r\n',
    `GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
    post({ 'Transfer-Encoding': 'chunked', 'Content-Length': 5 }, '0\r\n\r\n'),
    post({ 'Transfer-Encoding': 'chunked' }, 'zz\r\n'), post({ 'Content-Length': 'x' }),
    post({ 'Content-Length': '-1' }),
  ] // prettier-ignore
  for (const bytes of garbage) {
    const text = await exchange(bytes)
    t.match(statusLines(text), ['HTTP/1.1 400'], JSON.stringify(bytes.slice(0, 60)))
    t.match(text, /\r\n\r\n\{"error":"invalid_request"/)
  }
})

t.test('garbage after a request does not take away the request’s answer', async (t) => {
  const text = await exchange(`${post({ 'Content-Length': python.length }, python)}garbage\r\n\r\n`)
  t.strictSame(statusLines(text), ['HTTP/1.1 202', 'HTTP/1.1 400'])
  t.match(text, /\{"id":"[0-9a-f-]{36}"\}HTTP\/1\.1 400/)
})

t.test('garbage behind a request that waits does not take away its record', async (t) => {
  const line = post({ 'Content-Length': python.length }, python).replace(
    '/submit',
    '/submit?wait=true',
  )
  const { socket, received } = await open(`${line}garbage\r\n\r\n`)
  const closed = once(socket, 'close')
  await finish(sql, await findAwaited(sql))
  await closed
  t.strictSame(statusLines(received()), ['HTTP/1.1 200', 'HTTP/1.1 400'])
})

t.test('pipelined requests are answered in order', async (t) => {
  const good = post({ 'Content-Length': python.length }, python)
  const bad = post({ 'Content-Length': 1 }, '{')
  const text = await exchange(good + bad + good + post({ ...close, 'Content-Length': 1 }, '{'))
  t.strictSame(statusLines(text), ['HTTP/1.1 202', 'HTTP/1.1 400', 'HTTP/1.1 202', 'HTTP/1.1 400'])
})

t.test('who asks for more than he reads loses his connection, and costs no more', async (t) => {
  const asked = 'GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'
  const { socket, received } = await open(asked.repeat(1000))
  await once(socket, 'close')
  t.ok(statusLines(received()).length <= 16)
  const patient = await exchange(
    asked.repeat(15) + asked.replace('Host', 'Connection: close\r\nHost'),
  )
  t.equal(statusLines(patient).length, 16, 'as many as that are answered')
})

t.test('who hangs up before his pipelined requests are answered leaves nothing open', async (t) => {
  const readOpen = async (): Promise<string | undefined> => {
    const { text } = await call('GET', '/metrics', { checked: false })
    return /^runledger_streams_open (\d+)$/m.exec(text)?.[1]
  }
  const { id } = (await call('POST', '/api/submit', { body: python, key })).body
  const get = (path: string): string =>
    `GET ${path} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\n\r\n`
  // The first answer does not come, so those behind it wait for their turn. More than the key's share of streams in all.
  const asked = get(`/api/result/${id}?wait=true`) + get(`/api/result/${id}/stream`).repeat(15)
  for (let n = 0; n < 8; n += 1) {
    const { socket } = await open(asked)
    while ((await readOpen()) !== '15') await sleep(5)
    socket.destroy()
    while ((await readOpen()) !== '0') await sleep(5)
  }
  await finish(sql, id)
  const { status, text } = await call('GET', `/api/result/${id}/stream`, { key, checked: false })
  t.match({ status, text }, { status: 200, text: /event: result/ })
})

t.test('a request line with the whole URL is understood, and still needs a key', async (t) => {
  t.match(await exchange(absolute('')), /^HTTP\/1\.1 401/)
  t.match(await exchange(absolute(`X-API-Key: ${key}\r\n`)), /^HTTP\/1\.1 200/)
})

t.test('an upgrade is not taken, another expectation ignored, CONNECT closed', async (t) => {
  const upgrade =
    'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n'
  t.match(await exchange(upgrade), /^HTTP\/1\.1 200/)
  const expect = post({ ...close, Expect: 'miracles', 'Content-Length': python.length }, python)
  t.match(await exchange(expect), /^HTTP\/1\.1 202/)
  t.equal(await exchange('CONNECT a:1 HTTP/1.1\r\nHost: x\r\n\r\n'), '')
})

t.test('a client that vanishes while it sends leaves nothing behind', async (t) => {
  const [before] = await sql`select count(*) as count from runledger.submission`
  for (let n = 0; n < 20; n += 1) {
    const { socket } = await open(post({ 'Content-Length': 1000 }, '{"language":'))
    socket.destroy()
  }
  t.equal((await call('GET', '/healthz')).status, 200)
  const [after] = await sql`select count(*) as count from runledger.submission`
  t.equal(after?.['count'], before?.['count'])
})
