// A worker that stops does not wait for the check of a large output. The submission is requeued as if it had not run.
import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import type { Executor, Phase } from '#executor'
import { defaultLimits } from '#language'
import { createLog } from '#log'
import { readResult } from '#result'
import { createExecuteTask } from '../../../src/job/execute/execute.ts'
import { createTestDatabase } from '../../helper/database.ts'
import { createCaller, describeSubmission, submitNew } from '../../helper/submission.ts'

const { sql, drop } = await createTestDatabase()
t.teardown(drop)
const caller = await createCaller(sql)

const ran: Phase = {
  ending: 'exited',
  exitCode: 0,
  signal: null,
  usage: { cpuSeconds: 0.25, wallSeconds: 0.5, memoryPeakBytes: 4096 },
  // Too large to be checked without the thread.
  stdout: Buffer.alloc(512 * 1024, 'x'),
  stderr: new Uint8Array(),
  stdoutTruncated: false,
  stderrTruncated: false,
}

/** Returns an executor that calls `onRan` when a program has ended, before its output is judged. */
function pretendExecutor(onRan: () => void): Executor {
  return {
    slots: 1,
    isolation: { box: 'keeper', cgroup: 'v2', uid: 'slot' },
    cores: 1,
    runtimes: { python: { version: 'none', compile: null, run: [] } },
    awaited: {},
    async execute({ runs }) {
      for await (const _ of runs?.inputs ?? []) {
        onRan()
        await runs?.onRun(ran, 0, () => Promise.reject(new Error('no checker')))
      }
      onRan()
      return { compile: null, compileCached: false, run: ran }
    },
    settled: async () => {},
    close: async () => {},
  }
}

const expectedStdout = Buffer.alloc(512 * 1024, 'y')
for (const [what, description] of [
  ['its output', { expectedStdout }],
  ['that of a test', { options: { tests: [{ expected_stdout: expectedStdout.toString() }] } }],
] as const) {
  t.test(`while ${what} is judged`, async (t) => {
    const id = await submitNew(sql, caller, describeSubmission({ code: '', ...description }))
    const shutdown = new AbortController()
    const task = createExecuteTask({
      database: sql,
      executor: pretendExecutor(() => shutdown.abort()),
      limits: defaultLimits,
      log: createLog('test', 'silent'),
      lease: { workerId: uuidv7(), signal: new AbortController().signal },
      shutdown: shutdown.signal,
    })
    await task.run({ submission: id }, 'python')
    await task.settled()
    t.equal((await readResult(sql, id, null))?.status, 'queued')
    const [last] = await sql`
      select type, data from runledger.event where stream_id = ${id} order by stream_version desc limit 1`
    t.match(last, {
      type: 'execution.interrupted',
      data: { reason: 'shutdown', spends_attempt: false },
    })
  })
}
