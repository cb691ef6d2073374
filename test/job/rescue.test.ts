// A worker is lost in the middle of a run: killed, frozen, cut off or stopped. Every acknowledged submission ends once,
// without an operator.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { readStream } from '#event'
import { openTestDatabase } from '../helper/database.ts'
import { findBroken, listTypes, readStatus } from '../helper/ledger.ts'
import { createCaller, describeSubmission, finalResult, submitNew } from '../helper/submission.ts'
import { until } from '../helper/until.ts'
import { startWorkerProcess } from '../helper/worker.ts'
import type { WorkerProcess } from '../helper/worker.ts'

// A short lease, so that the test is short. Other times keep their ratio to it. A slow machine may lose such a worker, so
// workers that must not be lost have a longer one.
const LEASE_SECONDS = '3'

const { sql, url } = await openTestDatabase(t)
const caller = await createCaller(sql)
const slow = describeSubmission({ code: 'import time; time.sleep(2); print("done")' })

const startOne = (environment?: Readonly<Record<string, string>>): Promise<WorkerProcess> =>
  startWorkerProcess(t, url, environment)

async function untilRunning(id: string): Promise<void> {
  await until(async () => (await readStatus(sql, id)) === 'running')
}

/** The worker that a test leaves to the next one. */
let left: WorkerProcess

t.test('a killed worker, with another alive: the run is given to the other', async (t) => {
  const both = await Promise.all([startOne(), startOne()])
  const id = await submitNew(sql, caller, slow)
  await untilRunning(id)
  const [doomed] = await sql`
    select pid from audit.worker where id = (select worker_id from audit.execution where submission_id = ${id})`
  const doomedPid = Number(doomed?.['pid'])
  process.kill(doomedPid, 'SIGKILL')
  left = both.find(({ child }) => child.pid !== doomedPid)!
  t.match(await finalResult(sql, id), { verdict: 'AC', stdout: 'done\n' })
  t.strictSame(await listTypes(sql, id), [
    'submission.received', 'execution.started', 'execution.interrupted', 'execution.started',
    'execution.completed',
  ]) // prettier-ignore
  const [, , interrupted] = await readStream(sql, id)
  t.match(interrupted?.data, { reason: 'worker_lost', spends_attempt: true })
})

t.test('a worker told to stop finishes what it runs and leaves the rest to others', async (t) => {
  const id = await submitNew(sql, caller, slow)
  await untilRunning(id)
  left.child.kill('SIGTERM')
  t.strictSame(await left.ended, [0, null])
  t.strictSame(await listTypes(sql, id), [
    'submission.received',
    'execution.started',
    'execution.completed',
  ])
})

t.test('a killed worker, alone: the run is done after its restart', async (t) => {
  const doomed = await startWorkerProcess(t, url, { LEASE_SECONDS })
  const ids = await Promise.all([1, 2, 3, 4].map(() => submitNew(sql, caller, slow)))
  await untilRunning(ids[0]!)
  doomed.child.kill('SIGKILL')
  await doomed.ended
  left = await startOne({ LEASE_SECONDS })
  for (const id of ids) t.match(await finalResult(sql, id), { verdict: 'AC' })
})

t.test('a frozen worker that wakes up again stores nothing stale', async (t) => {
  const frozen = left
  const id = await submitNew(sql, caller, slow)
  await untilRunning(id)
  frozen.child.kill('SIGSTOP')
  await startWorkerProcess(t, url, { LEASE_SECONDS })
  t.match(await finalResult(sql, id), { verdict: 'AC' })
  frozen.child.kill('SIGCONT')
  await frozen.until('worker.fenced')
  t.equal((await listTypes(sql, id)).filter((type) => type === 'execution.completed').length, 1)
  t.equal(frozen.child.exitCode, null, 'it lives on, under a new id')
  frozen.child.kill('SIGKILL')
  await frozen.ended
})

t.test('connections that are cut do not end a worker, nor a live run', async (t) => {
  // The session lock may be missing for four seconds.
  const worker = await startWorkerProcess(t, url, { LEASE_SECONDS: '60' })
  const id = await submitNew(sql, caller, slow)
  await untilRunning(id)
  for (let round = 0; round < 3; round += 1) {
    await sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name like 'runledger %'`
    await sleep(300)
  }
  t.match(await finalResult(sql, id), { verdict: 'AC' })
  t.strictSame(await listTypes(sql, id), [
    'submission.received',
    'execution.started',
    'execution.completed',
  ])
  const next = await submitNew(sql, caller, describeSubmission({ code: 'print(1)' }))
  t.match(await finalResult(sql, next), { verdict: 'AC' })
  t.equal(worker.child.exitCode, null)
})

t.test('jobs that vanished from the queue are put back', async (t) => {
  const id = await submitNew(sql, caller, describeSubmission({ code: 'print(1)' }))
  await sql`select graphile_worker.complete_jobs(array(select id from graphile_worker.jobs where key = ${id}))`
  const [jobs] = await sql`select count(*) from graphile_worker.jobs where key = ${id}`
  t.equal(jobs?.['count'], 0)
  await startWorkerProcess(t, url, { LEASE_SECONDS })
  t.match(await finalResult(sql, id), { verdict: 'AC' })
})

t.test('the ledger keeps every promise through all of it', async (t) => {
  t.strictSame(await findBroken(sql), [])
  t.strictSame([...(await sql`select * from runledger.pending`)], [])
})
