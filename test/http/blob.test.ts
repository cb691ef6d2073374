// Blobs over HTTP: the answers to uploads, interrupted uploads that leave nothing, and which blobs submissions may name.
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { setTier } from '#account'
import { findBroken } from '../helper/ledger.ts'
import { checkMistakes, pathsOf, startFreshServer, startServer } from '../helper/server.ts'
import type { Answer } from '../helper/server.ts'

const { call, exchange, issue, port, sql, url } = await startFreshServer(t)

const mebibyte = 1024 * 1024
const most = 16 * mebibyte
const nameOf = (bytes: Uint8Array | string): string =>
  createHash('sha256').update(bytes).digest('hex')
const octets = { 'Content-Type': 'application/octet-stream' }

function put(
  bytes: Uint8Array | string,
  { name = nameOf(bytes), headers = {}, key }: Partial<Record<'name' | 'key', string>> & { headers?: Record<string, string> } = {}, // prettier-ignore
): Promise<Answer> {
  return call('PUT', `/api/blobs/${name}`, {
    body: bytes,
    headers: { ...octets, ...headers },
    ...(key !== undefined && { key }),
  })
}

const head = (name: string, key?: string): Promise<Answer> =>
  call('HEAD', `/api/blobs/${name}`, key === undefined ? {} : { key })

async function count(): Promise<number> {
  const [row] = await sql<[{ count: number }]>`select count(*) from runledger.blob`
  return row.count
}

/** Issues a key of an account that may store this many bytes. */
async function issueWith(blobBytes: number): Promise<string> {
  const name = `t${uuidv7().slice(-12)}`
  const tier = { name, blob_bytes: blobBytes }
  await setTier(sql, tier, 'test')
  return issue(name)
}

t.test('an upload is 201, once more 200, and HEAD tells its size', async (t) => {
  const bytes = randomBytes(100_000)
  const first = await put(bytes)
  t.strictSame([first.status, first.body], [201, { sha256: nameOf(bytes), size: 100_000 }])
  t.equal((await put(bytes)).status, 200)
  const { status, headers, text } = await head(nameOf(bytes))
  t.strictSame([status, headers['content-length'], text], [200, '100000', ''])
})

t.test('bytes are kept as they came, whatever their number', async (t) => {
  for (const size of [0, 1, 262_143, 262_144, 262_145, 3 * 262_144, most]) {
    const bytes = randomBytes(size)
    t.equal((await put(bytes)).status, 201, `${size}`)
    const rows = await sql<{ content: Buffer; number: number }[]>`
      select content, number from runledger.blob_chunk where sha256 = ${Buffer.from(nameOf(bytes), 'hex')} order by number`
    t.strictSame(
      rows.map(({ number }) => number),
      rows.map((_, index) => index),
    )
    t.ok(Buffer.concat(rows.map(({ content }) => content)).equals(bytes), `${size}`)
    t.equal((await head(nameOf(bytes))).headers['content-length'], `${size}`)
  }
  t.strictSame(await findBroken(sql), [])
})

t.test('nobody learns of another account’s, who uploads it as if it were new', async (t) => {
  const bytes = randomBytes(10)
  t.equal((await put(bytes)).status, 201)
  const other = await issue()
  t.equal((await head(nameOf(bytes), other)).status, 404)
  const { status, body } = await call('POST', '/api/submit', {
    key: other,
    body: { language: 'python', code: '', stdin_sha256: nameOf(bytes) },
  })
  t.strictSame([status, body.issues[0].path], [400, 'stdin_sha256'])
  t.equal((await put(bytes, { key: other })).status, 201)
  t.equal((await head(nameOf(bytes), other)).status, 200)
})

t.test('what is wrong is refused, and nothing is kept of it', async (t) => {
  const before = await count()
  const name = nameOf('wrong')
  const rows: [number, string, Promise<Answer>][] = [
    [400, 'a digest that lies', put('other', { name })],
    [400, 'upper case', put('wrong', { name: name.toUpperCase() })],
    [400, 'too short', put('wrong', { name: name.slice(1) })],
    [400, 'not hexadecimal', put('wrong', { name: `${name.slice(1)}g` })],
    [400, 'a query', call('PUT', `/api/blobs/${name}?x=1`, { body: 'wrong', headers: octets })],
    [415, 'another type', put('wrong', { headers: { 'Content-Type': 'text/plain' } })],
    [415, 'JSON', put('wrong', { headers: { 'Content-Type': 'application/json' } })],
    [415, 'encoded', put('wrong', { headers: { 'Content-Encoding': 'gzip' } })],
    [401, 'without a key', call('PUT', `/api/blobs/${name}`, { key: null, body: 'wrong' })],
    [405, 'GET', call('GET', `/api/blobs/${name}`, { checked: false })],
    [405, 'DELETE', call('DELETE', `/api/blobs/${name}`, { checked: false })],
  ]
  for (const [status, what, answer] of rows) t.equal((await answer).status, status, what)
  const { headers } = await call('GET', `/api/blobs/${name}`, { checked: false })
  t.equal(headers.allow, 'PUT, HEAD')
  for (const other of [name, name.toUpperCase(), 'x', `${name}0`])
    t.equal((await head(other)).status, 404, other)
  t.equal(await count(), before)
})

/** Returns the request line and the headers of an upload. */
const raw = (name: string, key: string, ...lines: string[]): string =>
  [`PUT /api/blobs/${name} HTTP/1.1`, 'Host: x', `X-API-Key: ${key}`, 'Content-Type: application/octet-stream', ...lines, '', ''].join('\r\n') // prettier-ignore

t.test('a byte too many is refused before it is read to its end', async (t) => {
  const key = await issue()
  const before = await count()
  const [name] = [nameOf('x')]
  // No byte of the body is sent: the server refuses it by the header alone and does not ask for the rest.
  const declared = await exchange(raw(name, key, `Content-Length: ${most + 1}`, 'Expect: 100-continue')) // prettier-ignore
  t.match(declared, /^HTTP\/1\.1 400/)
  t.match(declared, /larger than 16777216 bytes/)

  const socket = connect(port, '127.0.0.1')
  let answer = ''
  socket.on('data', (chunk: Buffer) => (answer += chunk.toString())).on('error', () => {})
  socket.write(raw(name, key, 'Transfer-Encoding: chunked'))
  const piece = Buffer.concat([Buffer.from(`${mebibyte.toString(16)}\r\n`), Buffer.alloc(mebibyte), Buffer.from('\r\n')]) // prettier-ignore
  for (let sent = 0; sent < 16; sent += 1) socket.write(piece)
  socket.write('1\r\nx\r\n') // the last chunk never follows
  await once(socket, 'close')
  t.match(answer, /^HTTP\/1\.1 400/)
  t.equal(await count(), before)
})

t.test('an upload that breaks off leaves nothing, and its room', async (t) => {
  const key = await issue()
  const before = await count()
  const bytes = randomBytes(most)
  // Together these uploads exceed the account's room, so each one must release what it held.
  for (let round = 0; round < 5; round += 1) {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {})
    socket.write(raw(nameOf(bytes), key, `Content-Length: ${most}`))
    await new Promise<void>((done) => socket.write(bytes.subarray(1), () => done()))
    socket.destroy()
  }
  t.equal(await count(), before)
  // The server notices a closed connection a moment later.
  let last = await put(bytes, { key })
  while (last.status === 503) last = await put(bytes, { key })
  t.equal(last.status, 201)
})

t.test('an upload has longer to arrive than other requests, but not for ever', async (t) => {
  const key = await issue()
  const bytes = randomBytes(300_000)
  const quick = await startServer(t, sql, { url, requestSeconds: 2 })
  const socket = connect(quick.port, '127.0.0.1')
  let answer = ''
  socket.on('data', (chunk: Buffer) => (answer += chunk.toString())).on('error', () => {})
  socket.write(raw(nameOf(bytes), key, `Content-Length: ${bytes.length}`, 'Connection: close'))
  const arrival = performance.now()
  let sent = 0
  const timer = setInterval(() => {
    // Sends slowly for longer than the two seconds that other requests have, then sends the rest.
    const end = performance.now() - arrival < 3000 ? sent + 1000 : bytes.length
    socket.write(bytes.subarray(sent, end))
    sent = end
    if (sent === bytes.length) clearInterval(timer)
  }, 50)
  await once(socket, 'close')
  t.match(answer, /^HTTP\/1\.1 201/)
  const hasty = await startServer(t, sql, { url, requestSeconds: 1, uploadSeconds: 1.5 })
  const stalled = await hasty.exchange(raw(nameOf('x'), key, 'Content-Length: 1'))
  t.match(stalled, /^HTTP\/1\.1 408/)
  t.match(stalled, /request_timeout/)
  t.match(stalled, /Connection: close/)
})

t.test('uploads at once are bounded, for an account too; the rest come again', async (t) => {
  const key = await issue()
  const sockets = Array.from({ length: 2 }, () => {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {})
    socket.write(raw(nameOf('x'), key, `Content-Length: ${most}`, 'Expect: 100-continue'))
    return socket
  })
  await Promise.all(sockets.map((socket) => once(socket, 'data'))) // 100 Continue: each upload has its room
  const refused = await put('x', { key })
  t.strictSame([refused.status, refused.body.error], [503, 'unavailable'])
  t.equal(refused.headers['retry-after'], '2')
  t.equal((await put('x')).status < 300, true, 'another account has room')
  for (const socket of sockets) socket.destroy()
  let last = await put('x', { key })
  while (last.status === 503) last = await put('x', { key })
  t.equal(last.status, 201)
})

t.test('a quota is exact, for uploads at once too', async (t) => {
  const key = await issueWith(10_000)
  t.equal((await put(randomBytes(5904), { key })).status, 201)
  const refused = await put(randomBytes(4097), { key })
  t.strictSame([refused.status, refused.body.error], [403, 'quota_exceeded'])
  // An empty blob counts as 4 KiB.
  t.equal((await put('', { key })).status, 201)
  t.equal((await put('x', { key })).status, 403)
  t.equal((await put('', { key })).status, 200, 'what is there needs no room')

  const other = await issueWith(10 * 300_000)
  // A busy machine may need more time for twenty uploads at once than this server allows for a body.
  const upload = async (bytes: Buffer): Promise<Answer> => {
    const answer = await put(bytes, { key: other })
    return answer.status === 408 || answer.status === 503 ? upload(bytes) : answer
  }
  const at = await Promise.all(Array.from({ length: 20 }, () => upload(randomBytes(300_000))))
  const stored = at.filter(({ status }) => status === 201).length
  t.equal(stored, 10)
  t.ok(at.every(({ status }) => status === 201 || status === 403))

  const unlimited = randomBytes(10)
  await sql`update runledger.account set blob_bytes = blob_bytes + 1e15`
  t.equal((await put(unlimited)).status, 201, 'a tier without a limit has none')
  await sql`update runledger.account set blob_bytes = blob_bytes - 1e15`
  t.strictSame(await findBroken(sql), [])
})

t.test('the same blob at once is stored once and counted once', async (t) => {
  const key = await issueWith(16 * mebibyte)
  const bytes = randomBytes(most)
  const both = await Promise.all([put(bytes, { key }), put(bytes, { key })])
  const told = both.map(({ status }) => status).toSorted((a, b) => a - b)
  t.strictSame(told, [200, 201])
  t.strictSame(await findBroken(sql), [])
})

t.test('an upload counts as a request', async (t) => {
  const key = await issue('beta') // the check of the new key counts as one request
  const { headers } = await put('x', { key })
  t.match(headers['ratelimit'], /^"requests";r=58;t=(60|5\d)$/)
  t.match((await head(nameOf('x'), key)).headers['ratelimit'], /r=57/)
})

t.test('a submission is told every blob that is not there', async (t) => {
  const there = nameOf('there')
  await put('there')
  const submit = (more: object): Promise<Answer> =>
    call('POST', '/api/submit', { body: { language: 'python', code: '', ...more } })
  const missing = nameOf('missing')
  const tests = [
    { stdin_sha256: missing, expected_stdout_sha256: there },
    { stdin_sha256: there, expected_stdout_sha256: nameOf('nowhere') },
  ]
  const refused = await submit({ tests })
  t.equal(refused.status, 400)
  t.strictSame(pathsOf(refused), ['tests.0.stdin_sha256', 'tests.1.expected_stdout_sha256'])
  const many = await submit({
    tests: Array.from({ length: 200 }, () => ({ stdin_sha256: missing })),
  })
  t.equal(many.body.issues.length, 101)
  t.match(many.body.issues[100], { path: '', message: 'holds 100 more mistakes' })

  const rows: [object, ...string[]][] = [
    [{ stdin: '', stdin_sha256: there }, 'stdin_sha256'],
    [{ expected_stdout: '', expected_stdout_sha256: there }, 'expected_stdout_sha256'],
    [{ tests: [{ stdin: '', stdin_sha256: there }] }, 'tests.0.stdin_sha256'],
    [{ tests: [{}], stdin_sha256: there, expected_stdout_sha256: there }, 'stdin_sha256', 'expected_stdout_sha256'], // prettier-ignore
    [{ stdin_sha256: there.toUpperCase() }, 'stdin_sha256'],
    [{ tests: [{ stdin_sha256: 7 }] }, 'tests.0.stdin_sha256'],
    [{ tests: [{ stdin_sha512: '' }] }, 'tests.0.stdin_sha512'],
  ]
  await checkMistakes(t, rows, submit)
  t.equal((await submit({ tests: [{ stdin_sha256: there }] })).status, 202)
  t.equal((await submit({ expected_stdout_sha256: there, checker: { type: 'exact' } })).status, 202)
})

t.test('a batch refuses the item that names a missing one, and takes the others', async (t) => {
  await put('there')
  const item = { language: 'python', code: '' }
  const { body } = await call('POST', '/api/submit/batch', {
    body: {
      submissions: [
        { ...item, stdin_sha256: nameOf('missing') },
        { ...item, stdin_sha256: nameOf('there') },
      ],
    },
  })
  t.match(body.submissions, [{ error: 'invalid_request' }, { id: /./ }])
})

t.test('what one submission names is bounded, each naming counted', async (t) => {
  const bytes = randomBytes(most)
  await put(bytes)
  await put('x')
  const named = { stdin_sha256: nameOf(bytes) }
  const submit = (tests: object[]): Promise<Answer> =>
    call('POST', '/api/submit', { body: { language: 'python', code: '', tests } })
  t.equal((await submit([named, named, named, named])).status, 202)
  const refused = await submit([named, named, named, named, { stdin_sha256: nameOf('x') }])
  t.equal(refused.status, 400)
  t.match(refused.body.issues, [{ path: '', message: /67108865 bytes in all/ }])
})

t.test('the log tells digests and sizes, and never the bytes', async (t) => {
  const bytes = Buffer.from(`secret ${uuidv7()}`)
  await put(bytes)
  const { body } = await call('POST', '/api/submit', {
    body: {
      language: 'python',
      code: '',
      tests: [{ stdin_sha256: nameOf(bytes) }, { expected_stdout_sha256: nameOf(bytes) }],
    },
  })
  const { body: told } = await call('GET', `/api/result/${body.id}/events`)
  t.strictSame(told.events[0].data.blobs, [{ sha256: nameOf(bytes), bytes: bytes.length }])
  const [row] = await sql`
    select string_agg(data::text || metadata::text, '') as log from runledger.event`
  t.notOk(String(row?.['log']).includes(bytes.toString()))
  t.match(await sql`select * from audit.blob where sha256 = ${nameOf(bytes)}`, [
    { bytes: bytes.length },
  ])
})
