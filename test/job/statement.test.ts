// The cost of an unwatched submission: this test fails at one more statement, or one more wait for the disk.
import t from 'tap'
import type { Test } from 'tap'
import { openTestDatabase } from '../helper/database.ts'
import { startExecution, completeExecution } from '../helper/execution.ts'
import { startServer } from '../helper/server.ts'
import { startStatementCounter } from '../helper/statement.ts'
import { createCaller, describeSubmission, finalResult, submitNew } from '../helper/submission.ts'
import { startWorkerProcess } from '../helper/worker.ts'

const { sql, url } = await openTestDatabase(t)

// Statements that web and worker send at intervals, and others that no submission causes.
const background =
  /sweep_workers|and is_cancelled|reconcile_queue|renew_worker|register_worker|_partitions|purge_bodies|purge_blobs|check_ledger|count_output|^select 1$|is_available = true|locked_at|delete from "graphile_worker"|pg_catalog|left join runledger\.result r using/

t.test('a submission costs five statements, whether or not somebody waits', async (t) => {
  const counter = await startStatementCounter(url)
  t.teardown(() => counter.close())
  const { call } = await startServer(t, sql, { url: counter.url })
  await startWorkerProcess(t, counter.url)
  const body = { language: 'python', code: 'print(1)' }
  const run = async (): Promise<void> => {
    const answer = await call('POST', '/api/submit?wait=true', { body })
    t.match(answer.body, { verdict: 'AC', stdout: '1\n' })
  }
  await run()
  counter.take()
  let takenAt = performance.now()
  const submissions = 8
  for (let n = 0; n < submissions; n += 1) await run()
  const costs = { receive: submissions, start: submissions, conclude_and_notify: submissions }
  t.strictSame(readCosts(t), costs)

  for (let n = 0; n < submissions; n += 1) {
    const { body: accepted } = await call('POST', '/api/submit', { body })
    await finalResult(sql, accepted.id)
  }
  t.strictSame(readCosts(t), costs)

  function readCosts(t: Test): object {
    const costs = new Map<string, number>()
    for (const [text, count] of counter.take()) {
      if (background.test(text)) continue
      const name = /(?:runledger|job)\.(\w+)\(/.exec(text)?.[1] ?? text
      costs.set(name, (costs.get(name) ?? 0) + count)
    }
    // The key is looked up every ten seconds, whatever happens. graphile-worker's get_job and complete_jobs are not counted,
    // because an idle worker asks for jobs too.
    costs.delete('admit_request')
    // A waiting process also reads the result once a second, which may fall between a completion and its notification. Two
    // looks fit in little more than one second.
    const looks = 1 + (performance.now() - takenAt) / 1000
    takenAt = performance.now()
    t.ok((costs.get('read_result') ?? 0) <= looks, 'no record is read that the end tells of')
    costs.delete('read_result')
    return Object.fromEntries(costs)
  }
})

t.test(
  'receipt and end are waited for to be on disk, a start is not, nor a receipt that only its end tells of',
  async (t) => {
    const caller = await createCaller(sql)
    const durable: string[] = []
    const note = async (work: (inside: typeof sql) => Promise<unknown>): Promise<unknown> => {
      let result: unknown
      await sql.begin(async (transaction) => {
        // A transaction has every method of a pool that is used here.
        result = await work(transaction as unknown as typeof sql)
        const [row] = await transaction`select current_setting('synchronous_commit') as value`
        durable.push(row?.['value'] as string)
      })
      return result
    }
    const submission = describeSubmission({ code: '' })
    await note((inside) => submitNew(inside, caller, submission, { durable: false }))
    const id = await note((inside) => submitNew(inside, caller, submission))
    const version = await note((inside) => startExecution(inside, String(id)))
    await note((inside) => completeExecution(inside, String(id), Number(version)))
    t.strictSame(durable, ['off', 'on', 'off', 'on'])
  },
)
