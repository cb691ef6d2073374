// Completions that are stored together: each is stored or refused by itself, as it would be alone, and waiters are notified.
import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import type { Caller } from '#account'
import { createDatabase } from '#database'
import { readResult } from '#result'
import { createConclude } from '../../../src/job/execute/conclude.ts'
import type { End } from '../../../src/job/execute/conclude.ts'
import { openTestDatabase } from '../../helper/database.ts'
import { interrupt, startExecution } from '../../helper/execution.ts'
import { findBroken } from '../../helper/ledger.ts'
import { startStatementCounter } from '../../helper/statement.ts'
import { createCaller, describeSubmission, submitNew } from '../../helper/submission.ts'

const { sql, url } = await openTestDatabase(t)
const counter = await startStatementCounter(url)
const worker = createDatabase({ url: counter.url, connections: 4, name: 'test worker' })
t.teardown(async () => {
  await worker.end({ timeout: 1 })
  await counter.close()
})
const conclude = createConclude(worker, worker)
const caller = await createCaller(sql)

/** Starts a submission. @returns its completion, which is not stored yet. */
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

/** Stores all completions at once. @returns the refusal of each, or null. */
async function concludeTogether(ends: readonly End[]): Promise<(string | null)[]> {
  // Opens all connections first, so that their first statements are not counted.
  await Promise.all(Array.from({ length: 4 }, () => worker`select pg_sleep(0.05)`))
  counter.take()
  return Promise.all(ends.map(conclude))
}

t.afterEach(async () => {
  t.strictSame(await findBroken(sql), [])
})

t.test('sixteen at once share statements, and each has its own end', async (t) => {
  const ends = await beginMany(16)
  t.strictSame(await concludeTogether(ends), Array(16).fill(null))
  t.ok(counter.takeCalls('conclude') < 8)
  for (const { submission } of ends) {
    t.match(await readResult(sql, submission), {
      status: 'completed',
      verdict: 'AC',
      stdout: submission,
    })
    const [output] =
      await sql`select stderr from runledger.output where submission_id = ${submission}`
    t.strictSame(output?.['stderr'], Buffer.from([0, 255]))
  }
})

t.test('an attempt that was given up is refused alone', async (t) => {
  const ends = await beginMany(12)
  const [, , , taken, , , lost, stopped] = ends
  if (taken === undefined || lost === undefined || stopped === undefined)
    throw new Error('there are twelve')
  await interrupt(sql, taken.submission, taken.version)
  const instead = new Map([
    [lost, { ...lost, run: uuidv7() }],
    [stopped, { ...stopped, data: { exit_code: 137 } }],
  ])
  const refusals = new Map([
    [taken, 'superseded'],
    [lost, 'start_lost'],
    [stopped, 'no_verdict'],
  ])
  t.strictSame(
    await concludeTogether(ends.map((end) => instead.get(end) ?? end)),
    ends.map((end) => refusals.get(end) ?? null),
  )
  t.match(await readResult(sql, lost.submission), { status: 'running' })
  const kept = await sql<{ id: string }[]>`
    select submission_id as id from runledger.output
    where submission_id = any (${ends.map(({ submission }) => submission)}) order by submission_id`
  t.strictSame(
    kept.map(({ id }) => id),
    ends
      .filter((end) => !refusals.has(end))
      .map(({ submission }) => submission)
      .toSorted(),
  )
})

t.test('an end whose answer was lost is known again, and nothing is written twice', async (t) => {
  const ends = await beginMany(3)
  const [, cancelled] = ends
  await sql`select runledger.cancel(array[${String(cancelled?.submission)}::uuid], ${caller.accountId}, '{"actor": {}}')`
  t.strictSame(await concludeTogether(ends), [null, null, null])
  const read = async (): Promise<unknown> => [
    ...(await sql`select stream_version, type, hash from runledger.event order by position`),
  ]
  const before = await read()
  const again = ends.map((end) => ({ ...end, bodies: { ...end.bodies, stdout: Buffer.from('') } }))
  t.strictSame(await concludeTogether(again), ['stored', 'stored', 'stored'])
  t.strictSame(await read(), before)
  t.match(await readResult(sql, String(cancelled?.submission)), {
    status: 'cancelled',
    stdout: cancelled?.submission,
  })
})

t.test('one that cannot be stored keeps no other from it', async (t) => {
  const ends = await beginMany(6)
  const ended = ends.map((end, n) =>
    conclude(n === 3 ? { ...end, data: { verdict: 'no such' } } : end),
  )
  const settled = await Promise.allSettled(ended)
  t.strictSame(
    settled.map(({ status }) => status),
    ends.map((_, n) => (n === 3 ? 'rejected' : 'fulfilled')),
  )
})

t.test('what a refused end brings overwrites no other end of its submission', async (t) => {
  const ends = await beginMany(12)
  const both = ends.flatMap((end) => [
    { ...end, run: uuidv7(), bodies: { ...end.bodies, stdout: Buffer.from('stale') } },
    end,
  ])
  t.strictSame(
    await concludeTogether(both),
    both.map(({ run }) => (ends.some((end) => end.run === run) ? null : 'start_lost')),
  )
  for (const { submission } of ends)
    t.match(await readResult(sql, submission), { verdict: 'AC', stdout: submission })
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

t.test(
  'a result that takes longer to store than other statements may take is stored',
  async (t) => {
    const quick = createDatabase({ url, connections: 1, name: 'quick', statementSeconds: 0.05 })
    t.teardown(() => quick.end({ timeout: 1 }))
    const end = await begin()
    const large = { ...end, bodies: { ...end.bodies, stdout: Buffer.alloc(24 * 1024 * 1024, 'a') } }
    await t.rejects(createConclude(quick, quick)(large))
    t.equal(await createConclude(quick, worker)(large), null)
    t.match(await readResult(sql, end.submission), { status: 'completed', verdict: 'AC' })
  },
)
