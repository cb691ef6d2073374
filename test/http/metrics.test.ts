// /metrics: the figures follow what happens.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createDatabase } from '#database'
import {
  finish,
  interrupt,
  pretendWorker,
  recordDelivery,
  startExecution,
} from '../helper/execution.ts'
import { startFreshServer, startServer } from '../helper/server.ts'
import { startStatementCounter } from '../helper/statement.ts'

const { call, waiter, sql, url } = await startFreshServer(t, { queueCapacity: 12 })
const python = { language: 'python', code: '' }

async function scrape(): Promise<ReadonlyMap<string, number>> {
  const { status, text } = await call('GET', '/metrics', { key: null, checked: false })
  if (status !== 200) throw new Error(text)
  const figures = new Map(
    text
      .split('\n')
      .filter((line) => line.startsWith('runledger_'))
      .map((line) => [
        line.slice(0, line.lastIndexOf(' ')),
        Number(line.slice(line.lastIndexOf(' '))),
      ]),
  )
  // When the database has not answered in time, the figures are those of an earlier scrape.
  return figures.get('runledger_database_up') === 1 ? figures : scrape()
}

// Repeats the scrape, because an event is counted only when the whole server has no older transaction, and other test files
// have some open.
async function scrapeUntil(
  holds: (figures: ReadonlyMap<string, number>) => boolean,
): Promise<ReadonlyMap<string, number>> {
  for (;;) {
    const figures = await scrape()
    if (holds(figures)) return figures
    await sleep(50)
  }
}

/** Picks figures, named without `runledger_`, that a scrape has. */
async function show(...names: string[]): Promise<(number | undefined)[]> {
  const figures = await scrape()
  return names.map((name) => figures.get(`runledger_${name}`))
}

const submit = async (body: object = python): Promise<string> =>
  (await call('POST', '/api/submit', { body })).body.id

t.test('the answer is in the text exposition format', async (t) => {
  const { headers } = await call('GET', '/metrics', { key: null, checked: false })
  t.match(headers['content-type'], /^text\/plain; version=0\.0\.4/)
})

t.test('the queue and the workers are shown as they are', async (t) => {
  const session = createDatabase({ url, connections: 1, name: 'pretended worker' })
  await pretendWorker(session, { python: {}, cpp: {}, java: {}, lua: {} })
  const ids = [await submit(), await submit(), await submit()]
  await startExecution(sql, ids[0] ?? '')
  const key = await (await startServer(t, sql, { url })).issue('beta')
  const waiting = call('GET', `/api/result/${ids[1]}?wait=true`)
  await call('POST', '/api/submit/batch', { key, body: { submissions: [python] } })
  while (waiter.waiting === 0) await new Promise(setImmediate)
  const figures = await scrape()
  const expected = {
    'unfinished_submissions{state="running"}': 1,
    'unfinished_submissions{state="queued"}': 3,
    'unfinished_submissions{state="waiting"}': 0,
    workers: 1,
    slots: 2,
    'waiting_submissions{language="python"}': 3,
    'language_workers{language="python"}': 1,
    'language_workers{language="lua"}': 1,
    waiters: 1,
    database_up: 1,
    workers_suspended: 0,
  }
  for (const [name, value] of Object.entries(expected))
    t.equal(figures.get(`runledger_${name}`), value, name)
  t.ok((figures.get('runledger_oldest_waiting_seconds') ?? 0) > 0)
  await sql`update runledger.worker set suspended_at = now()`
  t.strictSame(await show('workers_suspended', 'workers', 'slots'), [1, 1, 0])
  await sql`update runledger.worker set suspended_at = null, wanted = 'paused'`
  t.strictSame(await show('workers_paused', 'workers_suspended', 'slots'), [1, 0, 0])
  await sql`update runledger.worker set stopped_at = now()`
  await session.end()
  await finish(sql, ids[1] ?? '')
  await waiting
  t.strictSame(await show('workers', 'workers_lost'), [0, 0], 'it drained')
  await sql`update runledger.worker set is_lost = true`
  t.strictSame(await show('workers_lost'), [1])
  await sql`update runledger.worker set stopped_at = now() - interval '61 minutes'`
  t.strictSame(await show('workers_lost'), [0], 'long ago')
})

t.test('what waits is shown by tier, language and priority', async (t) => {
  const key = await (await startServer(t, sql, { url })).issue('beta')
  const lua = { language: 'lua', code: '' }
  const ids: string[] = []
  for (const [body, asked] of [
    [python, undefined],
    [lua, key],
    [lua, key],
    [{ ...lua, priority: 'low' }, key],
  ] as const)
    ids.push((await call('POST', '/api/submit', { body, ...(asked && { key: asked }) })).body.id)
  const figures = await scrape()
  const read = (name: string, labels: string): number =>
    figures.get(`runledger_class_${name}{${labels}}`) ?? NaN
  const [normal, low] = ['normal', 'low'].map(
    (priority) => `tier="beta",language="lua",priority="${priority}"`,
  ) as [string, string]
  t.equal(read('waiting_submissions', normal), 2)
  t.equal(read('waiting_submissions', low), 1)
  t.ok(read('oldest_waiting_seconds', normal) > read('oldest_waiting_seconds', low))
  t.ok(read('oldest_waiting_seconds', low) > 0)
  for (const id of ids) await finish(sql, id)
  const left = [...(await scrape()).keys()].filter((name) =>
    name.includes('tier="beta",language="lua"'),
  )
  t.strictSame(left, [], 'none is left')
})

function sumExecutions(figures: ReadonlyMap<string, number>): number {
  return [...figures]
    .filter(([name]) => name.startsWith('runledger_executions_total{'))
    .reduce((sum, [, value]) => sum + value, 0)
}

t.test('what was found in the ledger is shown, and when it was looked at', async (t) => {
  const checks = ['drift', 'broken_chain', 'invariant']
  const shown = (): Promise<unknown[]> =>
    show(...checks.map((check) => `ledger_findings{check="${check}"}`))
  t.strictSame(await show('ledger_checked_timestamp_seconds'), [0], 'never yet')
  await sql`select runledger.check_ledger(1000)`
  t.strictSame(await shown(), [0, 0, 0])
  const [row] =
    await sql`select extract(epoch from checked_at)::float as at from runledger.ledger_check`
  const times = ['ledger_checked_timestamp_seconds', 'ledger_walked_timestamp_seconds']
  t.strictSame(await show(...times), [row?.['at'], row?.['at']])
  await sql`update runledger.ledger_check set drift = 1, broken_chain = 2, invariant = 3`
  t.strictSame(await shown(), [1, 2, 3])
})

t.test('the oldest job counts from when a worker could have taken it', async (t) => {
  const shown = async (): Promise<number> =>
    (await scrape()).get('runledger_oldest_queued_seconds') ?? NaN
  await sql`
    select graphile_worker.reschedule_jobs(array(select id from graphile_worker.jobs), run_at => now() + interval '1 hour')`
  t.equal(await shown(), 0, 'all are for later')
  const id = await submit()
  await sql`
    update graphile_worker._private_jobs set created_at = now() - interval '100 seconds' where key = ${id}`
  t.ok((await shown()) >= 100)
  await sql`update graphile_worker._private_jobs set locked_at = now() where key = ${id}`
  t.equal(await shown(), 0, 'a worker has it')
})

t.test('a process that is not ready says so', async (t) => {
  const newer = await startServer(t, sql, { url, newestMigration: 'none.sql' })
  const { text } = await newer.call('GET', '/metrics', { key: null, checked: false })
  t.match(text, /^runledger_ready 0$/m)
  t.match(text, /^runledger_database_up 1$/m)
  t.equal((await scrape()).get('runledger_ready'), 1)
})

t.test('what can be counted stands there before the first of it has come', async (t) => {
  const { call } = await startServer(t, sql, { url })
  const { text } = await call('GET', '/metrics', { key: null, checked: false })
  for (const line of [
    'runledger_executions_total{language="java",verdict="IE"} 0',
    'runledger_webhooks_abandoned_total{reason="gone"} 0',
  ])
    t.ok(text.includes(`\n${line}\n`), line)
})

t.test('executions are counted once, by language and verdict, with their times', async (t) => {
  // An open transaction of another test in this PostgreSQL delays the count of earlier executions.
  const [log] = await sql`
    select count(*)::int from runledger.event where type = 'execution.completed'`
  const before = await scrapeUntil((figures) => sumExecutions(figures) >= Number(log?.['count']))
  const count = (name: string, figures: ReadonlyMap<string, number>): number =>
    (figures.get(name) ?? 0) - (before.get(name) ?? 0)
  for (const verdict of ['AC', 'AC', 'RE']) {
    await finish(sql, await submit(), { verdict })
    await scrape()
  }
  await finish(sql, await submit({ ...python, language: 'java' }))
  const last = 'runledger_executions_total{language="java",verdict="AC"}'
  const once = await scrapeUntil((figures) => count(last, figures) > 0)
  const twice = await scrape()
  for (const figures of [once, twice]) {
    const executions = 'runledger_executions_total'
    t.equal(count(`${executions}{language="python",verdict="AC"}`, figures), 2)
    t.equal(count(`${executions}{language="python",verdict="RE"}`, figures), 1)
    t.equal(count(`${executions}{language="java",verdict="AC"}`, figures), 1)
    for (const name of ['queue', 'run', 'total']) {
      t.equal(count(`runledger_${name}_seconds_count{language="python"}`, figures), 3, name)
    }
    t.equal(count('runledger_compile_seconds_count{language="python"}', figures), 0)
  }
})

t.test('an execution that commits late is counted, although later ones were', async (t) => {
  const [late, early] = [await submit(), await submit()]
  const name = 'runledger_executions_total{language="python",verdict="AC"}'
  const before = (await scrape()).get(name) ?? 0
  const other = createDatabase({ url, connections: 1, name: 'slow' })
  await other.begin(async (slow) => {
    await finish(slow as never, late)
    await finish(sql, early)
    await scrape()
    await scrape()
  })
  await other.end()
  const counted = await scrapeUntil((figures) => (figures.get(name) ?? 0) >= before + 2)
  t.equal(counted.get(name), before + 2)
  t.equal((await scrape()).get(name), before + 2)
})

t.test('attempts to deliver webhooks are counted by outcome, with their times', async (t) => {
  const id = await submit({ ...python, webhook_url: 'https://a.test/', webhook_secret: 's' })
  await finish(sql, id)
  t.equal((await scrape()).get('runledger_webhooks_pending'), 1)
  const took = { status: 500, seconds: 0.02 }
  await recordDelivery(sql, id, { ...took, outcome: 'refused', retrySeconds: 60 })
  await recordDelivery(sql, id, { ...took, outcome: 'unreachable', retrySeconds: 60 })
  await recordDelivery(sql, id, { ...took, outcome: 'gone', abandonedBecause: 'gone' })
  const figures = await scrapeUntil(
    (all) => (all.get('runledger_webhooks_abandoned_total{reason="gone"}') ?? 0) > 0,
  )
  for (const outcome of ['refused', 'unreachable', 'gone']) {
    t.equal(figures.get(`runledger_webhook_attempts_total{outcome="${outcome}"}`), 1, outcome)
  }
  const duration = 'runledger_webhook_attempt_duration_seconds'
  t.equal(figures.get(`${duration}_count`), 3)
  t.equal(figures.get(`${duration}_bucket{le="0.01"}`), 0)
  t.equal(figures.get(`${duration}_bucket{le="0.025"}`), 3)
  t.equal(figures.get('runledger_webhooks_abandoned_total{reason="gone"}'), 1)
  t.equal(figures.get('runledger_webhooks_pending'), 0)
})

t.test('lost attempts and refusals are counted', async (t) => {
  const id = await submit()
  const version = await startExecution(sql, id)
  await interrupt(sql, id, Number(version))
  for (let n = 0; n < 15; n += 1) await submit()
  const rescues = 'runledger_rescues_total{reason="worker_lost"}'
  const figures = await scrapeUntil((all) => (all.get(rescues) ?? 0) > 0)
  t.equal(figures.get(rescues), 1)
  t.ok((figures.get('runledger_http_problems_total{error="queue_full"}') ?? 0) > 0)
  const answered =
    'runledger_http_request_duration_seconds_count{route="/api/submit",method="POST",status="202"}'
  t.ok((figures.get(answered) ?? 0) > 0)
  t.notMatch([...figures.keys()].join('\n'), new RegExp(id), 'no label of a caller’s making')
})

t.test('those who ask at the same time share what is asked of the database', async (t) => {
  const counter = await startStatementCounter(url)
  const counted = createDatabase({ url: counter.url, connections: 4, name: 'test web' })
  t.teardown(async () => {
    await counted.end({ timeout: 1 })
    await counter.close()
  })
  const web = await startServer(t, counted, { url: counter.url })
  const ask = (path: string): ReturnType<typeof call> => web.call('GET', path, { key: null, checked: false }) // prettier-ignore
  await ask('/metrics')
  // Opens all connections, so that the requests do not wait for theirs one after the other.
  await Promise.all(Array.from({ length: 40 }, () => ask('/healthz')))
  counter.take()
  const asked = Array.from({ length: 40 }, (_, n) => ask(n % 2 === 0 ? '/metrics' : '/readyz'))
  for (const { status } of await Promise.all(asked)) t.equal(status, 200)
  const statements = [...counter.take().values()].reduce((sum, count) => sum + count, 0)
  t.ok(statements < 40, `${statements}; each by itself would take 160`)
})

t.test('a method that nobody knows is no figure of its own', async (t) => {
  for (const method of ['PROPFIND', 'MKCOL']) await call(method, '/readyz', { key: null, checked: false }) // prettier-ignore
  const names = [...(await scrape()).keys()].join('\n')
  t.match(names, /method="other"/)
  t.notMatch(names, /PROPFIND|MKCOL/)
})
