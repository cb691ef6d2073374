// The operator's overview is correct, and costs no more with a long history than with a short one.
import { hostname } from 'node:os'
import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { createDatabase } from '#database'
import type { Database } from '#database'
import { createCachedOverview, readOverview } from '#operator'
import { stopClock } from '../helper/clock.ts'
import { openTestDatabase } from '../helper/database.ts'
import { finish, startExecution } from '../helper/execution.ts'
import { createCaller, describeSubmission, submitNew } from '../helper/submission.ts'

const { sql, url } = await openTestDatabase(t)
const session = createDatabase({ url, connections: 1, name: 'worker', statementSeconds: 0 })
t.teardown(() => session.end())

t.test('of an empty service it says that nothing waits', async (t) => {
  t.match(await readOverview(sql), {
    oldest: null,
    load: { waiting: 0, queued: 0, running: 0, oldest_waiting_seconds: 0, workers: 0 },
    languages: [],
    accounts: [],
    workers: [],
    recent: { received: 0, ended: 0, waited: null, ran: null, took: null, verdicts: {} },
    ledger: { drift: 0, checked_at: null },
  })
})

t.test('what waits longest comes first, with whose it is', async (t) => {
  const caller = await createCaller(sql, 'beta')
  const ids: string[] = []
  for (const priority of ['low', 'normal', 'normal'] as const)
    ids.push(await submitNew(sql, caller, describeSubmission({ code: '', priority })))
  const [first, second] = ids
  const seen = await readOverview(sql)
  t.match(seen.oldest, { id: first, language: 'python', account: /^account /, priority: 'low' })
  t.ok((seen.oldest?.seconds ?? -1) >= 0)
  t.match(seen.languages, [{ language: 'python', waiting: 3, low: 1, running: 0 }])

  await session`
    select runledger.register_worker(
      ${uuidv7()}, 'other', 1, 1, ${session.json({ python: { version: 'Python 3.13' } })}, 15
    )`
  const workerId = uuidv7()
  const description = { version: '1.2.3', isolation: { box: 'keeper', cgroup: 'v2' } }
  await session`
    select runledger.register_worker(
      ${workerId}, ${hostname()}, 42, 3,
      ${session.json({ python: {}, cobol: { awaits_trial: true } })}, 15, ${session.json(description)}
    )`
  await startExecution(sql, first ?? '', { workerId })
  const running = await readOverview(sql)
  t.match(running.oldest, { id: second, priority: 'normal' })
  t.match(running.load, { queued: 2, running: 1, workers: 2, slots: 4 })
  t.match(running.languages, [{ waiting: 2, low: 0, running: 1 }])
  const [idle, busy] = running.workers
  t.match(idle, { host: 'other', busy: 0, state: 'working', version: null, box: null })
  t.match(busy, { id: workerId, slots: 3, busy: 1, box: 'keeper', languages: ['python'] })
  t.ok((busy?.heartbeat_seconds ?? -1) >= 0)
  t.match(running.accounts, [
    {
      waiting: 2,
      running: 1,
      keys: [{ tier: 'beta', unfinished: 3, admitted: 3, concurrent_executions: 10, requests: 1 }],
    },
  ])
  await session`select runledger.renew_worker(${workerId}, '{}', 'box.start: no space left')`
  const answer = (await readOverview(sql)).workers[1]
  t.match(answer, { state: 'suspended', suspended_because: 'box.start: no space left' })
})

t.test('how submissions ended is counted, with how long they took', async (t) => {
  const caller = await createCaller(sql)
  const before = (await readOverview(sql)).recent
  for (const verdict of ['AC', 'AC', 'WA']) {
    const id = await submitNew(sql, caller, describeSubmission({ code: '' }))
    await finish(sql, id, { verdict })
  }
  const cancelled = await submitNew(sql, caller, describeSubmission({ code: '' }))
  await sql`select runledger.cancel(array[${cancelled}::uuid], ${caller.accountId}, '{"actor": {}}')`
  const { recent } = await readOverview(sql)
  t.equal(recent.received - before.received, 4)
  t.equal(recent.ended - before.ended, 4)
  t.strictSame(recent.verdicts, { AC: 2, WA: 1, cancelled: 1 })
  t.strictSame(recent.languages, { python: 4 })
  t.strictSame(recent.ran, { p50: 0.02, p95: 0.02, p99: 0.02 })
  t.equal(recent.seconds, 300)
  const [{ summary }] = await sql<[{ summary: unknown }]>`
    select runledger.summarise(array(select n::double precision from generate_series(1, 100) n) || null) as summary`
  t.strictSame(summary, { p50: 50, p95: 95, p99: 99 })
})

t.test('an end that a record does not have is counted all the same', async (t) => {
  const id = await submitNew(sql, await createCaller(sql), describeSubmission({ code: '' }))
  await finish(sql, id)
  const { verdicts } = await session.begin(async (transaction) => {
    await transaction`update runledger.result set verdict = null where id = ${id}`
    const [{ recent }] = await transaction<[{ recent: { verdicts: Record<string, number> } }]>`
      select runledger.read_recent_ends('5 minutes', 3000) as recent`
    await transaction`update runledger.result set verdict = 'AC' where id = ${id}`
    return recent
  })
  t.equal(verdicts['unknown'], 1)
})

t.test('a busy service is told of as far back as the newest events reach', async (t) => {
  const [{ recent }] = await sql<[{ recent: { seconds: number; ended: number } }]>`
    select runledger.read_recent_ends('5 minutes', 3) as recent`
  t.ok(recent.seconds < 300)
  t.ok(recent.ended <= 3)
})

t.test('the busiest accounts alone are told of', async (t) => {
  for (let n = 0; n < 25; n += 1) {
    const caller = await createCaller(sql)
    await submitNew(sql, caller, describeSubmission({ code: '' }))
  }
  const { accounts } = await readOverview(sql)
  t.equal(accounts.length, 20)
  t.equal(accounts[0]?.keys[0]?.unfinished, 3)
})

/** Adds so many ended submissions, each an event and a result, as if they were an hour old. */
async function addHistory(count: number): Promise<void> {
  await session`
    with made as (
      select runledger.uuid_floor(now() - interval '1 hour' - n * interval '1 ms')::text as floor
      from generate_series(1, ${count}) n
    ), ended as (
      insert into runledger.event (stream_id, stream_version, type, schema_version, data, metadata, recorded_at, hash)
      select (left(floor, 14) || '7' || right(gen_random_uuid()::text, 21))::uuid, 1, 'execution.completed', 1, '{}', '{}', now(), ''
      from made
      returning stream_id
    )
    insert into runledger.result (id, account_id, api_key_id, version, status, verdict, language, created_at, started_at, finished_at)
    select stream_id, stream_id, stream_id, 1, 'completed', 'AC', 'python', now(), now(), now() from ended`
  await session`analyze runledger.event, runledger.result`
}

/** Returns the fewest blocks of three calls, because a call that plans anew also reads the catalogue. */
async function countBlocks(): Promise<number> {
  const counts: number[] = []
  while (counts.length < 3) {
    const [row] =
      await session`explain (analyze, buffers, format json) select runledger.read_overview()`
    const plan = row?.['QUERY PLAN'][0].Plan as Record<string, number>
    counts.push((plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0))
  }
  return Math.min(...counts)
}

t.test('it reads as much of a history ten times as long', async (t) => {
  await addHistory(10_000)
  const short = await countBlocks()
  await addHistory(90_000)
  const long = await countBlocks()
  t.comment(`${short} blocks, ${long} blocks`)
  t.ok(long < short * 1.5, `${short} blocks, then ${long}`)
})

/** Adds so many rows of waiting submissions. */
async function addUnfinished(count: number): Promise<void> {
  await session`
    insert into runledger.pending (submission_id, account_id, api_key_id, admitted, language, version, hash, created_at)
      select (left(runledger.uuid_floor(now() - n * interval '1 ms')::text, 14) || '7' || right(gen_random_uuid()::text, 21))::uuid,
        '00000000-0000-7000-8000-000000000001', '00000000-0000-7000-8000-000000000002', true, 'python', 1, '', now()
      from generate_series(1, ${count}) n`
  await session`analyze runledger.pending`
}

t.test('however many are unfinished, it looks each up and scans nothing', async (t) => {
  await addUnfinished(3000)
  const short = await countBlocks()
  await addHistory(200_000)
  const long = await countBlocks()
  t.comment(`${short} blocks, ${long} blocks`)
  t.ok(long < short * 1.2, `${short} blocks, then ${long}`)
})

t.test('a thousand who look cost one statement a second, and nobody none', async (t) => {
  const pass = stopClock(t)
  let statements = 0
  let fails = false
  const counted = ((...parameters: Parameters<typeof sql>) => {
    statements += 1
    if (fails) return Promise.reject(new Error('away'))
    return sql(...parameters)
  }) as unknown as Database
  const read = createCachedOverview(counted)
  t.equal(statements, 0)
  const looks = await Promise.all(Array.from({ length: 1000 }, () => read()))
  t.equal(new Set(looks).size, 1)
  t.equal(await read(), looks[0])
  t.equal(statements, 1)
  pass(999)
  t.equal(await read(), looks[0])
  pass(1)
  t.equal(statements, 1)
  fails = true
  await t.rejects(Promise.all([read(), read()]), { message: 'away' })
  t.equal(statements, 2)
  fails = false
  t.not(await read(), looks[0])
  t.equal(statements, 3)
})
