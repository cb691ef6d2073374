// A separate statement starts a job that was handed out, even when an answer is lost and the worker is lost meanwhile.
import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import type { Database } from '#database'
import { readStream } from '#event'
import { defaultLimits } from '#language'
import { createLog } from '#log'
import { createBegin } from '../../../src/job/execute/attempt.ts'
import type { AttemptDependencies } from '../../../src/job/execute/attempt.ts'
import { createTestDatabase } from '../../helper/database.ts'
import { createCaller, describeSubmission, submitNew } from '../../helper/submission.ts'

const { sql, drop } = await createTestDatabase()
t.teardown(drop)
const caller = await createCaller(sql)

/** Registers a worker that counts as alive for a while although it has no session lock. @returns its id. */
async function registerWorker(): Promise<string> {
  const id = uuidv7()
  await sql`
    insert into runledger.worker (id, host, pid, slots, languages, lease_seconds)
    values (${id}, 'test', 1, 1, '{}', 60)`
  return id
}

t.test('what begins under the next id of a worker that was given up is another run', async (t) => {
  const submission = await submitNew(sql, caller, describeSubmission({ code: 'print(1)' }))
  const { signal } = new AbortController()
  const lease = { workerId: await registerWorker(), signal }

  async function giveUp(): Promise<void> {
    await sql`update runledger.worker set renewed_at = now() - interval '1 hour' where id = ${lease.workerId}`
    await sql`select * from runledger.sweep_workers()`
    lease.workerId = await registerWorker()
  }
  let isLost = false
  const losing = (async (...statement: Parameters<Database>) => {
    const answer = await sql(...statement)
    if (isLost) return answer
    isLost = true
    await giveUp()
    throw Object.assign(new Error('the answer is lost'), { code: 'CONNECTION_CLOSED' })
  }) as unknown as Database

  const dependencies = {
    database: losing,
    executor: { runtimes: { python: { version: 'Python 3' } }, isolation: {} },
    limits: defaultLimits,
    log: createLog('test', 'silent'),
    lease,
    shutdown: signal,
  } as unknown as AttemptDependencies
  const begun = await createBegin(dependencies, [])(submission, 'python')
  const events = await readStream(sql, submission)
  t.strictSame(
    events.map(({ type }) => type),
    ['submission.received', 'execution.started', 'execution.interrupted', 'execution.started'],
  )
  const [, lost, , present] = events.map(({ data }) => data as { readonly run?: string })
  t.match(begun, { run: present?.run })
  t.not(lost?.run, present?.run)
})
