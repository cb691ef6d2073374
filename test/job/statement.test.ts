// What a submission that nobody watches costs the database: one more statement, or one more wait for the disk, and this is red.
import t from 'tap'
import type { Test } from 'tap'
import { createTestDatabase } from '../helper/database.ts'
import { startExecution, completeExecution } from '../helper/execution.ts'
import { startServer } from '../helper/server.ts'
import { startStatementCounter } from '../helper/statement.ts'
import { createCaller, describeSubmission, finalResult, submitNew } from '../helper/submission.ts'
import { startWorkerProcess } from '../helper/worker.ts'

const { sql, url, drop } = await createTestDatabase()
t.teardown(drop)
t.setTimeout(120_000)

// What web and worker ask by the clock, and what no submission causes.
const background =
  /sweep_workers|find_cancelled|reconcile_queue|renew_worker|register_worker|_partitions|purge_bodies|purge_blobs|check_ledger|count_output|^select 1$|is_available = true|locked_at|delete from "graphile_worker"|pg_catalog|left join runledger\.result r using/

t.test('a submission costs three statements, whether somebody waits or not', async (t) => {
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
  const submissions = 8
  for (let n = 0; n < submissions; n += 1) await run()
  t.strictSame(readCosts(t, submissions), {
    receive: submissions,
    conclude_execution: submissions,
  })

  for (let n = 0; n < submissions; n += 1) {
    const { body: accepted } = await call('POST', '/api/submit', { body })
    await finalResult(sql, accepted.id)
  }
  t.strictSame(readCosts(t, submissions), {
    receive: submissions,
    wake_workers: submissions,
    conclude_execution: submissions,
  })

  function readCosts(t: Test, submissions: number): object {
    const costs = new Map<string, number>()
    for (const [text, count] of counter.take()) {
      if (background.test(text)) continue
      const name = /(?:runledger|job)\.(\w+)\(/.exec(text)?.[1] ?? text
      costs.set(name, (costs.get(name) ?? 0) + count)
    }
    // By the clock too: the key is asked about every ten seconds, and who has nothing to do asks for a job in vain.
    const takes = costs.get('take_several') ?? 0
    t.ok(takes >= submissions, `asked ${takes} times for a job`)
    costs.delete('take_several')
    costs.delete('admit_request')
    // Who waits looks for himself once a second; that may fall between an end and the word of it.
    t.ok((costs.get('read_result') ?? 0) <= 1, 'no record is read that the end tells of')
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
        // A transaction has all of a pool that is used here.
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
    await note((inside) =>
      completeExecution(inside, String(id), Number(version), {}, { inTransaction: true }),
    )
    t.strictSame(durable, ['off', 'on', 'off', 'on'])
  },
)

t.test(
  'a submission that is enqueued anew is one row of the queue, as add_job makes it',
  async (t) => {
    const caller = await createCaller(sql)
    const id = await submitNew(sql, caller, describeSubmission({ code: '' }))
    // What is enqueued anew has its place for good.
    const read = async (): Promise<object> => {
      const [row] = await sql`
      select to_jsonb(j) - '{id,key,payload,run_at,created_at,updated_at}'::text[] as job, j.payload::jsonb - '{account,debt,bytes}'::text[] as payload
      from graphile_worker._private_jobs j where key = ${id}`
      return { ...row }
    }
    const first = await read()
    await sql`select graphile_worker.remove_job(${id})`
    await sql`select job.enqueue_execute(${id})`
    t.strictSame(await read(), first)
    t.match(first, { payload: { submission: id, language: 'python' } })
  },
)
