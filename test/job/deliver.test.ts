// From the end of a submission to the end of its webhook, with the real queue, the real sandbox and HTTPS receivers whose
// certificates come from a test authority.
import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { Webhook } from 'standardwebhooks'
import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { createDatabase } from '#database'
import { cancelSubmission } from '#enqueue'
import { readResult } from '#result'
import { openTestDatabase } from '../helper/database.ts'
import { startExecutor } from '../helper/executor.ts'
import { findBroken } from '../helper/ledger.ts'
import { startTestQueue } from '../helper/queue.ts'
import { createCaller, describeSubmission, finalResult, submitNew } from '../helper/submission.ts'
import { createAuthority } from '../webhook/certificate.ts'
import { createReceiver } from '../webhook/receiver.ts'
import type { ReceivedRequest } from '../webhook/receiver.ts'
import {
  awaitDelivery,
  describeSettings,
  endSubmission,
  readAttempts,
  readDelivery,
  submitBatch,
} from './delivery.ts'

const secret = 'correct horse'
const { sql, url: databaseUrl } = await openTestDatabase(t)
const caller = await createCaller(sql)
const executor = await startExecutor(t, { languages: ['python'] })
const authority = createAuthority()
t.teardown(() => authority.remove())

/** A receiver's answers to its next requests: a status, or `hang`. The last one repeats. */
type Script = readonly {
  readonly status: number | 'hang'
  readonly headers?: Record<string, string>
}[]
const scripts = new Map<string, Script>()
const served = new Map<string, number>()
/** The responses that a script left hanging. */
const held: ServerResponse[] = []
const receiver = await createReceiver(authority.issue(['DNS:*.hook.test']), (response, request) => {
  const host = request.headers.host?.split(':')[0] ?? ''
  const count = served.get(host) ?? 0
  served.set(host, count + 1)
  const script = scripts.get(host) ?? [{ status: 200 }]
  const { status, headers } = script[Math.min(count, script.length - 1)]!
  if (status === 'hang') {
    held.push(response)
    return
  }
  response.writeHead(status, headers).end(`answer ${count + 1}`)
})
t.teardown(() => receiver.close())

// As many connections as a worker has.
const pool = createDatabase({ url: databaseUrl, connections: 4, name: 'test worker' })
t.teardown(() => pool.end({ timeout: 2 }))
let give = new AbortController()
let queue = await startDelivering()
t.teardown(() => queue.stop())

const address = (host: string): string => `https://${host}.hook.test:${receiver.port}/hook?a=1`
const requestsTo = (host: string): ReceivedRequest[] =>
  receiver.requests.filter(({ headers }) => headers.host === `${host}.hook.test:${receiver.port}`)

t.test('a result is delivered once, signed, and is what GET shows', async (t) => {
  const submission = describeSubmission({
    code: 'print("é\\0😀")',
    webhook: { url: address('once'), secret },
  })
  const id = await sql.begin(async (transaction) => {
    // No worker sees it before the commit.
    const inside = transaction as unknown as typeof sql
    const submitted = await submitNew(inside, caller, submission)
    t.match(await readDelivery(inside, submitted), { state: 'waiting', secret })
    return submitted
  })
  const row = await awaitDelivery(sql, id)
  t.match(row, { state: 'delivered', secret: null, attempts: 1, due_at: null })

  const [request, ...more] = requestsTo('once')
  t.strictSame(more, [])
  t.match(request, {
    method: 'POST',
    path: '/hook?a=1',
    headers: { 'content-type': 'application/json', 'webhook-id': row.webhook_id },
  })
  const headers = request!.headers as Record<string, string>
  const text = request!.body.toString()
  const published = new Webhook(secret, { format: 'raw' })
  const body = published.verify(text, headers) as { type: string; timestamp: string; data: object }
  t.throws(() => published.verify(text.replace('AC', 'WA'), headers))
  t.throws(() => new Webhook('another', { format: 'raw' }).verify(text, headers))
  const record = await readResult(sql, id)
  t.equal(body.type, 'submission.completed')
  t.equal(body.timestamp, record?.finished_at)
  t.strictSame(body.data, JSON.parse(JSON.stringify(record)))
  t.match(body.data, { id, status: 'completed', verdict: 'AC', stdout: 'é\0😀\n' })

  const events = await readAttempts(sql, id)
  t.match(events, [
    {
      version: 1,
      type: 'webhook.delivered',
      data: {
        submission: id,
        attempt: 1,
        outcome: 'delivered',
        status: 200,
        duration_seconds: Number,
        snippet: 'answer 1',
      },
    },
  ])
  t.equal(events.length, 1)
})

t.test('a batch has one webhook, signed, when all of it has ended', async (t) => {
  scripts.set('batch.hook.test', [{ status: 503 }, { status: 200 }])
  const programs = ['print(1)', 'raise SystemExit(3)', 'import time; time.sleep(300)']
  const submissions = programs.map((code) => describeSubmission({ code }))
  const webhook = { url: address('batch'), secret }
  const { id, members } = await submitBatch(sql, caller, submissions, webhook)
  for (const member of members.slice(0, 2)) await finalResult(sql, member)
  t.match(await readDelivery(sql, id), { state: 'waiting', secret })
  t.equal(requestsTo('batch').length, 0)
  const actor = { actor: { api_key: caller.apiKeyId } }
  await cancelSubmission(sql, members[2]!, caller.accountId, actor)
  const row = await awaitDelivery(sql, id)
  t.match(row, { state: 'delivered', secret: null, attempts: 2 })

  const requests = requestsTo('batch')
  t.equal(requests.length, 2)
  const published = new Webhook(secret, { format: 'raw' })
  for (const { headers, body } of requests) {
    t.equal(headers['webhook-id'], row.webhook_id)
    t.strictSame(published.verify(body.toString(), headers as Record<string, string>), {
      type: 'batch.completed',
      timestamp: (await finalResult(sql, members[2]!)).finished_at,
      data: {
        id,
        submissions: [
          { id: members[0], status: 'completed', verdict: 'AC' },
          { id: members[1], status: 'completed', verdict: 'RE' },
          { id: members[2], status: 'cancelled', verdict: null },
        ],
      },
    })
  }
  t.match(await readAttempts(sql, id), [
    { type: 'webhook.attempt_failed', data: { batch: id, attempt: 1, status: 503 } },
    { type: 'webhook.delivered', data: { batch: id, attempt: 2, status: 200 } },
  ])
})

t.test('a cancelled submission is delivered as such', async (t) => {
  const webhook = { url: address('cancelled'), secret }
  const id = await submitNew(
    sql,
    caller,
    describeSubmission({ code: 'import time; time.sleep(300)', webhook }),
  )
  await cancelSubmission(sql, id, caller.accountId, { actor: { api_key: caller.apiKeyId } })
  t.match(await awaitDelivery(sql, id), { state: 'delivered' })
  const [request] = requestsTo('cancelled')
  t.match(JSON.parse(request!.body.toString()), {
    type: 'submission.cancelled',
    timestamp: String,
    data: { id, status: 'cancelled', verdict: null },
  })
})

t.test('answers of 500 are tried again under one id with a signature of their own', async (t) => {
  scripts.set('flaky.hook.test', [{ status: 500 }, { status: 503 }, { status: 200 }])
  const id = await endSubmission(sql, caller, { url: address('flaky'), secret })
  const row = await awaitDelivery(sql, id)
  t.match(row, { state: 'delivered', secret: null, attempts: 3 })
  const requests = requestsTo('flaky')
  t.equal(requests.length, 3)
  t.strictSame([...new Set(requests.map(({ headers }) => headers['webhook-id']))], [row.webhook_id])
  t.equal(new Set(requests.map(({ body }) => body.toString())).size, 1)
  for (const { headers, body } of requests)
    t.ok(new Webhook(secret, { format: 'raw' }).verify(body.toString(), headers as Record<string, string>)) // prettier-ignore
  const events = await readAttempts(sql, id)
  t.strictSame(
    events.map(({ type, data }) => [type, data['attempt'], data['status'], data['snippet']]),
    [
      ['webhook.attempt_failed', 1, 500, 'answer 1'],
      ['webhook.attempt_failed', 2, 503, 'answer 2'],
      ['webhook.delivered', 3, 200, 'answer 3'],
    ],
  )
  const next = new Date(String(events[0]?.data['next_attempt_at'])).getTime()
  t.ok(next > events[0]!.at.getTime(), 'when the next is due is in the log')
  t.ok(events[1]!.at.getTime() >= next, 'and it is not made earlier')
})

t.test('Retry-After is honoured, and clamped', async (t) => {
  scripts.set('later.hook.test', [
    { status: 429, headers: { 'retry-after': '3' } },
    { status: 200 },
  ])
  scripts.set('never.hook.test', [{ status: 503, headers: { 'retry-after': '99999999' } }])
  const id = await endSubmission(sql, caller, { url: address('later'), secret })
  const endless = await endSubmission(sql, caller, { url: address('never'), secret })
  t.match(await awaitDelivery(sql, id), { state: 'delivered', attempts: 2 })
  const [first, second] = await readAttempts(sql, id)
  const waited = second!.at.getTime() - first!.at.getTime()
  t.ok(waited >= 2900, `waited ${waited} ms`)

  const row = await awaitDelivery(sql, endless, ({ attempts }) => attempts === 1)
  const [{ left } = { left: 0 }] = await sql<{ left: number }[]>`
    select extract(epoch from due_at - now())::float8 as left from runledger.delivery where submission_id = ${endless}`
  t.ok(left > 35_000 && left <= 36_000, `due in ${left} s`)
  t.match(row, { state: 'pending', secret })
})

t.test('410 ends the delivery at once', async (t) => {
  scripts.set('gone.hook.test', [{ status: 410 }])
  const id = await endSubmission(sql, caller, { url: address('gone'), secret })
  t.match(await awaitDelivery(sql, id), { state: 'abandoned', secret: null, attempts: 1 })
  t.match(await readAttempts(sql, id), [
    {
      type: 'webhook.attempt_failed',
      data: { outcome: 'gone', status: 410, next_attempt_at: null },
    },
    { type: 'webhook.abandoned', data: { attempts: 1, reason: 'gone' } },
  ])
  t.equal(requestsTo('gone').length, 1)
})

t.test('a redirect is no success and is not followed', async (t) => {
  scripts.set('moved.hook.test', [
    { status: 307, headers: { location: address('target') } },
    { status: 200 },
  ])
  const id = await endSubmission(sql, caller, { url: address('moved'), secret })
  t.match(await awaitDelivery(sql, id), { state: 'delivered', attempts: 2 })
  t.strictSame(requestsTo('target'), [])
})

t.test('when the schedule is spent it is given up, and the secret is gone', async (t) => {
  scripts.set('broken.hook.test', [{ status: 500 }])
  const id = await endSubmission(sql, caller, { url: address('broken'), secret })
  t.match(await awaitDelivery(sql, id), { state: 'abandoned', secret: null, attempts: 4 })
  const events = await readAttempts(sql, id)
  t.equal(events.length, 5)
  t.match(events.at(-2)?.data, { attempt: 4, next_attempt_at: null })
  t.match(events.at(-1), {
    type: 'webhook.abandoned',
    data: { attempts: 4, reason: 'schedule_spent' },
  })
  const [shown] = await sql`select * from audit.webhook where submission_id = ${id}`
  t.match(shown, {
    receiver: `broken.hook.test:${receiver.port}`,
    state: 'abandoned',
    attempts: 4,
    last_outcome: 'refused',
    last_status: 500,
    abandoned_because: 'schedule_spent',
    next_attempt_at: null,
  })
  t.equal((await sql`select * from audit.webhook_attempt where submission_id = ${id}`).length, 4)
})

t.test('what is forbidden has its schedule, because settings and names may change', async (t) => {
  const literal = await endSubmission(sql, caller, {
    url: `https://10.0.0.1:${receiver.port}/`,
    secret,
  })
  const port = await endSubmission(sql, caller, { url: 'https://once.hook.test:1/', secret })
  const name = await endSubmission(sql, caller, {
    url: `https://inside.hook.test:${receiver.port}/`,
    secret,
  })
  for (const id of [literal, port, name]) {
    t.match(await awaitDelivery(sql, id), { state: 'abandoned', attempts: 4, secret: null })
    const attempts = await readAttempts(sql, id)
    t.match(attempts[0], { data: { outcome: 'forbidden', status: null } })
    t.match(attempts.at(-1), { data: { reason: 'schedule_spent' } })
  }
})

t.test(
  'a poisoned job is dropped, and one for a delivery that is over or not due sends nothing',
  async (t) => {
    const before = receiver.requests.length
    const [over] = await sql`select webhook_id from runledger.delivery where state = 'delivered'`
    const [later] = await sql`select webhook_id from runledger.delivery where state = 'pending'`
    for (const webhook of ['no id', uuidv7(), over?.['webhook_id'], later?.['webhook_id']])
      await sql`select graphile_worker.add_job('deliver', ${sql.json({ webhook: webhook as string })}::json)`
    const id = await endSubmission(sql, caller, { url: address('after'), secret })
    t.match(await awaitDelivery(sql, id), { state: 'delivered' })
    t.equal(receiver.requests.length, before + 1)
  },
)

t.test('a due delivery whose job was lost is found again', async (t) => {
  await queue.stop()
  const id = await endSubmission(sql, caller, { url: address('found'), secret })
  const { webhook_id: webhookId } = await readDelivery(sql, id)
  await sql`select graphile_worker.remove_job(${webhookId})`
  queue = await startDelivering()
  // Once this webhook is delivered, the worker has taken every job that there was.
  const later = await endSubmission(sql, caller, { url: address('later'), secret })
  t.match(await awaitDelivery(sql, later), { state: 'delivered' })
  t.match(await readDelivery(sql, id), { state: 'pending', attempts: 0 })
  await sql`select runledger.reconcile_queue()`
  t.match(await awaitDelivery(sql, id), { state: 'delivered', attempts: 1 })
  t.equal(requestsTo('found').length, 1)
})

async function countJobs(webhook: string): Promise<number> {
  const [row] = await sql<[{ count: number }]>`
    select count(*)::int as count from graphile_worker._private_jobs where payload ->> 'webhook' = ${webhook}`
  return row.count
}

t.test('two jobs of one delivery in one process make one attempt', async (t) => {
  const id = await endSubmission(sql, caller, { url: address('twice'), secret })
  const { webhook_id: webhook } = await readDelivery(sql, id)
  for (let n = 0; n < 5; n += 1)
    await sql`select graphile_worker.add_job('deliver', ${sql.json({ webhook })}::json)`
  t.match(await awaitDelivery(sql, id), { state: 'delivered' })
  while ((await countJobs(webhook)) !== 0) await sleep(20)
  t.equal(requestsTo('twice').length, 1)
})

t.test('a job that comes during an attempt stays until that is over', async (t) => {
  scripts.set('late.hook.test', [{ status: 'hang' }])
  const id = await endSubmission(sql, caller, { url: address('late'), secret })
  while (requestsTo('late').length < 1) await sleep(20)
  const { webhook_id: webhook } = await readDelivery(sql, id)
  const [{ job }] = await sql<[{ job: string }]>`
    select id as job from graphile_worker.add_job('deliver', ${sql.json({ webhook })}::json)`
  const waits = async (): Promise<boolean> =>
    (await sql`select from graphile_worker.jobs where id = ${job} and locked_at is null`).length > 0
  while (await waits()) await sleep(20)
  await sleep(200)
  t.equal(await countJobs(webhook), 2)
  for (const response of held.splice(0)) response.writeHead(200).end()
  t.match(await awaitDelivery(sql, id), { state: 'delivered', attempts: 1 })
  while ((await countJobs(webhook)) !== 0) await sleep(20)
  t.equal(requestsTo('late').length, 1)
})

t.test('receivers that hang delay neither executions nor other hosts', async (t) => {
  scripts.set('hang.hook.test', [{ status: 'hang' }])
  const hanging: string[] = []
  for (let n = 0; n < 60; n += 1)
    hanging.push(await endSubmission(sql, caller, { url: address('hang'), secret }))
  // Waits until all five positions of the host are taken.
  while (requestsTo('hang').length < 5) await sleep(20)
  const others = await Promise.all(
    Array.from({ length: 5 }, (_, n) =>
      endSubmission(sql, caller, { url: address(`other-${n}`), secret }),
    ),
  )
  const run = await submitNew(sql, caller, describeSubmission({ code: 'print(1)' }))
  t.match(await finalResult(sql, run), { verdict: 'AC' })
  await Promise.all(others.map((id) => awaitDelivery(sql, id)))
  // No hanging attempt is over, so nothing has waited for one.
  t.equal(requestsTo('hang').length, 5, 'one host has its bound and no more')
  t.ok((await Promise.all(hanging.map((id) => readDelivery(sql, id)))).every(({ attempts }) => attempts === 0)) // prettier-ignore

  // The worker stops in the middle of the attempts. They are requeued, and do not count as spent.
  const stopped = queue.stop()
  give.abort()
  await stopped
  for (const id of hanging) t.match(await readDelivery(sql, id), { state: 'pending', attempts: 0, secret }) // prettier-ignore
  const countFree = async (): Promise<number> =>
    (
      await sql<{ count: number }[]>`
    select count(*)::integer as count from graphile_worker.jobs j
    join runledger.delivery d on d.webhook_id::text = j.key
    join runledger.submission r on r.id = d.submission_id
    where d.submission_id = any (${hanging}) and j.locked_at is null and j.attempts < j.max_attempts`
    )[0]?.count ?? 0
  while ((await countFree()) < 60) await sleep(20)
  t.equal(await countFree(), 60, 'each has a job that anybody may take')

  scripts.set('hang.hook.test', [{ status: 200 }])
  // Deliveries that found no position were postponed, by more the longer the others hung. So all are made due now.
  await sql`update runledger.delivery set due_at = now() where submission_id = any (${hanging})`
  await sql`
    select graphile_worker.reschedule_jobs(array(
      select j.id from graphile_worker.jobs j
      join runledger.delivery d on d.webhook_id::text = j.key
      where d.submission_id = any (${hanging})
    ), run_at => now())`
  queue = await startDelivering()
  await Promise.all(hanging.map((id) => awaitDelivery(sql, id)))
  t.ok((await Promise.all(hanging.map((id) => readDelivery(sql, id)))).every(({ state, attempts }) => state === 'delivered' && attempts === 1)) // prettier-ignore
})

t.test('one account with many hosts that hang leaves places to the others', async (t) => {
  const names = Array.from({ length: 30 }, (_, n) => `slow-${n}`)
  for (const name of names) scripts.set(`${name}.hook.test`, [{ status: 'hang' }])
  const slow = await createCaller(sql)
  await Promise.all(names.map((name) => endSubmission(sql, slow, { url: address(name), secret })))
  while (names.flatMap(requestsTo).length < 10) await sleep(20)
  const id = await endSubmission(sql, caller, { url: address('quick'), secret })
  t.match(await awaitDelivery(sql, id), { state: 'delivered' })
  t.equal(names.flatMap(requestsTo).length, 10)
  const stopped = queue.stop()
  give.abort()
  await stopped
  await sql`
    update runledger.delivery d set due_at = now() + interval '1 day'
    from runledger.submission r where r.id = d.submission_id and r.account_id = ${slow.accountId}`
  queue = await startDelivering()
})

t.test(
  'a database that breaks its connections during an attempt gets the record afterwards',
  async (t) => {
    scripts.set('cut.hook.test', [{ status: 'hang' }])
    const held: (() => void)[] = []
    const holding = await createReceiver(authority.issue(['DNS:*.hook.test']), (response) => {
      held.push(() => response.end('at last'))
    })
    t.teardown(() => holding.close())
    await queue.stop()
    queue = await startDelivering([receiver.port, holding.port])
    const id = await endSubmission(sql, caller, {
      url: `https://held.hook.test:${holding.port}/`,
      secret,
    })
    while (held.length === 0) await sleep(20)
    await sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and application_name <> 'test'`
    for (const answer of held) answer()
    t.match(await awaitDelivery(sql, id), { state: 'delivered', attempts: 1, secret: null })
    t.equal(holding.requests.length, 1)
  },
)

t.test('no promise is broken, and no secret outlives its delivery', async (t) => {
  t.strictSame(await findBroken(sql), [])
  const rows = await sql`
    select from runledger.delivery where state in ('delivered', 'abandoned') and secret is not null`
  t.equal(rows.length, 0)
  const leaks = await sql`select from runledger.event where data::text like ${`%${secret}%`}`
  t.equal(leaks.length, 0, 'and none is in the log')
})

function startDelivering(ports = [receiver.port]): ReturnType<typeof startTestQueue> {
  give = new AbortController()
  return startTestQueue({
    url: databaseUrl,
    database: pool,
    executor,
    workerId: uuidv7(),
    shutdown: give.signal,
    deliver: {
      settings: describeSettings(authority.pem, ports, {
        // No attempt ends by itself, however slow the machine is.
        totalSeconds: 3600,
        resolve: async (name) => [name === 'inside.hook.test' ? '10.0.0.1' : '127.0.0.2'],
      }),
      schedule: [0.1, 0.2, 0.1],
      perHost: 5,
      perAccount: 10,
    },
    deliveries: 20,
  })
}
