// As many jobs are taken at once as there are slots: one that then finds no slot is nobody's again, and workers are told.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createLog } from '#log'
import { startRunners } from '../../../src/job/queue/queue.ts'
import { createTestDatabase } from '../../helper/database.ts'
import { createCaller, describeSubmission, submitNew } from '../../helper/submission.ts'

const { sql, url, drop } = await createTestDatabase()
t.teardown(drop)
const caller = await createCaller(sql)

/** Resolves once this says so. */
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await sleep(10)
}

t.test('a job that was taken while all slots stay busy is given back', async (t) => {
  const begun: unknown[] = []
  let told = 0
  const slot = Promise.withResolvers<void>()
  const queue = await startRunners({
    url,
    execute: {
      continueTask: 'continue:nobody',
      goOn: async () => {},
      keepSlots() {},
      languages: ['python'],
      isSuspended: false,
      run: (payload) => {
        begun.push(payload)
        return slot.promise
      },
      putBack: async () => {},
      tellReturned: () => {
        told += 1
        return Promise.resolve()
      },
      hearReturned() {},
      requeueLost: async () => {},
      tick() {},
      settled: async () => {},
    },
    executions: 1,
    deliver: async () => {},
    deliveries: 1,
    log: createLog('test', 'silent'),
  })
  const submission = describeSubmission({ code: '' })
  const first = await submitNew(sql, caller, submission)
  await until(() => begun.length === 1)
  const second = await submitNew(sql, caller, submission)
  await until(() => told > 0)
  t.strictSame(begun, [{ submission: first }])
  await until(async () => {
    const [job] = await sql`
      select locked_by is null and attempts = 0 as free from graphile_worker.jobs where key = ${second}`
    return job?.['free'] === true
  })
  slot.resolve()
  await until(() => begun.length === 2)
  t.strictSame(begun[1], { submission: second }, 'it is taken again once there is a slot')
  await queue.stop()
})
