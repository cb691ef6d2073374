// A worker whose sandbox is beyond repair takes no more submissions, and costs those that it had no attempt.
import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { readStream } from '#event'
import { SandboxError } from '#executor'
import type { Executor } from '#executor'
import { defaultLimits } from '#language'
import { createLog } from '#log'
import { createExecuteTask } from '../../../src/job/execute/execute.ts'
import { createTestDatabase } from '../../helper/database.ts'
import { createCaller, describeSubmission, submitNew } from '../../helper/submission.ts'

const { sql, drop } = await createTestDatabase()
t.teardown(drop)
const caller = await createCaller(sql)
const runtime = { version: 'none', compile: null, run: [] }
const { signal } = new AbortController()

function createFailingExecutor(slots: number): Executor {
  return {
    slots,
    isolation: { box: 'keeper', cgroup: 'v2', uid: 'slot' },
    cores: 1,
    runtimes: { python: runtime, cpp: runtime, java: runtime },
    awaited: {},
    execute: () => Promise.reject(new SandboxError('slot.acquire', 'every slot is quarantined')),
    settled: async () => {},
    close: async () => {},
  }
}

async function executeWith(executor: Executor): Promise<{ exhausted: number; last: object }> {
  let exhausted = 0
  const id = await submitNew(sql, caller, describeSubmission({ code: '' }))
  const task = createExecuteTask({
    database: sql,
    executor,
    limits: defaultLimits,
    log: createLog('test', 'silent'),
    lease: { workerId: uuidv7(), signal },
    shutdown: signal,
    onExhausted: () => void (exhausted += 1),
  })
  await task.run({ submission: id }, 'python')
  await task.settled()
  return { exhausted, last: (await readStream(sql, id)).at(-1)! }
}

t.test('with no slot left the worker is told to go, and the run was not the program', async (t) => {
  const { exhausted, last } = await executeWith(createFailingExecutor(0))
  t.equal(exhausted, 1)
  t.match(last, {
    type: 'execution.interrupted',
    data: { reason: 'sandbox_failed', spends_attempt: false, step: 'slot.acquire' },
  })
})

t.test('with a slot left a failure is an attempt spent', async (t) => {
  const { exhausted, last } = await executeWith(createFailingExecutor(1))
  t.equal(exhausted, 0)
  t.match(last, { type: 'execution.interrupted', data: { spends_attempt: true } })
})
