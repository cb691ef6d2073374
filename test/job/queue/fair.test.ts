// The order in which accounts' programs run: the account that has used the slots least is next.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import type { Caller } from '#account'
import type { Database } from '#database'
import { createReceive } from '#enqueue'
import { openTestDatabase } from '../../helper/database.ts'
import { endTaken, interrupt, takeNext } from '../../helper/execution.ts'
import type { Taken } from '../../helper/execution.ts'
import { createCaller, describeSubmission, submitNew } from '../../helper/submission.ts'

const { sql } = await openTestDatabase(t)
const python = describeSubmission({ code: 'print(1)' })
const ample = { capacity: 100_000 }
const second = 1_000_000
/** The estimated time of an account's program before any has ended. */
const unknown = second / 10

t.beforeEach(async () => {
  await sql`select graphile_worker.complete_jobs(array(select id from graphile_worker.jobs))`
  await sql`delete from runledger.pending`
})

async function enqueue(caller: Caller, count: number, submission = python): Promise<string[]> {
  const ids: string[] = []
  for (let n = 0; n < count; n += 1) ids.push(await submitNew(sql, caller, submission, ample))
  return ids
}

/** Starts up to `most` submissions. Each stays in its slot until the next one has started. */
async function takeAll(
  most: number,
  seconds: (taken: Taken) => number | undefined = () => undefined,
): Promise<Taken[]> {
  // prettier-ignore
  const all: Taken[] = []
  let before: Taken | null = null
  for (let n = 0; n < most; n += 1) {
    const taken = await takeNext(sql)
    if (before !== null) await endTaken(sql, before, seconds(before))
    before = taken
    if (taken === null) break
    all.push(taken)
  }
  if (before !== null) await endTaken(sql, before, seconds(before))
  return all
}

const count = (all: readonly Taken[], { accountId }: Caller): number =>
  all.filter(({ account_id }) => account_id === accountId).length

async function readPositions(ids: readonly string[]): Promise<number[]> {
  const rows = await sql<{ position: number }[]>`
    select position from runledger.pending where submission_id = any (${[...ids]}::uuid[]) order by submission_id`
  return rows.map(({ position }) => position)
}

/** Resolves when a statement waits for a lock of another transaction. */
async function untilLocked(): Promise<void> {
  let isLocked = false
  while (!isLocked) {
    const waiting = await sql`
      select from pg_locks l join pg_stat_activity a using (pid)
      where not l.granted and a.datname = current_database()`
    isLocked = waiting.length > 0
    await sleep(20)
  }
}

/** Runs eight programs, so that the estimate of the account's time per program is exact. */
async function accustom(caller: Caller, seconds: number): Promise<void> {
  await enqueue(caller, 8)
  await takeAll(8, () => seconds)
}

t.test('who comes is next, however much another has queued', async (t) => {
  const [busy, other] = [await createCaller(sql), await createCaller(sql)]
  await enqueue(busy, 50)
  const running = [await takeNext(sql), await takeNext(sql)]
  t.equal(running[1]?.account_id, busy.accountId)
  for (let n = 0; n < 3; n += 1) {
    const [id] = await enqueue(other, 1)
    const taken = [await takeNext(sql), await takeNext(sql)]
    t.ok(
      taken.some((found) => found?.submission_id === id),
      'of the next two, as one of the other has as much right',
    )
  }
})

t.test('accounts get slots by the weight of their tier, and each its own in order', async (t) => {
  for (const weight of [1, 2, 4])
    await sql`insert into runledger.tier (name, weight) values (${`weight${weight}`}, ${weight})`
  const one = await createCaller(sql, 'weight1')
  const two = await createCaller(sql, 'weight2')
  const four = await createCaller(sql, 'weight4')
  await enqueue(one, 70)
  await enqueue(two, 70)
  const ids = await enqueue(four, 70)
  const taken = await takeAll(70)
  t.ok(Math.abs(count(taken, one) - 10) <= 1)
  t.ok(Math.abs(count(taken, two) - 20) <= 1)
  t.ok(Math.abs(count(taken, four) - 40) <= 1)
  const order = taken.flatMap(({ account_id, submission_id }) =>
    account_id === four.accountId ? [submission_id] : [],
  )
  t.strictSame(order, ids.slice(0, order.length))
})

t.test('an account with very many queued waits for itself alone', async (t) => {
  const [many, other] = [await createCaller(sql), await createCaller(sql)]
  await enqueue(many, 1)
  const first = await takeNext(sql)
  await sql`
    with queued as (
      insert into runledger.pending (submission_id, account_id, api_key_id, admitted, position, language, version, hash, created_at)
      select gen_random_uuid(), ${many.accountId}, ${many.apiKeyId}, true, ${unknown} * (n + 1), 'python', 1, '', now()
      from generate_series(1, 20000) n
      returning submission_id, position
    )
    select graphile_worker.add_jobs(array_agg(job.describe_execution(submission_id, 'python', false, position)))
    from queued`
  t.equal(first?.account_id, many.accountId)
  const [id] = await enqueue(other, 1)
  const jobs = await sql`select key from graphile_worker.jobs order by priority, run_at limit 2`
  t.ok(jobs.some(({ key }) => key === id))
})

t.test('a batch of 20 gets a position for each', async (t) => {
  const [batch, calm] = [await createCaller(sql), await createCaller(sql)]
  const items = Array.from({ length: 20 }, () => ({ id: uuidv7(), submission: python }))
  const { apiKeyId, accountId } = batch
  const from = {
    apiKeyId,
    accountId,
    requestId: uuidv7(),
    waiter: null,
    durable: true,
    idempotencyKey: null,
  }
  await createReceive(sql)(items, { ...from, ...ample }, new AbortController().signal)
  await enqueue(calm, 20)
  const taken = await takeAll(20)
  t.ok(Math.abs(count(taken, calm) - 10) <= 1, `${count(taken, calm)} of 20`)
})

t.test('submissions of one account at one instant get a position each', async (t) => {
  const caller = await createCaller(sql)
  const others: Promise<string[]>[] = []
  const first = await sql.begin(async (transaction) => {
    const id = await submitNew(transaction as unknown as Database, caller, python, ample)
    const other = enqueue(caller, 1)
    others.push(other)
    await Promise.race([other, untilLocked()])
    return id
  })
  const ids = [first, ...(await Promise.all(others)).flat()]
  t.strictSame(await readPositions(ids), [unknown, 2 * unknown])
})

t.test('what is given back goes first, and keeps its position', async (t) => {
  const caller = await createCaller(sql)
  const ids = await enqueue(caller, 2)
  const [first = '', later = ''] = ids
  const before = await readPositions(ids)
  t.strictSame(before, [unknown, 2 * unknown])
  const lose = async (taken: Taken | null, database = sql): Promise<void> => {
    await interrupt(database, first, taken?.version ?? 0)
  }
  const attempt = await takeNext(sql)
  t.equal(attempt?.submission_id, first)
  await lose(attempt)
  const again = await takeNext(sql)
  t.equal(again?.submission_id, first)
  // After a second loss the submission waits for a second, and others come first. In one transaction now() stands still.
  await sql.begin(async (transaction) => {
    await lose(again, transaction as unknown as Database)
    const taken = await takeNext(transaction as unknown as Database)
    t.equal(taken?.submission_id, later)
  })
  await sql`select graphile_worker.reschedule_jobs(array(select id from graphile_worker.jobs where key = ${first}), run_at => now())` // prettier-ignore
  t.equal((await takeNext(sql))?.submission_id, first)
  t.strictSame(await readPositions(ids), before)
})

t.test('no slot is idle while anything waits', async (t) => {
  const callers = [await createCaller(sql), await createCaller(sql)] as const
  for (const caller of callers) await enqueue(caller, 7)
  t.equal((await takeAll(20)).length, 14)
})

t.test('whose programs take longer gets fewer', async (t) => {
  const [slow, quick] = [await createCaller(sql), await createCaller(sql)]
  await accustom(slow, 4)
  await accustom(quick, 0.5)
  await enqueue(slow, 20)
  await enqueue(quick, 80)
  const taken = await takeAll(45, ({ account_id }) => (account_id === slow.accountId ? 4 : 0.5))
  t.ok(Math.abs(count(taken, slow) - 5) <= 1, `${count(taken, slow)} of 45`)
})

t.test('the price is the mean of the last eight, ten minutes of each at most', async (t) => {
  const caller = await createCaller(sql)
  await accustom(caller, 0.5)
  t.strictSame(await readPositions(await enqueue(caller, 1)), [second / 2])
  await takeAll(1, () => 86_400)
  t.strictSame(await readPositions(await enqueue(caller, 1)), [((600 + 7 * 0.5) / 8) * second])
  await takeAll(1, () => undefined)
  const [id = ''] = await enqueue(caller, 1)
  t.strictSame(await readPositions([id]), [((600 + 7 * 0.5) / 8) * second], 'what was not measured does not count') // prettier-ignore
  await sql`select runledger.cancel(array[${id}::uuid], ${caller.accountId}, '{"actor": {}}')`
  t.strictSame(await readPositions(await enqueue(caller, 1)), [((600 + 7 * 0.5) / 8) * second], 'nor what never ran') // prettier-ignore
})

t.test('who comes later starts where the others are, and an idle service at 0', async (t) => {
  const [one, other] = [await createCaller(sql), await createCaller(sql)]
  const ids = await enqueue(one, 5)
  t.strictSame(
    await readPositions(ids),
    [1, 2, 3, 4, 5].map((n) => n * unknown),
  )
  await takeAll(2)
  t.strictSame(await readPositions(await enqueue(other, 1)), [4 * unknown], 'by the first that waits') // prettier-ignore
  const running = await takeNext(sql)
  t.equal(running?.submission_id, ids[2])
  t.equal((await takeNext(sql))?.submission_id, ids[3])
  await sql`delete from runledger.pending where account_id = ${other.accountId}`
  t.strictSame(await readPositions(await enqueue(other, 2)), [5 * unknown, 6 * unknown], 'by the last that runs') // prettier-ignore
  await sql`delete from runledger.pending`
  t.strictSame(await readPositions(await enqueue(other, 1)), [unknown])
})

t.test('one that waits for a place of its key gets its position with it', async (t) => {
  await sql`insert into runledger.tier (name, concurrent_executions) values ('single', 1)`
  const caller = await createCaller(sql, 'single')
  const ids = await enqueue(caller, 2)
  const positions = await sql`select position from runledger.pending order by submission_id`
  t.strictSame([...positions], [{ position: unknown }, { position: null }])
  await takeAll(1)
  t.strictSame(await readPositions(ids), [unknown])
  t.equal((await takeNext(sql))?.submission_id, ids[1])
})

t.test('a position that would be in the future is now', async (t) => {
  const [row] = await sql`
    select job.position_time(${Date.now() * 2000}) <= now() as is_due, job.position_time(${second}) as first`
  t.strictSame({ ...row }, { is_due: true, first: new Date(1000) })
})
