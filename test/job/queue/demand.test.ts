// A submission that requires a capability waits for a worker that has it.
import t from 'tap'
import { readResult } from '#result'
import { createTestDatabase } from '../../helper/database.ts'
import { submitTomorrow, tomorrow } from '../../helper/demand.ts'
import { startExecution } from '../../helper/execution.ts'
import {
  createCaller,
  describeSubmission,
  finalResult,
  submitNew,
} from '../../helper/submission.ts'
import { startWorkerProcess } from '../../helper/worker.ts'

const { sql, url, drop } = await createTestDatabase()
t.teardown(drop)
const caller = await createCaller(sql)

t.test('a worker leaves what it cannot do, and goes on', async (t) => {
  const worker = await startWorkerProcess(t, url, { LANGUAGES: 'python', SLOTS: '1' })
  const demanding = await submitTomorrow(sql, caller, { code: 'print(1)' })
  for (let n = 0; n < 2; n += 1) {
    const plain = await submitNew(sql, caller, describeSubmission({ code: 'print(2)' }))
    t.match(await finalResult(sql, plain), { verdict: 'AC' }, 'others are not held up')
  }
  t.equal((await readResult(sql, demanding, null))?.status, 'queued')
  t.notOk(worker.logged.includes('worker.suspended'))
  t.equal(await startExecution(sql, demanding, { does: [tomorrow] }), 2)
})

t.test('what a submission demands is in the log', async (t) => {
  const blob = '0'.repeat(64)
  for (const [options, demands] of [
    [{}, null],
    [{ args: ['x'] }, null],
    [{ output_files: [] }, null],
    [{ output_files: ['out.txt'] }, ['output_files']],
    [{ stdin_sha256: blob }, ['blobs']],
    [{ tests: [{ expected_stdout_sha256: blob }] }, ['blobs']],
  ] as const) {
    const id = await submitNew(sql, caller, describeSubmission({ code: '', options }))
    const [received] = await sql`
      select data -> 'demands' as demands from runledger.event where stream_id = ${id}`
    t.strictSame(received?.['demands'], demands)
  }
})
