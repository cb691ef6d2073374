// One attempt against real HTTPS receivers: good, broken and hostile ones. Settings shorten the limits. No test needs a
// certain speed: upper bounds only show that something ended at all. Then the defaults.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { getEventListeners } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { Webhook } from 'standardwebhooks'
import t from 'tap'
import { createDeliverySettings, parseRanges, sendDelivery, trustAuthorities } from '#webhook'
import type { DeliveryOutcome, DeliverySettings } from '#webhook'
import { ownAddresses } from '#webhook-address'
import { verifyWebhook } from '#client'
import { until } from '../helper/until.ts'
import { createAuthority, type Identity } from './certificate.ts'
import { createListener, createReceiver, type Answer, type Receiver } from './receiver.ts'

const authority = createAuthority()
const identity = authority.issue(['DNS:receiver.test', 'IP:127.0.0.2'])
t.teardown(() => authority.remove())

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const body = Buffer.from('{"type":"submission.completed","data":{"stdout":"é\\u0000😀"}}')

const shared = createDeliverySettings({
  version: '1.2.3',
  trust: trustAuthorities(authority.pem),
  allowedRanges: parseRanges('127.0.0.0/8').ranges,
  resolve: async () => ['127.0.0.2'],
})

async function send(
  port: number,
  change: Partial<DeliverySettings> = {},
  {
    url = `https://receiver.test:${port}/hook?a=b%20c`,
    signal,
    content = body,
  }: { url?: string; signal?: AbortSignal; content?: Buffer } = {},
): Promise<DeliveryOutcome> {
  const settings = { ...shared, allowedPorts: [port], ...change }
  return sendDelivery({ id: 'msg_1', url, body: content, secret }, settings, signal)
}

/** Starts a receiver that is closed when the test ends. */
async function receive(t: Tap, answer: Answer, from: Identity = identity): Promise<Receiver> {
  const receiver = await createReceiver(from, answer)
  t.teardown(() => receiver.close())
  return receiver
}

/** Starts a TLS server that calls `talk` after the handshake and the first bytes of the request. @returns its port. */
async function speak(t: Tap, talk: (socket: Socket) => void): Promise<number> {
  const server = createTlsServer(identity, (socket) => {
    socket.on('error', () => {})
    socket.once('data', () => talk(socket))
  })
  const listener = await createListener((socket) => server.emit('connection', socket))
  t.teardown(() => listener.close())
  return listener.port
}

type Tap = Pick<typeof t, 'teardown'>

t.test('a delivery arrives as the exact bytes, with headers both verifiers accept', async (t) => {
  const receiver = await receive(t, (response) => response.end('thanks'))
  const outcome = await send(receiver.port)
  t.match(outcome, { kind: 'delivered', status: 200, snippet: 'thanks', error: null })
  t.equal(outcome.retryAfterSeconds, null)
  t.ok(outcome.durationSeconds > 0 && outcome.durationSeconds < 60)
  const [request] = receiver.requests
  t.ok(request !== undefined && request.body.equals(body))
  t.match(request, { method: 'POST', path: '/hook?a=b%20c', serverName: 'receiver.test' })
  t.match(request!.headers, {
    host: `receiver.test:${receiver.port}`,
    'content-type': 'application/json',
    'content-length': String(body.length),
    'user-agent': 'Runledger-Webhooks/1.2.3',
    'webhook-id': 'msg_1',
  })
  const received = { headers: request!.headers, body: Buffer.from(request!.body), secret }
  t.ok(await verifyWebhook(received))
  const headers = Object.fromEntries(
    Object.entries(request!.headers).map(([name, value]) => [name, String(value)]),
  )
  t.doesNotThrow(() => new Webhook(secret).verify(request!.body, headers))
  for (const name of ['cookie', 'authorization', 'referer', 'traceparent']) t.notOk(name in headers)
})

t.test('every attempt has a connection of its own, which is closed afterwards', async (t) => {
  const receiver = await receive(t, (response) => response.end())
  for (let attempt = 1; attempt <= 3; attempt += 1) {
    t.match(await send(receiver.port), { kind: 'delivered', snippet: '' })
    t.equal(receiver.connections(), attempt)
  }
  await until(() => receiver.open() === 0)
  t.equal(receiver.open(), 0)
})

t.test('a literal address is delivered to when allowed and its certificate names it', async (t) => {
  const receiver = await receive(t, (response) => response.end())
  const url = `https://127.0.0.2:${receiver.port}/`
  const never = { resolve: async () => Promise.reject(new Error('asked')) }
  t.equal((await send(receiver.port, never, { url })).kind, 'delivered')
  t.equal(receiver.requests[0]?.serverName, false, 'no SNI for an address')
  const other = await receive(t, (response) => response.end(), authority.issue(['DNS:receiver.test', 'IP:127.0.0.9'])) // prettier-ignore
  const mismatch = await send(other.port, never, { url: `https://127.0.0.2:${other.port}/` })
  t.match(mismatch, { kind: 'unreachable', error: 'tls: ERR_TLS_CERT_ALTNAME_INVALID' })
})

t.test('a final dot in the name is left out of SNI', async (t) => {
  const receiver = await receive(t, (response) => response.end())
  const url = `https://receiver.test.:${receiver.port}/`
  t.equal((await send(receiver.port, {}, { url })).kind, 'delivered')
  t.equal(receiver.requests[0]?.serverName, 'receiver.test')
})

t.test('any 2xx delivers, 410 is gone, every other status refuses', async (t) => {
  let status = 0
  const receiver = await receive(t, (response) => response.writeHead(status).end())
  const expected = { 200: 'delivered', 201: 'delivered', 202: 'delivered', 204: 'delivered', 299: 'delivered', 300: 'refused', 304: 'refused', 307: 'refused', 400: 'refused', 404: 'refused', 409: 'refused', 410: 'gone', 429: 'refused', 500: 'refused', 503: 'refused', 599: 'refused' } // prettier-ignore
  for (const [code, kind] of Object.entries(expected)) {
    status = Number(code)
    t.match(await send(receiver.port), { kind, status, error: null }, code)
  }
})

t.test('Retry-After is reported in seconds and clamped', async (t) => {
  let value: string | string[] = ''
  const receiver = await receive(t, (response) => {
    response.setHeader('retry-after', value).writeHead(429).end()
  })
  const retryAfter = async (header: string | string[]): Promise<number | null> => {
    value = header
    const outcome = await send(receiver.port)
    t.match(outcome, { kind: 'refused', status: 429 })
    return outcome.retryAfterSeconds
  }
  t.equal(await retryAfter('120'), 120)
  t.equal(await retryAfter('99999999999'), 36_000)
  t.equal(await retryAfter('soon'), null)
  t.equal(await retryAfter(['7', '8']), 7)
  const inAnHour = (await retryAfter(new Date(Date.now() + 3_600_000).toUTCString())) ?? 0
  t.ok(inAnHour > 3000 && inAnHour <= 3600, String(inAnHour))
  t.equal(await retryAfter('Sun, 06 Nov 1994 08:49:37 GMT'), 0)
})

const untrusted: readonly [what: string, identity: Identity, code: string][] = [
  ['an expired certificate', authority.issue(['DNS:receiver.test'], -1), 'CERT_HAS_EXPIRED'],
  ['a certificate for another name', authority.issue(['DNS:other.test']), 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ['a certificate for the address only', authority.issue(['IP:127.0.0.2']), 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ['a self-signed certificate', authority.selfSign(['DNS:receiver.test']), 'DEPTH_ZERO_SELF_SIGNED_CERT'],
] // prettier-ignore

for (const [what, certificate, code] of untrusted) {
  t.test(`${what} makes a receiver unreachable, and nothing is sent`, async (t) => {
    const receiver = await receive(t, (response) => response.end(), certificate)
    t.match(await send(receiver.port), { kind: 'unreachable', status: null, error: `tls: ${code}` })
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'
    const outcome = await send(receiver.port)
    delete process.env['NODE_TLS_REJECT_UNAUTHORIZED']
    t.match(outcome, { kind: 'unreachable' }, 'the environment cannot turn verification off')
    t.equal(receiver.requests.length, 0)
  })
}

t.test('an authority that is not trusted makes a receiver unreachable', async (t) => {
  const receiver = await receive(t, (response) => response.end())
  const { trust } = createDeliverySettings({ version: '0' })
  t.match(await send(receiver.port, { trust }), { kind: 'unreachable', error: /^tls: / })
  t.equal(receiver.requests.length, 0)
})

t.test('a receiver that never answers is given up when the time is over', async (t) => {
  const receiver = await receive(t, () => {})
  const outcome = await send(receiver.port, { totalSeconds: 1 })
  t.match(outcome, { kind: 'unreachable', status: null, error: /no answer within/ })
  t.ok(outcome.durationSeconds >= 0.9 && outcome.durationSeconds < 60)
  await until(() => receiver.open() === 0)
})

t.test('an answer head that drips byte by byte is given up when the time is over', async (t) => {
  const port = await speak(t, (socket) => {
    const head = 'HTTP/1.1 200 OK\r\nx-slow: '
    let sent = 0
    const timer = setInterval(() => socket.write(head[sent++] ?? 'x'), 20)
    socket.once('close', () => clearInterval(timer))
  })
  const outcome = await send(port, { totalSeconds: 1 })
  t.match(outcome, { kind: 'unreachable', error: /no answer within/ })
  t.ok(outcome.durationSeconds < 60)
})

t.test('a body that drips is cut off when the time is over, and the status stands', async (t) => {
  const receiver = await receive(t, (response) => {
    response.writeHead(200).flushHeaders()
    const timer = setInterval(() => response.write('x'), 20)
    response.once('close', () => clearInterval(timer))
  })
  const outcome = await send(receiver.port, { totalSeconds: 4 })
  t.match(outcome, { kind: 'delivered', status: 200, snippet: /^x*$/, error: null })
  t.ok(outcome.durationSeconds >= 3.9 && outcome.durationSeconds < 60)
  await until(() => receiver.open() === 0)
})

t.test('a gigabyte of answer is read for its first 4 KiB only', async (t) => {
  let offered = 0
  const receiver = await receive(t, (response) => {
    response.writeHead(500, { 'content-length': String(2 ** 30) })
    pour(response)
  })
  function pour(response: ServerResponse): void {
    const chunk = Buffer.alloc(65_536, 'y')
    while (offered < 2 ** 30 && !response.destroyed) {
      offered += chunk.length
      if (!response.write(chunk)) return void response.once('drain', () => pour(response))
    }
  }
  const outcome = await send(receiver.port)
  t.match(outcome, { kind: 'refused', status: 500 })
  t.equal(outcome.snippet, 'y'.repeat(4096))
  await until(() => receiver.open() === 0)
  t.ok(offered < 64 * 2 ** 20, `${offered} bytes offered before the connection was dropped`)
})

t.test('a snippet holds no NUL and no invalid UTF-8', async (t) => {
  const receiver = await receive(t, (response) => response.end(Buffer.from([0x61, 0, 0xff, 0xed, 0xa0, 0x80, 0x62]))) // prettier-ignore
  const { snippet } = await send(receiver.port)
  t.match(snippet, /^a\uFFFD+b$/)
})

t.test('a compressed answer is not unpacked', async (t) => {
  const receiver = await receive(t, (response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' }).end('not gzip')
  })
  t.match(await send(receiver.port), { kind: 'delivered', snippet: 'not gzip' })
  t.notOk('accept-encoding' in receiver.requests[0]!.headers)
})

const rude: readonly [what: string, talk: (socket: Socket) => void][] = [
  ['closes without an answer', (socket) => socket.end()],
  ['resets the connection', (socket) => socket.destroy()],
  ['does not speak HTTP', (socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n')],
  ['answers with nonsense', (socket) => socket.end('HTTP/1.1 999999 \0\r\n\r\n')],
  ['breaks off in the answer head', (socket) => socket.end('HTTP/1.1 200 OK\r\nx-a')],
  ['sends headers without end', (socket) => flood(socket, 'HTTP/1.1 200 OK\r\n', `x-a: ${'b'.repeat(500)}\r\n`)],
  ['sends informational answers without end', (socket) => flood(socket, '', 'HTTP/1.1 103 Early Hints\r\n\r\n')],
  ['changes protocols', (socket) => socket.end('HTTP/1.1 101 Switching Protocols\r\nupgrade: h2c\r\nconnection: upgrade\r\n\r\n')],
] // prettier-ignore

for (const [what, talk] of rude) {
  t.test(`a receiver that ${what} is unreachable`, async (t) => {
    const port = await speak(t, talk)
    const outcome = await send(port, { totalSeconds: 3 })
    t.match(outcome, { kind: 'unreachable', status: null, snippet: null, error: /^request: / })
    t.notMatch(outcome.error, /127\.0/)
  })
}

function flood(socket: Socket, start: string, piece: string): void {
  socket.write(start)
  const timer = setInterval(
    () => socket.writableLength < 65_536 && socket.write(piece.repeat(8)),
    5,
  )
  socket.once('close', () => clearInterval(timer))
}

t.test('an answer that pours in without end is cut off long before the time is over', async (t) => {
  const hints = 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(2000)
  const head = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5;'
  for (const [start, piece, expected] of [
    ['', hints, { kind: 'unreachable', error: 'request: no end of the answer' }],
    [head, 'x'.repeat(60_000), { kind: 'delivered', status: 200, snippet: '' }],
  ] as const) {
    const port = await speak(t, (socket) => {
      socket.write(start)
      const pour = (): void => {
        while (!socket.destroyed && socket.write(piece));
        socket.once('drain', pour)
      }
      pour()
    })
    const outcome = await send(port, { totalSeconds: 120 })
    t.match(outcome, expected)
    t.ok(outcome.durationSeconds < 60, `${outcome.durationSeconds} s`)
  }
})

t.test('a body that breaks off leaves the status standing', async (t) => {
  const port = await speak(t, (socket) =>
    socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf'),
  )
  t.match(await send(port), { kind: 'delivered', status: 200, snippet: 'half' })
})

t.test('an answer that comes before the request does no harm', async (t) => {
  const server = createTlsServer(identity, (socket) => {
    socket.on('error', () => {})
    socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
  })
  const listener = await createListener((socket) => server.emit('connection', socket))
  t.teardown(() => listener.close())
  const outcome = await send(listener.port, { totalSeconds: 3 })
  t.match(outcome.kind, /^(delivered|unreachable)$/, 'either way it is a value')
})

t.test('an answer that comes while a large body is still being sent counts', async (t) => {
  const receiver = await receive(t, (response, request) =>
    response.end(String(request.body.length)),
  )
  const content = Buffer.alloc(4 * 2 ** 20, 'z')
  const answer = await send(receiver.port, {}, { content })
  t.match(answer, { kind: 'delivered', snippet: String(content.length) })
  const port = await speak(t, (socket) =>
    socket.write('HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\n\r\n'),
  )
  const early = await send(port, { totalSeconds: 5 }, { content })
  t.match(early, { kind: 'refused', status: 413 })
})

t.test('a TLS handshake that never ends is given up at the connect limit', async (t) => {
  const listener = await createListener((socket) => socket.resume())
  t.teardown(() => listener.close())
  const outcome = await send(listener.port, { connectSeconds: 0.3 })
  t.match(outcome, { kind: 'unreachable', error: 'connect: no answer within 0.3 s' })
  t.ok(outcome.durationSeconds < 10)
  await until(() => listener.open() === 0)
})

t.test('a receiver that does not speak TLS is unreachable', async (t) => {
  for (const talk of [
    (socket: Socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n'),
    (socket: Socket) => socket.end(),
    (socket: Socket) => socket.resetAndDestroy(),
  ]) {
    // prettier-ignore
    const listener = await createListener(talk)
    t.teardown(() => listener.close())
    t.match(await send(listener.port), { kind: 'unreachable', error: /^(tls|connect): / })
  }
})

t.test('a name server that never answers is given up at the DNS limit', async (t) => {
  let fired = false
  const outcome = await send(443, {
    dnsSeconds: 0.2,
    resolve: async (_, signal) => {
      signal.addEventListener('abort', () => (fired = true))
      return new Promise(() => {})
    },
  })
  t.match(outcome, { kind: 'unreachable', error: 'dns: no answer within 0.2 s' })
  t.equal(fired, true, 'the resolver is told')
})

t.test('a name without an address is unreachable', async (t) => {
  const answer = await send(443, { resolve: async () => [] })
  t.match(answer, { kind: 'unreachable', error: 'dns: no address' })
  const missing = Object.assign(new Error('queryA ENOTFOUND inside.test'), { code: 'ENOTFOUND' })
  const resolve = async (): Promise<never> => Promise.reject(missing)
  t.match(await send(443, { resolve }), { kind: 'unreachable', error: 'dns: ENOTFOUND' })
})

t.test('the time limit covers the name server too', async (t) => {
  const outcome = await send(443, { totalSeconds: 0.2, resolve: async () => new Promise(() => {}) })
  t.match(outcome, { kind: 'unreachable', error: 'request: no answer within 0.2 s' })
})

t.test("the caller's abort ends the attempt and rejects with its reason", async (t) => {
  const receiver = await receive(t, () => controller.abort(reason))
  const controller = new AbortController()
  // The reason has a code like a socket's error, but must not be handled as one.
  const reason = Object.assign(new Error('shutting down'), { code: 'ECONNRESET' })
  await t.rejects(send(receiver.port, {}, { signal: controller.signal }), reason)
  await until(() => receiver.open() === 0)
  await t.rejects(send(receiver.port, {}, { signal: AbortSignal.abort(reason) }), reason)
  t.equal(receiver.connections(), 1, 'an aborted attempt makes no connection')
})

t.test("an attempt leaves no listener on the caller's signal", async (t) => {
  const receiver = await receive(t, (response) => response.end())
  const { signal } = new AbortController()
  for (const port of [receiver.port, 1]) await send(port, {}, { signal })
  t.equal(getEventListeners(signal, 'abort').length, 0)
})

t.test("the caller's abort after the answer's head does not undo the delivery", async (t) => {
  const receiver = await receive(t, (response) => response.writeHead(200).write('x'))
  const controller = new AbortController()
  const abort = (): unknown => setImmediate(() => controller.abort(new Error('shutting down')))
  subscribe('undici:request:headers', abort)
  t.teardown(() => unsubscribe('undici:request:headers', abort))
  const outcome = await send(receiver.port, {}, { signal: controller.signal })
  t.match(outcome, { kind: 'delivered', status: 200 })
  t.equal(controller.signal.aborted, true)
  await until(() => receiver.open() === 0)
})

t.test('a header that cannot be sent is our mistake and is thrown', async (t) => {
  const receiver = await receive(t, (response) => response.end())
  const settings = { ...shared, allowedPorts: [receiver.port] }
  const url = `https://receiver.test:${receiver.port}/`
  await t.rejects(sendDelivery({ id: 'a\r\nb: c', url, body, secret }, settings))
  await until(() => receiver.open() === 0)
  t.equal(receiver.requests.length, 0)
})

t.test('the defaults are the limits of the contract', async (t) => {
  const settings = createDeliverySettings({ version: '1.0.0' })
  t.match(settings, {
    totalSeconds: 15,
    dnsSeconds: 5,
    connectSeconds: 5,
    snippetBytes: 4096,
    version: '1.0.0',
  })
  t.same(settings.allowedPorts, [443])
  t.same(settings.allowedRanges, [])
  t.equal(settings.deniedRanges, ownAddresses)
  t.equal(createDeliverySettings({ version: '1', totalSeconds: 1 }).totalSeconds, 1)
})

t.test('text that holds no readable certificate is refused at start', async (t) => {
  t.throws(() => trustAuthorities('certificate'), { name: 'TypeError' })
  const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----'
  t.throws(() => trustAuthorities(broken), /certificate 1 cannot be read/)
  t.throws(() => trustAuthorities(`${authority.pem}\n${broken}`), /certificate 2 cannot be read/)
  t.doesNotThrow(() => trustAuthorities(authority.pem))
  t.doesNotThrow(() => trustAuthorities(''))
})
