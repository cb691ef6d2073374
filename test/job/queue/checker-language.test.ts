// A submission whose checker is in another language waits for a worker that has both.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createTestDatabase } from '../../helper/database.ts'
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

t.test('it is begun by none that lacks the checker’s language', async (t) => {
  const pythonAlone = await startWorkerProcess(t, url, { LANGUAGES: 'python' })
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
  t.notOk(pythonAlone.logged.includes('worker.suspended'))

  const both = await startWorkerProcess(t, url, { LANGUAGES: 'python,cpp' })
  t.match(await finalResult(sql, judged), { verdict: 'AC', tests: [{ verdict: 'AC' }] })
  const [row] = await sql`
    select worker.pid from audit.execution e join audit.worker worker on worker.id = e.worker_id
    where e.submission_id = ${judged}`
  t.equal(row?.['pid'], both.child.pid)
})
