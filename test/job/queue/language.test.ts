// Workers that run different languages, on one queue: each job runs where it can. Queues and sandbox are real; each worker
// sees a part of the sandbox's languages.
import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { readStream } from '#event'
import type { Executor } from '#executor'
import type { Language } from '#language'
import { openTestDatabase } from '../../helper/database.ts'
import { accelerated, startExecutor } from '../../helper/executor.ts'
import { findBroken } from '../../helper/ledger.ts'
import { startTestQueue } from '../../helper/queue.ts'
import {
  createCaller,
  describeSubmission,
  finalResult,
  submitNew,
} from '../../helper/submission.ts'

const { sql, url } = await openTestDatabase(t)
const caller = await createCaller(sql)
const executor = await startExecutor(t, { languages: accelerated })
const python = describeSubmission({ code: 'print(1)' })
const cpp = describeSubmission({ language: 'cpp', code: 'int main() {}' })
const java = describeSubmission({
  language: 'java',
  code: 'class Main { public static void main(String[] a) {} }',
})

/** Starts a worker that runs only these languages. @returns its id. */
async function startWorker(...languages: Language[]): Promise<string> {
  const workerId = uuidv7()
  const narrow: Executor = {
    ...executor,
    runtimes: Object.fromEntries(languages.map((name) => [name, executor.runtimes[name]])),
  }
  const queue = await startTestQueue({
    url,
    database: sql,
    executor: narrow,
    workerId,
    executions: 1,
  })
  t.teardown(() => queue.stop())
  await sql`
    insert into runledger.worker (id, host, pid, slots, languages, lease_seconds)
    values (${workerId}, 'test', 1, 1, '{}', 6000)`
  return workerId
}

/** Returns the ids of the workers that started the submission. */
async function readWorkers(id: string): Promise<unknown[]> {
  return (await readStream(sql, id)).flatMap(({ type, data }) =>
    type === 'execution.started' ? [(data as { worker: string }).worker] : [],
  )
}

const pythonIds: string[] = []
for (let n = 0; n < 30; n += 1) pythonIds.push(await submitNew(sql, caller, python))
const compiled = await startWorker('cpp', 'java')

t.test('what nobody can run yet keeps nothing waiting that somebody can', async (t) => {
  for (const submission of [cpp, java]) {
    const id = await submitNew(sql, caller, submission)
    t.match(await finalResult(sql, id), { verdict: 'AC' })
    t.strictSame(await readWorkers(id), [compiled])
  }
  const [left] = await sql`
    select count(*) from graphile_worker.jobs where key = any(${pythonIds}) and attempts = 0 and locked_at is null`
  t.equal(left?.['count'], pythonIds.length, 'nobody has touched it')
})

t.test('a job that must be looked at brings no worker one that it cannot run', async (t) => {
  // This job comes before all others.
  await sql`select graphile_worker.add_job('execute:cpp', '7', priority => -5)`
  const id = await submitNew(sql, caller, cpp)
  t.match(await finalResult(sql, id), { verdict: 'AC' })
  const [left] = await sql`
    select count(*) from graphile_worker.jobs where key = any(${pythonIds}) and attempts = 0`
  t.equal(left?.['count'], pythonIds.length)
})

t.test('a job under another language’s name is added anew under its own', async (t) => {
  const [id = ''] = pythonIds
  const payload = sql.json({ submission: id })
  await sql`select graphile_worker.add_job('execute:cpp', ${payload}::json, job_key => ${id}, priority => -5)`
  for (const submission of [cpp, cpp])
    t.match(await finalResult(sql, await submitNew(sql, caller, submission)), { verdict: 'AC' })
  const [job] = await sql`select task_identifier from graphile_worker.jobs where key = ${id}`
  t.equal(job?.['task_identifier'], 'execute:python')
})

t.test('each runs what it can, and nothing is left', async (t) => {
  const interpreted = await startWorker('python')
  const ids = new Map<string, string>(pythonIds.map((id) => [id, interpreted]))
  for (let n = 0; n < 4; n += 1) {
    ids.set(await submitNew(sql, caller, python), interpreted)
    ids.set(await submitNew(sql, caller, n % 2 === 0 ? cpp : java), compiled)
  }
  for (const [id, worker] of ids) {
    t.match(await finalResult(sql, id), { verdict: 'AC' })
    t.strictSame(await readWorkers(id), [worker])
  }
  t.strictSame(await findBroken(sql), [])
})
