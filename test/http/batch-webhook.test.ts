// POST /api/submit/batch with webhook_url: one webhook is due when all members of the batch have ended, whatever ended them
// and in whatever order. test/job/deliver.test.ts tests its content.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { Test } from 'tap'
import { json } from '#database'
import { readStream } from '#event'
import { rebuildProjections } from '#result'
import {
  describeEnd,
  finish,
  interrupt,
  recordDelivery,
  startAttempt,
  startExecution,
} from '../helper/execution.ts'
import { findBroken } from '../helper/ledger.ts'
import { isAnyWaiting } from '../helper/lock.ts'
import { countRowsRead } from '../helper/rows-read.ts'
import { pathsOf, startFreshServer, untilAvailable } from '../helper/server.ts'
import type { Answer, Call } from '../helper/server.ts'

const { call, issue, port, sql } = await startFreshServer(t, { queueCapacity: 10_000 })
const python = { language: 'python', code: 'print(1)' }
const hook = { webhook_url: 'https://hook.test/all?a=1', webhook_secret: 'horse' }

const send = (body: object, rest: Call = {}): Promise<Answer> =>
  call('POST', '/api/submit/batch', { body, ...rest })

interface Batch {
  readonly id: string
  readonly members: readonly string[]
}

async function submit(count: number, more: object = hook): Promise<Batch> {
  const submissions = Array.from({ length: count }, () => python)
  const { body } = await untilAvailable(() => send({ submissions, ...more }))
  return { id: body.id, members: body.submissions.map(({ id }: { id: string }) => id) }
}

const readState = async (batch: string): Promise<string | undefined> =>
  (await sql`select state from runledger.delivery where submission_id = ${batch}`)[0]?.['state']

async function countJobs(batch: string): Promise<number> {
  const [row] = await sql<[{ count: number }]>`
    select count(*) from graphile_worker.jobs j
    join runledger.delivery d on d.webhook_id::text = j.key where d.submission_id = ${batch}`
  return row.count
}

/** Reads the results of the members that have ended, with the function that the delivery uses. */
const readMembers = async (batch: string): Promise<unknown[]> =>
  [...(await sql`select id, status, verdict from runledger.read_batch(${batch})`)].map((row) => ({ ...row })) // prettier-ignore

/** Declares a test that checks at its end that the log and the tables agree. */
const test = (name: string, check: (t: Test) => Promise<void>): void => {
  void t.test(name, async (t) => {
    await check(t)
    t.strictSame(await findBroken(sql), [])
  })
}

test('it is due with the end of the last member, in whatever order they end', async (t) => {
  const { id, members } = await submit(3)
  const [first, second, third] = members as [string, string, string]
  t.match(await readStream(sql, id), [
    {
      type: 'batch.received',
      data: { submissions: members, webhook: { id: String, host: 'hook.test' } },
    },
  ])
  for (const [member, verdict] of [
    [third, 'AC'],
    [first, 'WA'],
  ] as const)
    // prettier-ignore
    await finish(sql, member, { verdict })
  t.equal(await readState(id), 'waiting')
  t.equal(await countJobs(id), 0)
  await finish(sql, second, { verdict: 'RE' })
  t.equal(await readState(id), 'pending')
  t.equal(await countJobs(id), 1)
  t.strictSame(await readMembers(id), [
    { id: first, status: 'completed', verdict: 'WA' },
    { id: second, status: 'completed', verdict: 'RE' },
    { id: third, status: 'completed', verdict: 'AC' },
  ])
  const { body } = await call('GET', `/api/result/${first}/events`)
  t.equal(body.events[0].data.batch, id)
})

test('without webhook_url a batch is answered as ever, and has no stream', async (t) => {
  const { body } = await send({ submissions: [python] })
  t.strictSame(Object.keys(body), ['submissions'])
  const [received] = await readStream(sql, body.submissions[0].id)
  t.notOk(Object.hasOwn(received!.data, 'batch'))
  await finish(sql, body.submissions[0].id)
})

test('an item keeps a webhook of its own', async (t) => {
  const own = { webhook_url: 'https://own.test/', webhook_secret: 'mule' }
  const { body } = await send({ submissions: [{ ...python, ...own }, python], ...hook })
  const [first, second] = body.submissions
  await finish(sql, first.id)
  t.equal(await readState(first.id), 'pending')
  t.equal(await readState(body.id), 'waiting')
  await finish(sql, second.id)
  t.equal(await readState(body.id), 'pending')
})

test('a refused item is no member; a batch of such alone is none', async (t) => {
  const { body } = await send({ submissions: [{ language: 'latin' }, python], ...hook })
  await finish(sql, body.submissions[1].id)
  t.equal(await readState(body.id), 'pending')
  t.equal((await readMembers(body.id)).length, 1)

  const none = await send({ submissions: [{ language: 'latin' }], ...hook })
  t.equal(none.status, 202)
  t.equal(none.body.id, null)
  t.match(none.body.submissions, [{ error: 'invalid_request' }])
})

test('what is wrong with it is said at its path, and nothing is stored', async (t) => {
  const [before] = await sql`select count(*) from runledger.event`
  const { webhook_url: address, webhook_secret: secret } = hook
  const rows: readonly [given: object, path: string, message: string][] = [
    [{ webhook_url: address }, 'webhook_secret', 'is required with webhook_url'],
    [{ webhook_secret: secret }, 'webhook_url', 'is required with webhook_secret'],
    [{ ...hook, webhook_url: 'http://hook.test/' }, 'webhook_url', 'must be an https: URL'],
    [{ ...hook, webhook_url: 7 }, 'webhook_url', ''],
    [{ ...hook, webhook_secret: '' }, 'webhook_secret', ''],
    [{ ...hook, webhook_secret: 'x'.repeat(257) }, 'webhook_secret', ''],
  ]
  for (const [given, path, message] of rows) {
    const { status, body } = await send({ submissions: [python], ...given })
    t.equal(status, 400)
    t.match(body.issues, [{ path, message: message === '' ? String : message }])
    t.equal(body.issues.length, 1)
  }
  const all = await send({ submissions: [], webhook_url: 'x', x: 1 })
  t.strictSame(pathsOf(all).toSorted(), ['submissions', 'webhook_secret', 'webhook_url', 'x'])
  const [after] = await sql`select count(*) from runledger.event`
  t.strictSame(after, before)
})

test('a repeated Idempotency-Key is the first batch, with one webhook', async (t) => {
  const headers = { 'Idempotency-Key': randomUUID() }
  const asked = { submissions: [python, python], ...hook }
  const { body: first } = await send(asked, { headers })
  const again = await send(asked, { headers })
  t.strictSame(again.body, first)
  t.equal(again.headers['idempotency-replayed'], 'true')
  t.equal(again.headers['idempotency-mismatch'], undefined)
  const elsewhere = { ...asked, webhook_url: 'https://other.test/' }
  for (const other of [elsewhere, { submissions: asked.submissions }]) {
    const { body, headers: given } = await send(other, { headers })
    t.equal(given['idempotency-mismatch'], 'true')
    t.equal(body.id, first.id)
  }
  for (const { id } of first.submissions) await finish(sql, id)
  const [deliveries] = await sql`
    select count(*) from runledger.delivery where url in (${hook.webhook_url}, ${elsewhere.webhook_url}) and state = 'waiting'`
  t.equal(deliveries?.['count'], 0)
})

test('so it is of a batch of one, with a webhook and without', async (t) => {
  for (const asked of [{ submissions: [python] }, { submissions: [python], ...hook }]) {
    const headers = { 'Idempotency-Key': randomUUID() }
    const { body } = await send(asked, { headers })
    const again = await send(asked, { headers })
    t.strictSame(again.body, body)
    t.equal(again.headers['idempotency-replayed'], 'true')
  }
})

test('as NDJSON a header has its id', async (t) => {
  const response = await fetch(`http://127.0.0.1:${port}/api/submit/batch`, {
    method: 'POST',
    headers: {
      'X-API-Key': await issue(),
      'Content-Type': 'application/json',
      Accept: 'application/x-ndjson',
    },
    body: JSON.stringify({ submissions: [python], ...hook }),
  })
  const id = response.headers.get('batch-id')
  const [member] = await sql`select submission_id from runledger.pending where batch_id = ${id}`
  await finish(sql, member?.['submission_id'])
  t.match(await response.json(), { index: 0, id: member?.['submission_id'], verdict: 'AC' })
  t.equal(await readState(id ?? ''), 'pending')
})

test('members end by being cancelled, lost or given up, too', async (t) => {
  const { id, members } = await submit(4)
  const [waits, runs, lost, abandoned] = members as [string, string, string, string]
  t.equal((await call('POST', `/api/result/${waits}/cancel`)).body.status, 'cancelled')
  await startExecution(sql, runs)
  await call('POST', `/api/result/${runs}/cancel`)
  t.equal(await interrupt(sql, runs, 2), 'ended')
  for (let loss = 0; loss < 3; loss += 1) {
    t.equal(await readState(id), 'waiting')
    const attempt = await startAttempt(sql, abandoned)
    await interrupt(sql, abandoned, attempt!.version)
  }
  const version = await startExecution(sql, lost)
  t.equal(await interrupt(sql, lost, version!), 'requeued')
  t.equal(await readState(id), 'waiting')
  await finish(sql, lost)
  t.equal(await readState(id), 'pending')
  t.strictSame(await readMembers(id), [
    { id: waits, status: 'cancelled', verdict: null },
    { id: runs, status: 'cancelled', verdict: null },
    { id: lost, status: 'completed', verdict: 'AC' },
    { id: abandoned, status: 'failed', verdict: 'IE' },
  ])
})

test('all are cancelled at once', async (t) => {
  const { id, members } = await submit(5)
  const [{ account_id: account }] = await sql<[{ account_id: string }]>`
    select account_id from runledger.pending where submission_id = ${members[0]!}`
  await sql`select runledger.cancel(${[...members]}::uuid[], ${account}, ${json(sql, { actor: {} })})`
  t.equal(await countJobs(id), 1)
})

test('the last two end in the same moment: it is due once', async (t) => {
  const { id, members } = await submit(2)
  const [one, other] = members as [string, string]
  const [mine, its] = [await startExecution(sql, one), await startExecution(sql, other)]
  const [near, far] = await Promise.all([sql.reserve(), sql.reserve()])
  await near`begin`
  await near`select * from runledger.conclude(${json(sql, [describeEnd({ id: one, version: mine })])})`
  // This statement cannot see the end of the other member, which is not committed, and must not take it for unfinished.
  let isOver = false
  const late =
    far`select * from runledger.conclude(${json(sql, [describeEnd({ id: other, version: its })])})`
      .execute()
      .finally(() => (isOver = true))
  while (!isOver && !(await isAnyWaiting(sql)));
  await near`commit`
  await late
  for (const connection of [near, far]) connection.release()
  t.equal(await readState(id), 'pending')
  t.equal(await countJobs(id), 1)
})

test('members end in one statement', async (t) => {
  const { id, members } = await submit(3)
  const items: object[] = []
  for (const id of members) items.push(describeEnd({ id, version: await startExecution(sql, id) }))
  await sql`select * from runledger.conclude(${json(sql, items)})`
  t.equal(await countJobs(id), 1)
})

test('a rerun is no member', async (t) => {
  const { id, members } = await submit(1)
  await finish(sql, members[0]!)
  const { body } = await call('POST', `/api/result/${members[0]}/rerun`)
  const [received] = await readStream(sql, body.id)
  t.notOk(Object.hasOwn(received!.data, 'batch'))
  await finish(sql, body.id)
  t.equal((await readMembers(id)).length, 1)
})

test('a job that was removed comes again', async (t) => {
  const { id, members } = await submit(1)
  await finish(sql, members[0]!)
  await sql`
    select graphile_worker.remove_job(webhook_id::text) from runledger.delivery where submission_id = ${id}`
  t.equal(await countJobs(id), 0)
  await sql`select runledger.reconcile_queue()`
  t.equal(await countJobs(id), 1)
})

test('rows that were edited are put back from the log', async (t) => {
  const { id, members } = await submit(2)
  const [one, other] = members as [string, string]
  // The row of the last member is missing when the first one ends, but the log still has the member.
  await sql`delete from runledger.pending where submission_id = ${other}`
  await finish(sql, one)
  t.equal(await readState(id), 'waiting')
  await sql`update runledger.delivery set state = 'pending' where submission_id = ${id}`
  await rebuildProjections(sql)
  t.equal(await readState(id), 'waiting')
  await finish(sql, other)
  t.equal(await readState(id), 'pending')
  await sql`update runledger.delivery set state = 'waiting' where submission_id = ${id}`
  const [drift] = await sql`select projection, id from audit.drift`
  t.strictSame({ ...drift }, { projection: 'delivery', id })
  await rebuildProjections(sql)
  t.equal(await readState(id), 'pending')
})

test('bodies stay until it is delivered; its address goes with the first of them', async (t) => {
  const { id, members } = await submit(2)
  const [one, other] = members as [string, string]
  const purge = async (member: string): Promise<string | null> => {
    const [row] = await sql<[{ outcome: string | null }]>`
      select runledger.purge_submission(r.id, r.account_id, '{"actor": {}}') as outcome
      from runledger.result r where r.id = ${member}`
    return row.outcome
  }
  await finish(sql, one)
  t.equal(await purge(one), 'undelivered')
  await finish(sql, other)
  t.equal(await purge(one), 'undelivered')
  await sql`select graphile_worker.remove_job(webhook_id::text) from runledger.delivery where submission_id = ${id}`
  await recordDelivery(sql, id, { outcome: 'delivered' })
  const [webhook] = await sql`
    select submission_id, batch_id, receiver, state, account from audit.webhook where batch_id = ${id}`
  t.match(webhook, {
    submission_id: null,
    receiver: 'hook.test',
    state: 'delivered',
    account: String,
  })
  t.equal(await purge(one), 'purged')
  const [row] = await sql`select url, secret from runledger.delivery where submission_id = ${id}`
  t.strictSame({ ...row }, { url: null, secret: null })
  t.equal((await readMembers(id)).length, 2)
  t.equal(await purge(other), 'purged')
})

test('the end of a member costs the same however many there are', async (t) => {
  // Takes the table's statistics now, because PostgreSQL makes its plans while few submissions wait.
  await sql`analyze runledger.pending`
  const { id, members } = await submit(1000)
  t.equal(members.length, 1000)
  const version = await startExecution(sql, members[0]!)
  const item = describeEnd({ id: members[0]!, version })
  const read = await countRowsRead(
    sql,
    'runledger.pending',
    (transaction) => transaction`select * from runledger.conclude(${json(sql, [item])})`,
  )
  t.ok(read < 20, `${read} rows`)
  t.equal(await readState(id), 'waiting')
})
