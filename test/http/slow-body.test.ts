// Bodies that are announced but do not arrive: an account holds no more than its share of the room for bodies, and other
// accounts are served.
import { once } from 'node:events'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import t from 'tap'
import { startFreshServer } from '../helper/server.ts'

// Long enough that no request of this file times out.
const { call, issue, port, sql } = await startFreshServer(t, { requestSeconds: 600 })
const largest = 2 * 1024 * 1024
/** How many largest bodies fit in a third of 128 MiB. */
const share = 21
const body = { language: 'python', code: '' }

/** Announces a body. @returns the answer to the headers: 100 when the body may come and has its room. */
async function announce(key: string, more: string): Promise<{ socket: Socket; answer: string }> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  socket.write(
    `POST /api/submit HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\n${more}\r\n\r\n`,
  )
  const [first] = (await once(socket, 'data')) as [Buffer]
  return { socket, answer: first.toString() }
}

const announceLargest = (key: string): ReturnType<typeof announce> =>
  announce(key, `Content-Length: ${largest}\r\nExpect: 100-continue`)

t.test('an account’s share may be full, others’ is not; it is free when bodies go', async (t) => {
  const greedy = await issue()
  const slow: Socket[] = []
  for (let n = 0; n < share; n += 1) {
    const { socket, answer } = await announceLargest(greedy)
    t.match(answer, /^HTTP\/1\.1 100 /)
    slow.push(socket)
  }
  const refused = await announceLargest(greedy)
  t.match(refused.answer, /^HTTP\/1\.1 429 [^]*Retry-After: 1\r\n/)
  refused.socket.destroy()
  const [before] = await sql`select count(*)::int as count from runledger.submission`
  const code = 'x'.repeat(60_000)
  for (const path of ['/api/submit', '/api/submit/batch']) {
    const submissions = Array.from({ length: 12 }, () => ({ ...body, code }))
    const large = path.endsWith('batch') ? { submissions } : { ...body, stdin: code, code }
    const { status } = await call('POST', path, { body: { ...large }, key: await issue('beta') })
    t.equal(status, 202)
  }
  const [after] = await sql`select count(*)::int as count from runledger.submission`
  t.equal(after?.['count'] - before?.['count'], 13)

  for (const socket of slow) socket.destroy()
  // The server notices the closed connections a moment later.
  for (;;) {
    const { answer, socket } = await announceLargest(greedy)
    socket.destroy()
    if (answer.startsWith('HTTP/1.1 100 ')) break
  }
  t.equal((await call('POST', '/api/submit', { body, key: greedy })).status, 202)
})

t.test('of a body that comes in chunks counts what has come', async (t) => {
  const greedy = await issue()
  const slow: Socket[] = []
  const chunked = 'Transfer-Encoding: chunked\r\nExpect: 100-continue'
  const { socket, answer } = await announce(greedy, chunked)
  t.match(answer, /^HTTP\/1\.1 100 /)
  for (let n = 0; n < share; n += 1) slow.push((await announceLargest(greedy)).socket)
  const chunk = 'x'.repeat(2 ** 16)
  for (let n = 0; n < 30; n += 1) socket.write(`10000\r\n${chunk}\r\n`)
  const [late] = (await once(socket, 'data')) as [Buffer]
  t.match(late.toString(), /^HTTP\/1\.1 429 [^]*Retry-After: 1\r\n/)
  for (const each of [socket, ...slow]) each.destroy()
})

t.test('a body in a thousand pieces is the same body', async (t) => {
  const key = await issue()
  const text = JSON.stringify({ ...body, code: 'print("é")', stdin: 'ü'.repeat(500) })
  const { socket, answer } = await announce(
    key,
    'Transfer-Encoding: chunked\r\nExpect: 100-continue',
  )
  t.match(answer, /^HTTP\/1\.1 100 /)
  for (const byte of Buffer.from(text))
    socket.write(Buffer.concat([Buffer.from('1\r\n'), Buffer.of(byte), Buffer.from('\r\n')]))
  socket.write('0\r\n\r\n')
  const [received] = (await once(socket, 'data')) as [Buffer]
  t.match(received.toString(), /^HTTP\/1\.1 202 /)
  socket.destroy()
  const [{ id }] = await sql<[{ id: string }]>`
    select submission_id as id from runledger.body order by submission_id desc limit 1`
  const [kept] = await sql`
    select convert_from(code, 'UTF8') as code, convert_from(stdin, 'UTF8') as stdin
    from runledger.body where submission_id = ${id}`
  t.strictSame(kept, { code: 'print("é")', stdin: 'ü'.repeat(500) })
})
