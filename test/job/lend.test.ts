// Between its tests a submission lends its slot to the next submission in the fair order, and goes on after that.
import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { cancelSubmission } from '#enqueue'
import { openTestDatabase } from '../helper/database.ts'
import { findBroken, listTypes } from '../helper/ledger.ts'
import { createCaller, describeSubmission, finalResult, submitNew } from '../helper/submission.ts'
import { until } from '../helper/until.ts'
import { startWorkerProcess } from '../helper/worker.ts'

const { sql, url } = await openTestDatabase(t)
const life = ['submission.received', 'execution.started', 'execution.completed']

/** Returns a submission with so many tests, each of which sleeps and prints its number. */
const sleeper = (tests: number, seconds: number): ReturnType<typeof describeSubmission> =>
  describeSubmission({
    code: `import time\ntime.sleep(${seconds})\nprint(input())`,
    options: {
      limits: { wall_time: 60 },
      tests: Array.from({ length: tests }, (_, n) => ({ stdin: `${n}`, expected_stdout: `${n}` })),
    },
  })
const short = describeSubmission({ code: 'print(1)' })

const isRunning = (id: string) => async (): Promise<boolean> =>
  (await sql`select from runledger.pending where submission_id = ${id} and is_running`).length > 0
const isParked = (id: string) => async (): Promise<boolean> =>
  (await sql`select from runledger.pending where submission_id = ${id} and is_parked`).length > 0

async function countJobs(): Promise<number> {
  const [row] = await sql<[{ count: number }]>`
    select count(*)::integer as count from graphile_worker.jobs where task_identifier like 'continue:%'`
  return row.count
}

/** Starts a long submission, and waits until it is parked behind a submission of another account. */
async function parkOne(
  tests = 6,
  seconds = 30,
): Promise<{ long: string; holder: string; of: Awaited<ReturnType<typeof createCaller>> }> {
  const [of, other] = [await createCaller(sql), await createCaller(sql)]
  const code = `import time\ntime.sleep(${seconds})`
  const holds = describeSubmission({ code, options: { limits: { wall_time: 60 } } })
  const long = await submitNew(sql, of, sleeper(tests, 1))
  await until(isRunning(long))
  const holder = await submitNew(sql, other, holds)
  await until(isParked(long))
  await until(isRunning(holder))
  return { long, holder, of }
}

/** Cancels a submission of any account. Its worker notices at its next poll. */
async function cancelAny(id: string): Promise<void> {
  await sql`
    select runledger.cancel(array[p.submission_id], p.account_id, '{}')
    from runledger.pending p where p.submission_id = ${id}`
}

const startOne = (): ReturnType<typeof startWorkerProcess> =>
  startWorkerProcess(t, url, { SLOTS: '1', LANGUAGES: 'python', LOG_LEVEL: 'debug' })
let worker = await startOne()

t.test('another account comes between two tests, and the submission goes on', async (t) => {
  const [busy, other] = [await createCaller(sql), await createCaller(sql)]
  const long = await submitNew(sql, busy, sleeper(10, 1))
  await until(isRunning(long))
  const waiting = await submitNew(sql, other, short)
  t.match(await finalResult(sql, waiting), { verdict: 'AC' })
  t.ok(await isRunning(long)(), 'the long one is under way')
  const record = await finalResult(sql, long)
  t.match(record, { verdict: 'AC', status: 'completed' })
  t.match(
    record.tests,
    Array.from({ length: 10 }, (_, n) => ({ verdict: 'AC', stdout: `${n}\n`, exit_code: 0 })),
  )
  for (const { wall_time: wall, cpu_time: cpu } of record.tests ?? []) {
    t.ok((wall ?? 0) >= 1, 'its wall time is its own')
    t.ok((cpu ?? 1) < 1)
  }
  t.strictSame(await listTypes(sql, long), life, 'one attempt, one end')
  await until(async () => (await countJobs()) === 0)
  await worker.until('slot.lent')
  t.strictSame(await findBroken(sql), [])
})

t.test('beside its own account, or nobody, it keeps its slot', async (t) => {
  const before = worker.logged.length
  const busy = await createCaller(sql)
  const long = await submitNew(sql, busy, sleeper(4, 1))
  await until(isRunning(long))
  const own = await submitNew(sql, busy, short)
  t.match(await finalResult(sql, own), { verdict: 'AC' })
  t.notOk(await isRunning(long)(), 'of one account the first is first')
  t.match(await finalResult(sql, long), { verdict: 'AC' })
  t.notOk(worker.logged.slice(before).includes('slot.lent'))
})

t.test('what is parked can be cancelled', async (t) => {
  const { long, holder, of } = await parkOne(20, 30)
  const cancelled = { request: uuidv7(), actor: { api_key: of.apiKeyId } }
  t.equal(await cancelSubmission(sql, long, of.accountId, cancelled), 'requested')
  const record = await finalResult(sql, long)
  t.match(record, { status: 'cancelled', verdict: null })
  t.match(record.tests?.[0], { verdict: 'AC', stdout: '0\n' }, 'what it had done is told')
  t.ok(await isRunning(holder)(), 'at once, though nothing of it ran')
  await until(async () => (await countJobs()) === 0)
  await cancelAny(holder)
  await finalResult(sql, holder)
})

t.test('a worker that ends lets it go on, too', async (t) => {
  const { long, holder } = await parkOne(5, 5)
  worker.child.kill('SIGTERM')
  t.strictSame(await worker.ended, [0, null])
  for (const id of [long, holder]) t.strictSame(await listTypes(sql, id), life)
  // The worker may have had the job in hand when it was removed. Such a job goes with the reconciler.
  await sql`select runledger.reconcile_queue()`
  t.equal(await countJobs(), 0)
})

t.test('a worker that is killed loses nothing of what is parked', async (t) => {
  const doomed = await startOne()
  const { long, holder } = await parkOne(8, 60)
  doomed.child.kill('SIGKILL')
  await doomed.ended
  worker = await startOne()
  await until(async () => (await listTypes(sql, holder)).includes('execution.interrupted'))
  await cancelAny(holder)
  t.match(await finalResult(sql, long), { verdict: 'AC' })
  t.strictSame((await listTypes(sql, long)).slice(1), [
    'execution.started', 'execution.interrupted', 'execution.started', 'execution.completed',
  ]) // prettier-ignore
  await until(async () => (await countJobs()) === 0)
  await finalResult(sql, holder)
})

t.test('a worker that drains finishes what is parked', async (t) => {
  const { long, holder } = await parkOne(5, 8)
  await sql`update runledger.worker set wanted = 'drained' where stopped_at is null`
  t.strictSame(await worker.ended, [0, null])
  for (const id of [long, holder]) t.strictSame(await listTypes(sql, id), life)
  t.match(await finalResult(sql, long), { verdict: 'AC' })
  t.equal(await countJobs(), 0)
  t.strictSame(await findBroken(sql), [])
})
