// A submission of low priority waits while any other waits: in the queue, for a position of its key, after a loss, and when
// its rows are rebuilt from the log.
import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import type { Caller } from '#account'
import { createReceive } from '#enqueue'
import { openTestDatabase } from '../../helper/database.ts'
import { addWorker, conclude, interrupt, takeNext } from '../../helper/execution.ts'
import { submitTomorrow } from '../../helper/demand.ts'
import { createCaller, describeSubmission, submitNew } from '../../helper/submission.ts'

const { sql } = await openTestDatabase(t)
const worker = await addWorker(sql)
await sql`insert into runledger.tier (name, concurrent_executions) values ('pair', 2)`
const unlimited = await createCaller(sql)

const low = describeSubmission({ code: 'low', priority: 'low' })
const normal = describeSubmission({ code: 'normal' })
const submitLow = (caller: Caller): Promise<string> => submitNew(sql, caller, low)
const submitNormal = (caller: Caller): Promise<string> => submitNew(sql, caller, normal)

/** Takes the next submission. @returns its id, or undefined. */
async function take(): Promise<string | undefined> {
  return (await takeNext(sql, worker))?.submission_id
}

async function end(id: string): Promise<void> {
  await conclude(sql, { id, version: 2, data: { verdict: 'AC', exit_code: 0 } })
}

async function readPriority(id: string): Promise<unknown> {
  const [job] = await sql`select priority from graphile_worker.jobs where key = ${id}`
  return job?.['priority']
}

async function listAdmitted(caller: Caller): Promise<unknown[]> {
  const rows = await sql`
    select submission_id as id from runledger.pending
    where api_key_id = ${caller.apiKeyId} and admitted order by submission_id`
  return rows.map((row) => row['id'] as unknown)
}

t.afterEach(async () => {
  for (let id = await take(); id !== undefined; id = await take()) await end(id)
})

t.test('in the queue the first of those that are not low comes first', async (t) => {
  const lows = [await submitLow(unlimited), await submitLow(unlimited)]
  const normals = [await submitNormal(unlimited), await submitNormal(unlimited)]
  const taken = []
  for (let n = 0; n < 4; n += 1) taken.push(await take())
  t.strictSame(taken, [...normals, ...lows])
  for (const id of [...normals, ...lows]) await end(id)
})

t.test('one that comes takes the place of the newest low one that has not started', async (t) => {
  const caller = await createCaller(sql, 'pair')
  const lows = [await submitLow(caller), await submitLow(caller), await submitLow(caller)] as const
  t.strictSame(await listAdmitted(caller), lows.slice(0, 2))
  const first = await submitNormal(caller)
  t.strictSame(await listAdmitted(caller), [lows[0], first])
  t.equal(await readPriority(lows[1]), undefined, 'what has no place has no job')
  const second = await submitNormal(caller)
  const third = await submitNormal(caller)
  t.strictSame(await listAdmitted(caller), [first, second], 'none of theirs is taken')
  const order = []
  for (let id = await take(); id !== undefined; id = await take()) {
    order.push(id)
    await end(id)
  }
  t.strictSame(order, [first, second, third, ...lows])
})

t.test('one that has started keeps its place; the next place is not a low one’s', async (t) => {
  const caller = await createCaller(sql, 'pair')
  const lows = [await submitLow(caller), await submitLow(caller), await submitLow(caller)] as const
  t.strictSame([await take(), await take()], lows.slice(0, 2))
  const waiting = await submitNormal(caller)
  t.strictSame(await listAdmitted(caller), lows.slice(0, 2))
  await end(lows[0])
  t.strictSame(await listAdmitted(caller), [lows[1], waiting])
  await end(lows[1])
  t.strictSame([await take(), await take()], [waiting, lows[2]])
  await end(waiting)
  await end(lows[2])
})

t.test('one key’s low ones leave another key’s alone', async (t) => {
  const [one, other] = [await createCaller(sql, 'pair'), await createCaller(sql, 'pair')]
  const lows = [await submitLow(one), await submitLow(one)]
  await submitNormal(other)
  t.strictSame(await listAdmitted(one), lows)
})

t.test('in a batch each item has its own', async (t) => {
  const context = { ...unlimited, requestId: uuidv7(), waiter: null, durable: true, idempotencyKey: null, capacity: 1000 } // prettier-ignore
  const items = [low, normal].map((submission) => ({ id: uuidv7(), submission }))
  const receipt = await createReceive(sql)(items, context, new AbortController().signal)
  const ids = receipt.kind === 'received' ? receipt.answer.submissions.map((one) => (one as { id: string }).id) : [] // prettier-ignore
  t.strictSame(await Promise.all(ids.map(readPriority)), [1, 0])
})

t.test('given back it is before its like, and still low', async (t) => {
  const lost = await submitLow(unlimited)
  t.equal(await take(), lost)
  await interrupt(sql, lost, 2)
  const other = await submitLow(unlimited)
  const one = await submitNormal(unlimited)
  t.equal(await readPriority(lost), 0)
  t.strictSame([await take(), await take(), await take()], [one, lost, other])
  await end(one)
  await end(other)
  await conclude(sql, { id: lost, version: 4, data: { verdict: 'AC' } })
})

t.test('put aside for another worker it is still low', async (t) => {
  const id = await submitTomorrow(sql, unlimited, { code: '', priority: 'low' })
  t.equal(await take(), undefined)
  t.equal(await readPriority(id), 1)
})

t.test('made again from the log it is still low', async (t) => {
  const caller = await createCaller(sql, 'pair')
  const ids = [await submitLow(caller), await submitNormal(caller)]
  await sql`delete from runledger.pending where api_key_id = ${caller.apiKeyId}`
  await sql`select graphile_worker.complete_jobs(array(select id from graphile_worker.jobs))`
  await sql`select runledger.reconcile_queue()`
  const rows = await sql`
    select submission_id as id, is_low from runledger.pending where api_key_id = ${caller.apiKeyId} order by 1`
  t.strictSame([...rows], [{ id: ids[0], is_low: true }, { id: ids[1], is_low: false }]) // prettier-ignore
  t.strictSame(await Promise.all(ids.map(readPriority)), [1, 0])
  await sql`select graphile_worker.complete_jobs(array(select id from graphile_worker.jobs))`
  await sql`select runledger.reconcile_queue()`
  t.strictSame(await Promise.all(ids.map(readPriority)), [1, 0], 'its job alone, too')
})
