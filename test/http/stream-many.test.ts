// Many streams, slow readers, and more streams than allowed: what they cost, and whom.
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { openTestDatabase } from '../helper/database.ts'
import { completeExecution, finish, startAttempt } from '../helper/execution.ts'
import type { PretendedAttempt } from '../helper/execution.ts'
import { startServer } from '../helper/server.ts'
import { startStatementCounter } from '../helper/statement.ts'
import { findFlaws, followToEnd, joinOutput, openStream } from '../helper/stream.ts'
import type { OpenStream } from '../helper/stream.ts'

const { sql, url } = await openTestDatabase(t)
const counter = await startStatementCounter(url)
t.teardown(() => counter.close())
const { call, issue, port } = await startServer(t, sql, { url: counter.url })
const key = await issue()
const many = 1000

const submit = async (key_ = key): Promise<string> =>
  (await call('POST', '/api/submit', { body: { language: 'python', code: '' }, key: key_ })).body.id

/** Starts an attempt. @returns the version of its start, and its name, under which its events are published. */
async function start(id: string): Promise<PretendedAttempt> {
  const attempt = await startAttempt(sql, id)
  if (attempt === null) throw new Error(`submission ${id} cannot start`)
  return attempt
}

/** Opens a stream. Repeats after a 503, as clients do, because a busy database may not answer within two seconds. */
async function watch(id: string): Promise<OpenStream> {
  const stream = await openStream({ port, key, path: `/api/result/${id}/stream` })
  if (stream.status !== 503) return stream
  await stream.ended
  await sleep(1000)
  return watch(id)
}

/** Publishes output as a worker does. @param seq the number of this event in the run. */
async function publish(
  { id, run }: { readonly id: string; readonly run: string },
  seq: number,
  offset: number,
  text: string,
): Promise<void> {
  const at = `${run}.${seq}.${offset + Buffer.byteLength(text)}.0`
  const event = { seq, id: at, event: 'stdout', data: JSON.stringify({ offset, text }) }
  const published = JSON.stringify([{ submission: id, run, events: [event] }])
  for (;;) {
    const [row] = await sql`select * from runledger.publish_output(${published}::text::jsonb)`
    if (row?.['next_seq'] === seq + 1) return
    if (row?.['next_seq'] !== null) throw new Error('another event is expected')
    await sleep(20) // the service may begin to watch a moment after it has told what was before
  }
}

/** Opens streams in groups, because a machine can make only so many connections at once. */
async function openMany(ids: readonly string[]): Promise<OpenStream[]> {
  const streams: OpenStream[] = []
  for (let n = 0; n < ids.length; n += 50)
    streams.push(...(await Promise.all(ids.slice(n, n + 50).map(watch))))
  return streams
}

function countReads(): number {
  let sum = 0
  for (const [text, count] of counter.take())
    if (/read_live_output|read_result|watch_submissions/.test(text)) sum += count
  return sum
}

t.test('a thousand watchers of one cost what one costs, and each is told all of it', async (t) => {
  const id = await submit()
  const { version, run } = await start(id)
  const streams = await openMany(Array.from({ length: many }, () => id))
  await Promise.all(streams.map((stream) => stream.until(({ data }) => data.status === 'running')))
  counter.take()
  const startedAt = performance.now()
  let whole = ''
  for (let n = 0; n < 20; n += 1) {
    const text = `line ${n} of twenty, ü\n`
    await publish({ id, run }, n + 1, Buffer.byteLength(whole), text)
    whole += text
    const told = Buffer.byteLength(whole)
    await Promise.all(
      streams.map((stream) =>
        stream.until(
          ({ event, data }) =>
            event === 'stdout' && data.offset + Buffer.byteLength(data.text) === told,
        ),
      ),
    )
  }
  await completeExecution(sql, id, version, { stdout: whole })
  const ends = await Promise.all(streams.map(({ ended }) => ended))
  const seconds = (performance.now() - startedAt) / 1000
  for (const events of ends) {
    t.strictSame(findFlaws(events), [])
    t.equal(joinOutput(events, 'stdout').toString(), whole)
  }
  // Each output costs two reads, because there may be more after the first one. A timer adds one read a second.
  const reads = countReads()
  t.ok(reads <= 4 * 21 + 3 * seconds, `${reads} statements in ${seconds} s`)
})

t.test('a thousand watchers of a thousand are each told of theirs', async (t) => {
  const ids: string[] = []
  for (let n = 0; n < many; n += 20) {
    const body = {
      submissions: Array.from({ length: 20 }, () => ({ language: 'python', code: '' })),
    }
    const answer = await call('POST', '/api/submit/batch', { body, key })
    ids.push(...answer.body.submissions.map(({ id }: { id: string }) => id))
  }
  const streams = await openMany(ids)
  counter.take()
  const startedAt = performance.now()
  for (const [index, id] of ids.entries()) await finish(sql, id, { stdout: String(index) })
  const ends = await Promise.all(streams.map(({ ended }) => ended))
  const seconds = (performance.now() - startedAt) / 1000
  for (const [index, events] of ends.entries()) {
    t.strictSame(findFlaws(events), [])
    t.match(events.at(-1)?.data, { id: ids[index], stdout: String(index) })
  }
  t.comment(`${countReads()} statements in ${seconds} s`)
})

t.test('who does not read is let go, and holds up nobody', async (t) => {
  // Longer than the quick reader is kept by a machine that stops for a second.
  const bounds = { slowReaderMilliseconds: 3000, commentMilliseconds: 50 }
  const { port, countConnections } = await startServer(t, sql, { url, streamBounds: bounds })
  const id = await submit()
  const { version, run } = await start(id)
  const before = await countConnections()
  const slow = connect(port, '127.0.0.1')
  slow.on('error', () => {})
  slow.pause()
  slow.write(`GET /api/result/${id}/stream HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\n\r\n`)
  const quick = await openStream({ port, key, path: `/api/result/${id}/stream` })
  await quick.until(({ data }) => data.status === 'running')
  while (quick.comments() === 0) await sleep(10)
  let told = 0
  // Publishes until the output exceeds what the kernel buffers for a client that does not read.
  while ((await countConnections()) > before + 1) {
    await publish({ id, run }, told / 65_536 + 1, told, 'x'.repeat(65_536))
    told += 65_536
    const end = told
    await quick.until(
      ({ event, data }) => event === 'stdout' && data.offset + data.text.length === end,
    )
    await sleep(50) // so that the record stays small until the slow reader's time is over
  }
  slow.destroy()
  await completeExecution(sql, id, version, { stdout: 'x'.repeat(told) })
  t.strictSame(findFlaws(await quick.ended), [])
  t.ok(told > 0)
})

t.test('a stream is let go after a while, and goes on where it was', async (t) => {
  const { port } = await startServer(t, sql, { url, streamBounds: { longestMilliseconds: 300 } })
  const id = await submit()
  const first = await openStream({ port, key, path: `/api/result/${id}/stream` })
  const events = await first.ended
  await finish(sql, id)
  const path = `/api/result/${id}/stream`
  const lastEventId = events.at(-1)?.id ?? ''
  const { events: rest } = await followToEnd({ port: () => port, key, path, lastEventId })
  t.strictSame(findFlaws([...events, ...rest]), [])
})

t.test('there are bounds for a key and for the process', async (t) => {
  const { port } = await startServer(t, sql, {
    url,
    streamBounds: { openMost: 5, openPerKeyMost: 3 },
  })
  const beta = await issue('beta')
  const id = await submit(beta)
  const ask = (by: string, path = `/api/result/${id}/stream`, body?: object): Promise<OpenStream> =>
    openStream({ port, key: by, path, ...(body && { body }) })
  const open = [await ask(beta), await ask(beta), await ask(beta)]
  const refused = await ask(beta)
  t.equal(refused.status, 429)
  t.match(refused.headers, { 'retry-after': /^\d+$/ })
  const body = { language: 'python', code: '' }
  t.equal((await ask(beta, '/api/submit', body)).status, 429)
  open[0]?.close()
  while ((await ask(beta)).status !== 200) await sleep(20)

  const own = await submit()
  const path = `/api/result/${own}/stream`
  t.strictSame([(await ask(key, path)).status, (await ask(key, path)).status], [200, 200])
  const full = await ask(key, path)
  t.equal(full.status, 503)
  t.match(full.headers, { 'retry-after': /^\d+$/ })
  const [before] = await sql`select count(*)::int as count from runledger.submission`
  t.equal((await ask(key, '/api/submit', body)).status, 503)
  const [after] = await sql`select count(*)::int as count from runledger.submission`
  t.strictSame(after, before, 'nothing was stored')
})

t.test('an account that takes all it may leaves some to others, whatever its tier', async (t) => {
  const { port } = await startServer(t, sql, {
    url,
    streamBounds: { openMost: 12, openPerKeyMost: 2 },
  })
  const body = { language: 'python', code: '' }
  const submitStreamed = (by: string): Promise<OpenStream> =>
    openStream({ port, key: by, path: '/api/submit', body })
  for (const share of [4, 3]) {
    const greedy = await issue()
    const id = await submit(greedy)
    const path = `/api/result/${id}/stream`
    for (let n = 0; n < share; n += 1)
      t.equal((await openStream({ port, key: greedy, path })).status, 200)
    const refused = await openStream({ port, key: greedy, path })
    t.equal(refused.status, 429)
    t.match(refused.headers, { 'retry-after': /^\d+$/ })
    const [before] = await sql`select count(*)::int as count from runledger.submission`
    const unheard = await submitStreamed(greedy)
    await unheard.ended
    t.equal(unheard.status, 429)
    t.match(JSON.parse(unheard.text()), { error: 'rate_limited', message: /account/ })
    const [after] = await sql`select count(*)::int as count from runledger.submission`
    t.strictSame(after, before, 'what is refused was not stored')
  }
  for (const tier of ['unlimited', 'beta']) {
    const other = await issue(tier)
    const id = await submit(other)
    const path = `/api/result/${id}/stream`
    t.equal((await openStream({ port, key: other, path })).status, 200)
    t.equal((await submitStreamed(other)).status, 200)
  }
})

t.test('a stream is one request of the rate window', async (t) => {
  const beta = await issue('beta')
  const id = await submit(beta)
  const { headers } = await openStream({ port, key: beta, path: `/api/result/${id}/stream` })
  // The check of the new key and the submission counted before.
  t.match(headers['ratelimit'], /^"requests";r=57;/)
})
