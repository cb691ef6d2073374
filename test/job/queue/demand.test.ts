// A submission that requires a capability, or a checker in another language, waits for a worker that has it.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { readResult } from '#result'
import { openTestDatabase } from '../../helper/database.ts'
import { submitTomorrow, tomorrow } from '../../helper/demand.ts'
import { startExecution } from '../../helper/execution.ts'
import {
  createCaller,
  describeSubmission,
  finalResult,
  submitNew,
} from '../../helper/submission.ts'
import { startWorkerProcess } from '../../helper/worker.ts'

const { sql, url } = await openTestDatabase(t)
const caller = await createCaller(sql)

const worker = await startWorkerProcess(t, url, { LANGUAGES: 'python', SLOTS: '1' })

t.test('a worker leaves what it cannot do, and goes on', async (t) => {
  const demanding = await submitTomorrow(sql, caller, { code: 'print(1)' })
  for (let n = 0; n < 2; n += 1) {
    const plain = await submitNew(sql, caller, describeSubmission({ code: 'print(2)' }))
    t.match(await finalResult(sql, plain), { verdict: 'AC' }, 'others are not held up')
  }
  t.equal((await readResult(sql, demanding))?.status, 'queued')
  t.notOk(worker.logged.includes('worker.suspended'))
  t.equal(await startExecution(sql, demanding, { does: [tomorrow] }), 2)
})

t.test('a submission is begun by no worker that lacks its checker’s language', async (t) => {
  const judged = await submitNew(
    sql,
    caller,
    describeSubmission({
      code: 'print(1)',
      options: {
        tests: [{}],
        checker: { type: 'program', language: 'cpp', code: 'int main() {}' },
      },
    }),
  )
  const plain = await submitNew(sql, caller, describeSubmission({ code: 'print(2)' }))
  t.match(await finalResult(sql, plain), { verdict: 'AC' }, 'others are not held up')
  await sleep(2500)
  const begun = await sql`
    select from runledger.event where stream_id = ${judged} and type <> 'submission.received'`
  t.equal(begun.length, 0)
  t.notOk(worker.logged.includes('worker.suspended'))

  const both = await startWorkerProcess(t, url, { LANGUAGES: 'python,cpp' })
  t.match(await finalResult(sql, judged), { verdict: 'AC', tests: [{ verdict: 'AC' }] })
  const [row] = await sql`
    select worker.pid from audit.execution e join audit.worker worker on worker.id = e.worker_id
    where e.submission_id = ${judged}`
  t.equal(row?.['pid'], both.child.pid)
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
