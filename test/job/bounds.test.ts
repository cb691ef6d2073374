// A step of the queue's work is bounded, however much there is to do. Otherwise it would time out, and so would its repetition.
import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import type { Caller } from '#account'
import { json } from '#database'
import { createReceive } from '#enqueue'
import { createId } from '#id'
import { openTestDatabase } from '../helper/database.ts'
import { addWorker, describeEnd, finish } from '../helper/execution.ts'
import { createCaller, describeContext, describeSubmission } from '../helper/submission.ts'

const { sql } = await openTestDatabase(t)
const python = describeSubmission({ code: 'print(1)' })
const receive = createReceive(sql)

/** @returns the ids. */
async function submitMany(who: Caller, count: number): Promise<string[]> {
  const { signal } = new AbortController()
  const ids: string[] = []
  while (ids.length < count) {
    const items = Array.from({ length: 20 }, () => ({ id: createId(), submission: python }))
    await receive(items, { ...describeContext(who), capacity: 10_000 }, signal)
    ids.push(...items.map(({ id }) => id))
  }
  return ids
}

/** Starts the attempts of a new worker. @returns its id. */
async function startAll(ids: readonly string[]): Promise<string> {
  const worker = await addWorker(sql)
  await sql`
    select from runledger.start(
      ${worker}, ${[...ids]}::uuid[], ${ids.map(() => uuidv7())}::text[], ${ids.map(() => 'python')}::text[],
      ${sql.json({ worker })}, '{"python": {}}', '["python"]', '[]', '{"actor": {}}'
    )`
  return worker
}

async function countWaiting(): Promise<number> {
  return (await sql`select from runledger.pending where not admitted`).length
}

async function reconcile(): Promise<number> {
  const [row] = await sql`select runledger.reconcile_queue() as count`
  return row?.['count'] as number
}

t.test('what waits for a key without a limit is admitted a thousand at a time', async (t) => {
  const limited = await createCaller(sql, 'beta')
  const [first = ''] = await submitMany(limited, 2200)
  t.equal(await countWaiting(), 2190)
  await sql`update runledger.api_key set tier = 'unlimited' where id = ${limited.apiKeyId}`
  t.equal(await reconcile(), 1000)
  await finish(sql, first)
  t.equal(await countWaiting(), 1180, 'an end admits some more')
  t.equal(await reconcile(), 1000)
  t.equal(await reconcile(), 180)
  t.equal(await countWaiting(), 0)
})

t.test('so it is when many keys get a larger limit', async (t) => {
  const callers = await Promise.all(Array.from({ length: 4 }, () => createCaller(sql, 'beta')))
  const firsts: string[] = []
  for (const each of callers) firsts.push((await submitMany(each, 400))[0] ?? '')
  t.equal(await countWaiting(), 4 * 390)
  const keys = callers.map(({ apiKeyId }) => apiKeyId)
  await sql`update runledger.api_key set tier = 'unlimited' where id = any (${keys})`
  await startAll(firsts)
  const items = firsts.map((id) => describeEnd({ id, version: 2 }))
  await sql`select from runledger.conclude(${json(sql, items)})`
  t.equal(await countWaiting(), 4 * 380, 'ends that share a statement admit some more')
  t.equal(await reconcile(), 1000)
  t.equal(await reconcile(), 520)
  t.equal(await countWaiting(), 0)
})

t.test('the attempts of a worker with very many are given up in several sweeps', async (t) => {
  const worker = await startAll(await submitMany(await createCaller(sql), 1040))
  await sql`update runledger.worker set renewed_at = now() - interval '1 day' where id = ${worker}`
  const sweep = async (): Promise<number[]> => {
    const rows = await sql<{ submission_id: string | null }[]>`
      select submission_id from runledger.sweep_workers() where worker_id = ${worker}`
    const lost = rows.filter(({ submission_id: id }) => id === null)
    return [rows.length - lost.length, lost.length]
  }
  t.strictSame(await sweep(), [1000, 1])
  t.strictSame(await sweep(), [40, 0])
})

t.test('a reconciler’s pass repairs some hundreds, because each takes milliseconds', async (t) => {
  const ids = await submitMany(await createCaller(sql), 320)
  await sql`select graphile_worker.remove_job(key) from unnest(${ids}::text[]) key`
  t.equal(await reconcile(), 300)
  t.equal(await reconcile(), 20)
})
