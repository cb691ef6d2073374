// POST /api/submit/batch with Accept: application/x-ndjson: a line for each item, in the order of their ends.
import { randomUUID } from 'node:crypto'
import { request } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { openTestDatabase } from '../helper/database.ts'
import { finish, listPending } from '../helper/execution.ts'
import { startServer } from '../helper/server.ts'
import { until } from '../helper/until.ts'

const { sql, url } = await openTestDatabase(t)
const options = {
  url,
  queueCapacity: 10_000,
  streamBounds: { slowReaderMilliseconds: 5000 },
  statementSeconds: 30,
}
const server = await startServer(t, sql, options)
const { port, issue } = server
const key = await issue()
const python = { language: 'python', code: 'print(1)' }
const bad = { language: 'latin', code: '' }

interface Line {
  readonly index: number
  readonly id?: string
  readonly [field: string]: unknown
}

interface Batch {
  readonly response: IncomingMessage
  /** Reads the next line. @returns null at the end. */
  next(): Promise<Line | null>
  rest(): Promise<Line[]>
}

/** Sends a batch. After a 503, which a busy machine may cause, it is sent again, as clients do. */
async function open(
  submissions: unknown,
  {
    query = '',
    caller = key,
    headers = {},
  }: { query?: string; caller?: string; headers?: Readonly<Record<string, string>> } = {},
): Promise<Batch> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const sent = request(
    {
      port,
      host: '127.0.0.1',
      method: 'POST',
      path: `/api/submit/batch${query}`,
      headers: {
        'X-API-Key': caller,
        'Content-Type': 'application/json',
        Accept: 'application/x-ndjson',
        ...headers,
      },
    },
    resolve,
  )
  sent.on('error', reject)
  sent.end(JSON.stringify({ submissions }))
  const response = await promise
  response.on('error', () => {})
  if (response.statusCode === 503) {
    response.resume()
    await sleep(1000)
    return open(submissions, { query, caller, headers })
  }
  const lines = createInterface({ input: response })[Symbol.asyncIterator]()
  const next = async (): Promise<Line | null> => {
    const line = await lines.next()
    return line.done === true ? null : (JSON.parse(line.value) as Line)
  }
  return {
    response,
    next,
    async rest() {
      const all: Line[] = []
      for (let line = await next(); line !== null; line = await next()) all.push(line)
      return all
    },
  }
}

/** Waits until this many submissions are unfinished. @returns the ids of the newest ones, oldest first. */
async function findNewest(count: number): Promise<string[]> {
  for (;;) {
    const ids = await listPending(sql)
    if (ids.length >= count) return ids.slice(-count)
    await sleep(20)
  }
}

t.test('lines come in the order in which items end, refused ones first', async (t) => {
  const batch = await open([python, bad, python, python])
  t.equal(batch.response.statusCode, 200)
  t.match(batch.response.headers, { 'content-type': 'application/x-ndjson' })
  t.match(await batch.next(), { index: 1, error: 'invalid_request', fault: 'caller' })
  const [first = '', second = '', third = ''] = await findNewest(3)
  const order: [string, number][] = [
    [second, 2],
    [third, 3],
    [first, 0],
  ]
  for (const [id, index] of order) {
    await finish(sql, id, { stdout: 'x'.repeat(index === 3 ? 9000 : 1) })
    t.match(await batch.next(), { index, id, status: 'completed', verdict: 'AC', stdout: /^x+$/ })
  }
  t.equal(await batch.next(), null)
})

t.test('sent again under its key, a batch goes on, without the lines that are named', async (t) => {
  const headers = { 'Idempotency-Key': randomUUID() }
  const submissions = [python, python, bad, python]
  const first = await open(submissions, { headers })
  await first.next()
  const [a = '', b = '', c = ''] = await findNewest(3)
  await finish(sql, b)
  t.match(await first.next(), { index: 1, id: b })
  first.response.destroy()
  await finish(sql, a)
  const again = await open(submissions, { headers, query: '?have=1-2' })
  t.equal(again.response.headers['idempotency-replayed'], 'true')
  t.match(await again.next(), { index: 0, id: a, status: 'completed' })
  await finish(sql, c)
  t.match(await again.rest(), [{ index: 3, id: c }])
  const whole = await open(submissions, { headers })
  t.strictSame(new Set((await whole.rest()).map(({ index }) => index)), new Set([0, 1, 2, 3]))
  const other = await open([python], { headers })
  t.equal(other.response.headers['idempotency-mismatch'], 'true')
  t.equal((await other.rest()).length, 4, 'the first answer')
  t.equal((await sql`select from runledger.result where id in ${sql([a, b, c])}`).length, 3)
})

t.test('a thousand items, and no more; a tier of its own number', async (t) => {
  // One in five is stored, because a request has a second and a half to store them, also on a slow machine.
  const many = Array.from({ length: 1000 }, (_, n) => n % 5 === 0 ? { ...python, code: `print(${n})` } : bad) // prettier-ignore
  const batch = await open(many)
  t.equal(batch.response.statusCode, 200)
  const ids = await findNewest(200)
  const ending = (async () => {
    for (let n = 0; n < 200; n += 20)
      await Promise.all(ids.slice(n, n + 20).map((id) => finish(sql, id)))
  })()
  const lines = await batch.rest()
  await ending
  t.equal(lines.length, 1000)
  t.strictSame(
    lines.toSorted((one, other) => one.index - other.index).map(({ id, error }) => id ?? error),
    many.map((_, n) => (n % 5 === 0 ? ids[n / 5] : 'invalid_request')),
  )
  const refused = await open([...many, python])
  t.equal(refused.response.statusCode, 400)
  t.match((await refused.rest())[0]?.['issues'], [{ path: 'submissions', message: /1 to 1000/ }])
  const small = await open(Array.from({ length: 21 }, () => python), { caller: await issue('beta') }) // prettier-ignore
  t.match((await small.rest())[0]?.['issues'], [{ path: 'submissions', message: /1 to 20/ }])
})

t.test('a body may be as large as the tier’s items make it', async (t) => {
  const code = `#${'x'.repeat(60_000)}`
  const large = Array.from({ length: 40 }, () => ({ language: 'python', code }))
  const batch = await open(large)
  t.equal(batch.response.statusCode, 200)
  batch.response.destroy()
  for (const id of await findNewest(40)) await finish(sql, id)
  const beta = await open(large.slice(0, 20).map((one) => ({ ...one, stdin: code })), { caller: await issue('beta') }) // prettier-ignore
  t.match((await beta.rest())[0]?.['issues'], [{ path: '', message: /2097152 bytes/ }])
})

t.test('mistakes of the batch itself are one answer, and nothing is received', async (t) => {
  const [before] = await sql`select count(*)::integer as count from runledger.pending`
  for (const [query, path] of [
    ['?have=x', '?have'],
    ['?have=1-', '?have'],
    ['?have=5-2', '?have'],
    ['?wait=true', '?wait'],
  ] as const) {
    const { response, next } = await open([python], { query })
    t.equal(response.statusCode, 400)
    t.match(await next(), { error: 'invalid_request', issues: [{ path }] })
  }
  const { response } = await open([python, bad], { headers: { 'Idempotency-Key': 'x' } })
  t.equal(response.statusCode, 400)
  t.match((await open([bad])).response.statusCode, 200, 'each bad item has its line')
  const [after] = await sql`select count(*)::integer as count from runledger.pending`
  t.strictSame(after, before)
})

t.test('one that is cut off in the middle of its body is not received', async (t) => {
  const [before] = await sql`select count(*)::integer as count from runledger.pending`
  for (const accept of ['application/json', 'application/x-ndjson']) {
    const socket = connect(port, '127.0.0.1')
    socket.write(
      `POST /api/submit/batch HTTP/1.1\r\nHost: a\r\nX-API-Key: ${key}\r\nAccept: ${accept}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"submissions":[{"language":"python","code":"print(1)"},{"language":"python"`,
    )
    await sleep(200)
    socket.destroy()
  }
  for (let n = 0; n < 100 && (await server.countConnections()) > 0; n += 1) await sleep(20)
  const [after] = await sql`select count(*)::integer as count from runledger.pending`
  t.strictSame(after, before)
})

t.test('who does not read is let go, and what was submitted ends all the same', async (t) => {
  const headers = { 'Idempotency-Key': randomUUID() }
  // Together more than the buffers hold, and each so small that a slow machine reads twenty in time.
  const submissions = Array.from({ length: 160 }, () => python)
  const body = JSON.stringify({ submissions })
  const socket = connect(port, '127.0.0.1')
  const fields = { Host: 'a', 'X-API-Key': key, Accept: 'application/x-ndjson', 'Content-Type': 'application/json', 'Content-Length': body.length, ...headers } // prettier-ignore
  const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}`)
  socket.write(`POST /api/submit/batch HTTP/1.1\r\n${head.join('\r\n')}\r\n\r\n${body}`)
  const ids = await findNewest(160)
  for (const id of ids) await finish(sql, id, { stdout: 'x'.repeat(125_000) })
  // The client reads nothing. The service keeps what its buffers hold until the time for a slow reader is over.
  for (let n = 0; n < 2000 && (await server.countConnections()) > 0; n += 1) await sleep(20)
  t.equal(await server.countConnections(), 0)
  socket.destroy()
  const warnings: string[] = []
  const note = ({ name }: Error): void => void warnings.push(name)
  process.on('warning', note)
  const again = await open(submissions, { headers })
  t.equal((await again.rest()).length, 160)
  process.off('warning', note)
  const isOfListeners = warnings.includes('MaxListenersExceededWarning')
  t.notOk(isOfListeners, 'however often it has to wait for its reader')
})

t.test('who reads slowly, but reads, gets every line', async (t) => {
  const batch = await open(Array.from({ length: 120 }, () => python))
  const ids = await findNewest(120)
  const ending = Promise.all(ids.map((id) => finish(sql, id, { stdout: 'x'.repeat(100_000) })))
  const seen: Line[] = []
  // The lines do not fit in the sockets, so the service waits for the client, but never long enough to drop it.
  for (let line = await batch.next(); line !== null; line = await batch.next()) {
    seen.push(line)
    batch.response.pause()
    await sleep(80)
    batch.response.resume()
  }
  await ending
  t.strictSame(new Set(seen.map(({ id }) => id)), new Set(ids))
  t.ok(seen.every(({ stdout }) => (stdout as string).length === 100_000))
})

t.test('who hangs up leaves nothing behind, and takes nothing back', async (t) => {
  const headers = { 'Idempotency-Key': randomUUID() }
  const batch = await open([python, python], { headers })
  const [first = '', second = ''] = await findNewest(2)
  t.equal(server.waiter.waiting, 2)
  await finish(sql, first)
  t.match(await batch.next(), { id: first })
  batch.response.destroy()
  await until(() => server.waiter.waiting === 0)
  t.equal((await sql`select from runledger.pending where submission_id = ${second}`).length, 1)
  await finish(sql, second)
  t.equal((await (await open([python, python], { headers })).rest()).length, 2)
})
