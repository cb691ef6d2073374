// Reading: a record at every stage, the long poll, the list and the events of a submission.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { createDatabase } from '#database'
import { describeLimits } from '#execute'
import { defaultLimits } from '#language'
import { findNewestMigration } from '#migration-file'
import { readResult } from '#result'
import {
  completeExecution,
  finish,
  interrupt,
  pretendWorker,
  recordDelivery,
  startExecution,
} from '../helper/execution.ts'
import { startFreshServer } from '../helper/server.ts'
import type { Answer } from '../helper/server.ts'

const server = await startFreshServer(t)
const { call, sql, url } = server
const python = { language: 'py', code: 'print(1)' }

const submit = async (body: object = python, key?: string): Promise<string> =>
  (await call('POST', '/api/submit', { body, ...(key !== undefined && { key }) })).body.id
const read = (id: string, suffix = '', headers = {}): Promise<Answer> =>
  call('GET', `/api/result/${id}${suffix}`, { headers })

t.test('a record is 200 at every stage, null for what is not known yet', async (t) => {
  const id = await submit()
  const queued = await read(id)
  t.equal(queued.status, 200)
  const { created_at: createdAt, ...rest } = queued.body
  t.match(createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  t.strictSame(rest, {
    id, status: 'queued', verdict: null, fault: null, retry: null, exit_code: null, signal: null, stdout: null, stderr: null,
    compile: null, limit: null, difference: null, tests: null, files: null, tag: null, rerun_of: null, stdout_truncated: null, stderr_truncated: null, compile_output: null, cpu_time: null, wall_time: null,
    memory_peak: null, language: 'python', runtime: null, started_at: null, finished_at: null, purged_at: null,
    limits: null, message: null, attempt: null, cancel_requested_at: null, webhook: null,
  }) // prettier-ignore
  const version = await startExecution(sql, id)
  t.match((await read(id)).body, {
    status: 'running',
    verdict: null,
    runtime: /^Python/,
    started_at: String,
    finished_at: null,
  })
  await completeExecution(sql, id, version ?? 0, { stdout: '1\n', stderr: 'e' })
  t.match((await read(id)).body, {
    status: 'completed', verdict: 'AC', exit_code: 0, signal: null, stdout: '1\n', stderr: 'e',
    stdout_truncated: false, stderr_truncated: false, compile_output: null,
    cpu_time: 0.01, wall_time: 0.02, memory_peak: 9_000_000, finished_at: String,
  }) // prettier-ignore
})

t.test('a submission that was given up is failed with verdict IE, no figure null', async (t) => {
  const id = await submit()
  const version = await startExecution(sql, id)
  await interrupt(sql, id, Number(version), undefined, { isLast: true })
  t.match((await read(id)).body, {
    status: 'failed', verdict: 'IE', exit_code: null, signal: null, stdout: '', stderr: '',
    stdout_truncated: false, stderr_truncated: false, cpu_time: 0, wall_time: 0, memory_peak: 0,
  }) // prettier-ignore
})

t.test('a long poll answers as soon as the record is final', async (t) => {
  const id = await submit()
  const waiting = read(id, '?wait=true')
  while (server.waiter.waiting === 0) await new Promise(setImmediate)
  await finish(sql, id)
  t.match((await waiting).body, { id, status: 'completed' })
})

t.test('a long poll of a final record answers at once', async (t) => {
  const id = await submit()
  await finish(sql, id)
  const waits = t.capture(server.waiter, 'wait')
  t.equal((await read(id, '?wait=true')).body.status, 'completed')
  t.strictSame(waits(), [], 'nothing was waited for')
  t.equal(server.waiter.waiting, 0)
})

t.test('a long poll whose time is up answers the record as it stands, with 200', async (t) => {
  const id = await submit()
  const { status, body } = await read(id, '?wait=true', { Prefer: 'respond-async, wait=1' })
  t.equal(status, 200)
  t.equal(body.status, 'queued')
  t.equal(server.waiter.waiting, 0)
})

t.test('the list shows the account’s own, newest first, page by page, each once', async (t) => {
  const key = await server.issue()
  const list = (query = ''): Promise<Answer> => call('GET', `/api/submissions${query}`, { key })
  t.strictSame((await list()).body, { submissions: [], next_cursor: null })
  const ids: string[] = []
  for (let n = 0; n < 7; n += 1) {
    ids.push(await submit({ ...python, language: n % 2 === 0 ? 'py' : 'cxx' }, key))
  }
  await finish(sql, ids[0] ?? '', { verdict: 'RE', stdout: 'secret output' })
  await finish(sql, ids[1] ?? '')

  const seen: string[] = []
  let cursor: string | null = ''
  let pages = 0
  while (cursor !== null) {
    const { status, body, text }: Answer = await list(`?limit=3${cursor && `&cursor=${cursor}`}`)
    t.equal(status, 200)
    t.notMatch(text, /secret output|"stdout":/)
    seen.push(...body.submissions.map(({ id }: { id: string }) => id))
    cursor = body.next_cursor
    pages += 1
  }
  t.strictSame(seen, ids.toReversed())
  t.equal(pages, 3)

  const found = async (query: string): Promise<string[]> =>
    (await list(query)).body.submissions.map(({ id }: { id: string }) => id)
  t.strictSame(await found('?status=completed'), [ids[1], ids[0]])
  t.strictSame(await found('?verdict=RE'), [ids[0]])
  t.strictSame(await found('?language=c%2B%2B'), [ids[5], ids[3], ids[1]])
  t.strictSame(await found('?language=cpp&status=completed&verdict=AC'), [ids[1]])
  t.strictSame(await found('?status=failed'), [])
  t.equal((await list('?limit=7')).body.next_cursor, null)
  t.equal((await list('?limit=100')).body.submissions.length, 7)
})

t.test('a record tells its account, and not the receiver, where its webhook stands', async (t) => {
  const id = await submit({ ...python, webhook_url: 'https://a.test/', webhook_secret: 'shh' })
  const progress = async (): Promise<unknown> => (await read(id)).body.webhook
  const [delivery] =
    await sql`select webhook_id from runledger.delivery where submission_id = ${id}`
  const webhookId = delivery?.['webhook_id'] as string
  const shown = {
    id: webhookId,
    state: 'waiting',
    attempts: 0,
    next_attempt_at: null,
    last_error: null,
  }
  t.strictSame(await progress(), shown)
  await finish(sql, id)
  t.match(await progress(), { ...shown, state: 'pending', next_attempt_at: /^\d{4}-.*Z$/ })
  const refused = { outcome: 'refused', status: 503, snippet: 'no words of ours' } as const
  await recordDelivery(sql, id, { ...refused, retrySeconds: 60 })
  const retried = (await progress()) as { attempts: number; next_attempt_at: string }
  t.match(retried, {
    ...shown,
    state: 'pending',
    attempts: 1,
    next_attempt_at: String,
    last_error: 'the receiver answered 503',
  })
  t.ok(Date.parse(retried.next_attempt_at) > Date.now() + 20_000)
  const unreachable = { outcome: 'unreachable', snippet: 'tls: CERT_HAS_EXPIRED' } as const
  await recordDelivery(sql, id, { ...unreachable, retrySeconds: 60 })
  t.match(await progress(), { attempts: 2, last_error: 'tls: CERT_HAS_EXPIRED' })
  await recordDelivery(sql, id, { outcome: 'delivered' })
  t.strictSame(await progress(), { ...shown, state: 'delivered', attempts: 3 })
  t.notMatch((await call('GET', '/api/submissions')).text, /"webhook"/)
  t.equal('webhook' in ((await readResult(sql, id)) ?? {}), false)

  await sql`select runledger.replay_delivery(${webhookId}, 'shh', 1, '{"actor":{"operator":"alice"}}')`
  t.match(await progress(), { state: 'pending', attempts: 3 })
  const { body, text } = await read(id, '/events')
  const { type, data } = body.events.at(-1)
  t.strictSame([type, data], ['webhook.replayed', {}])
  t.notMatch(text, /alice/)
})

t.test('the record of wait=true and of a replay is the one that GET answers', async (t) => {
  const body = { ...python, webhook_url: 'https://a.test/', webhook_secret: 'shh' }
  const headers = { 'Idempotency-Key': randomUUID() }
  const waiting = call('POST', '/api/submit?wait=true', { headers, body })
  while (server.waiter.waiting === 0) await new Promise(setImmediate)
  let rows: readonly { readonly id?: string }[] = []
  while (rows.length === 0)
    rows = await sql`
      select submission_id as id from runledger.pending join runledger.delivery d using (submission_id)
      where waiters is not null and d.state = 'waiting'`
  await finish(sql, rows[0]?.id ?? '')
  const { body: record } = await waiting
  t.match(record, { status: 'completed', webhook: { state: 'pending' } })
  t.strictSame((await call('POST', '/api/submit', { headers, body })).body, record)
  t.strictSame((await read(record.id)).body, record)
})

t.test('the events tell a submission’s life without anything of ours', async (t) => {
  const id = await submit({
    ...python,
    stdin: 'secret input',
    webhook_url: 'https://a.test/secret',
    webhook_secret: 'shh',
  })
  await finish(sql, id, { stdout: 'secret output' })
  const [delivery] =
    await sql`select webhook_id from runledger.delivery where submission_id = ${id}`
  await recordDelivery(sql, id, { outcome: 'delivered', status: 200, snippet: 'secret answer' })
  const { status, body, text } = await read(id, '/events')
  t.equal(status, 200)
  const told = body.events.map(({ version, type }: { version: number; type: string }) => [
    version,
    type,
  ])
  t.strictSame(told, [
    [1, 'submission.received'],
    [2, 'execution.started'],
    [3, 'execution.completed'],
    [1, 'webhook.delivered'],
  ])
  t.notMatch(text, /secret|shh|host"?:"(?!a\.test)|worker|api_key|account|snippet|metadata/)
  t.match(body.events[0].data, {
    language: 'python',
    code: { bytes: 8 },
    webhook: { host: 'a.test' },
  })
  t.match(body.events[1].data, {
    attempt: 1,
    limits: { run: { cpu_time: 5, memory: 268_435_456 } },
  })
  t.match(body.events[2].data, { verdict: 'AC', run: { wall_time: 0.02 } })
  const recorded = await sql`
    select hash from audit.event where stream_id in (${id}, ${delivery?.['webhook_id']}) order by position`
  t.strictSame(
    body.events.map(({ hash }: { hash: string }) => hash),
    recorded.map(({ hash }) => hash as string),
  )
  const positions = body.events.map(({ position }: { position: number }) => position)
  t.strictSame(
    positions,
    positions.toSorted((a: number, b: number) => a - b),
  )
})

t.test('languages are those of the live workers; none without a worker', async (t) => {
  t.strictSame((await call('GET', '/api/languages')).body, { languages: [] })
  const session = createDatabase({ url, connections: 1, name: 'pretended worker' })
  await pretendWorker(session, {
    python: {
      version: 'Python 3.11.2',
      compile: null,
      run: ['python3', 'main.py'],
      limits: describeLimits(defaultLimits.python),
    },
    cpp: {
      version: 'GCC 12.2.0',
      compile: ['g++', 'main.cpp'],
      run: ['./main'],
      limits: describeLimits(defaultLimits.cpp),
    },
  })
  const { body } = await call('GET', '/api/languages')
  t.match(body.languages, [
    { name: 'cpp', title: 'C++', extensions: ['.cpp', '.cc', '.cxx'], example: /Hello/, workers: 1, aliases: ['c++', 'cxx'], runtime: 'GCC 12.2.0', compile: ['g++', 'main.cpp'], run: ['./main'] },
    {
      name: 'python', aliases: ['py'], compile: null,
      limits: { compile: null, run: { cpu_time: 5, wall_time: 10, memory: 268_435_456, processes: 64 } },
    },
  ]) // prettier-ignore
  await sql`update runledger.worker set stopped_at = now()`
  await session.end()
  t.strictSame((await call('GET', '/api/languages')).body, { languages: [] })
})

t.test('a database that is older than the code is not ready, a newer one is', async (t) => {
  const statusOf = async (): Promise<number> => (await call('GET', '/readyz', { key: null })).status
  const name = findNewestMigration()
  const [row] = await sql`delete from runledger.schema_migration where name = ${name} returning *`
  t.equal(await statusOf(), 503)
  const later = { ...row, name: '999999-later.sql' }
  await sql`insert into runledger.schema_migration ${sql([row as object, later])}`
  t.equal(await statusOf(), 200)
})
