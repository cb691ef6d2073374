// Ends that are told together: each is stored or refused by itself, as it would be alone, and who waits is told.
import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import type { Caller } from '#account'
import { createDatabase, errorCode } from '#database'
import { readResult } from '#result'
import { conclude } from '../../../src/job/execute/conclude.ts'
import type { End } from '../../../src/job/execute/conclude.ts'
import { createTestDatabase } from '../../helper/database.ts'
import { startExecution } from '../../helper/execution.ts'
import { startStatementCounter } from '../../helper/statement.ts'
import { createCaller, describeSubmission, submitNew } from '../../helper/submission.ts'

const { sql, url, drop } = await createTestDatabase()
t.teardown(drop)
const counter = await startStatementCounter(url)
const worker = createDatabase({ url: counter.url, connections: 4, name: 'test worker' })
t.teardown(async () => {
  await worker.end({ timeout: 1 })
  await counter.close()
})
const caller = await createCaller(sql)

/** A submission that runs, and its end. */
async function begin(waiter: string | null = null, by: Caller = caller): Promise<End> {
  const submission = await submitNew(sql, by, describeSubmission({ code: '' }), { waiter })
  const version = await startExecution(sql, submission)
  const [started] = await sql<[{ run: string }]>`
    select data ->> 'run' as run from runledger.event where stream_id = ${submission} and type = 'execution.started'`
  return {
    submission,
    version: Number(version),
    run: started.run,
    data: { verdict: 'AC', exit_code: 0, slot_seconds: 0 },
    metadata: { actor: { worker: caller.apiKeyId } },
    bodies: {
      stdout: Buffer.from(submission),
      stderr: Buffer.from([0, 255]),
      compileOutput: null,
      report: null,
    },
  }
}

function beginMany(count: number, waiter?: string): Promise<End[]> {
  return Promise.all(Array.from({ length: count }, () => begin(waiter)))
}

/** The first two go alone; of each the error's code, or null. */
async function concludeTogether(ends: readonly End[]): Promise<(string | null | undefined)[]> {
  // Connections are there, and what is asked of each was asked.
  await Promise.all(Array.from({ length: 4 }, () => worker`select pg_sleep(0.05)`))
  counter.take()
  return Promise.all(
    ends.map((end) =>
      conclude(worker, end).then(
        () => null,
        (error: unknown) => errorCode(error),
      ),
    ),
  )
}

function countCalls(name: string): number {
  return [...counter.take()].reduce(
    (sum, [text, n]) => sum + (text.includes(`.${name}(`) ? n : 0),
    0,
  )
}

t.afterEach(async () => {
  t.strictSame([...(await sql`select * from audit.broken_chain`)], [])
  t.strictSame([...(await sql`select * from audit.drift`)], [])
})

t.test('sixteen at once share statements, and each has its own end', async (t) => {
  const ends = await beginMany(16)
  t.strictSame(await concludeTogether(ends), Array(16).fill(null))
  t.ok(countCalls('conclude_execution') < 8, 'not everything was repeated')
  for (const { submission } of ends) {
    t.match(await readResult(sql, submission, null), {
      status: 'completed',
      verdict: 'AC',
      stdout: submission,
    })
    const [body] = await sql`select stderr from runledger.body where submission_id = ${submission}`
    t.strictSame(body?.['stderr'], Buffer.from([0, 255]))
  }
})

t.test('an attempt that was given up is refused alone', async (t) => {
  const ends = await beginMany(12)
  const [, , , taken, , , lost] = ends
  if (taken === undefined || lost === undefined) throw new Error('there are twelve')
  await conclude(sql, taken)
  const without = { ...lost, run: uuidv7() }
  const codes = await concludeTogether(ends.map((end) => (end === lost ? without : end)))
  t.strictSame(
    codes,
    ends.map((end) => (end === taken ? '23505' : end === lost ? 'RL006' : null)),
  )
  t.match(await readResult(sql, lost.submission, null), { status: 'running' })
})

t.test('what a refused end brings overwrites no other end of its submission', async (t) => {
  const ends = await beginMany(12)
  const both = ends.flatMap((end) => [
    { ...end, run: uuidv7(), bodies: { ...end.bodies, stdout: Buffer.from('stale') } },
    end,
  ])
  t.strictSame(
    await concludeTogether(both),
    both.map(({ run }) => (ends.some((end) => end.run === run) ? null : 'RL006')),
  )
  for (const { submission } of ends)
    t.match(await readResult(sql, submission, null), { verdict: 'AC', stdout: submission })
})

t.test('who waits is told of each', async (t) => {
  const heard: string[] = []
  const { unlisten } = await sql.listen('web', (payload) => {
    heard.push((JSON.parse(payload) as { id: string }).id)
  })
  const ends = await beginMany(12, 'web')
  await concludeTogether(ends)
  while (heard.length < ends.length) await sql`select pg_sleep(0.01)`
  t.strictSame(heard.toSorted(), ends.map(({ submission }) => submission).toSorted())
  await unlisten()
})
