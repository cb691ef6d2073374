// Free slots that ask at once share a statement: each has a job of its own, in order, and what stands in the way of one
// keeps no other one waiting.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { createDatabase } from '#database'
import type { Database } from '#database'
import { readStream } from '#event'
import { defaultLimits } from '#language'
import { createLog } from '#log'
import { createStarter } from '../../../src/job/execute/attempt.ts'
import type { AttemptDependencies, Starter } from '../../../src/job/execute/attempt.ts'
import { createTestDatabase } from '../../helper/database.ts'
import { startStatementCounter } from '../../helper/statement.ts'
import { createCaller, describeSubmission, submitNew } from '../../helper/submission.ts'

const { sql, url, drop } = await createTestDatabase()
t.teardown(drop)
const counter = await startStatementCounter(url)
const database = createDatabase({ url: counter.url, connections: 4, name: 'test worker' })
t.teardown(async () => {
  await database.end({ timeout: 1 })
  await counter.close()
})
const caller = await createCaller(sql)
await sql`select graphile_worker.add_job('execute')`

t.beforeEach(async () => {
  await sql`delete from graphile_worker._private_jobs`
})

/** A worker's starter; what it has begun is under way. */
async function createTaker(through: Database = database): Promise<Starter> {
  const workerId = uuidv7()
  await sql`
    insert into runledger.worker (id, host, pid, slots, languages, lease_seconds)
    values (${workerId}, 'test', 1, 1, '{}', 60)`
  const { signal } = new AbortController()
  const dependencies = {
    database: through,
    executor: { runtimes: { python: { version: 'Python 3' } }, isolation: {} },
    limits: defaultLimits,
    log: createLog('test', 'silent'),
    lease: { workerId, signal },
    shutdown: signal,
  } as unknown as AttemptDependencies
  return createStarter(dependencies, [])
}

async function submitMany(count: number): Promise<string[]> {
  const ids = []
  for (let n = 0; n < count; n += 1)
    ids.push(await submitNew(sql, caller, describeSubmission({ code: `print(${n})` })))
  return ids
}

/** Of as many slots at once: the submission that each was given, null for none, or its error's message. */
async function takeTogether(starter: Starter, slots: number): Promise<(string | null)[]> {
  counter.take()
  return Promise.all(
    Array.from({ length: slots }, () =>
      starter.take().then(
        (taken) => taken?.attempt.submission ?? null,
        (error: unknown) => String(error),
      ),
    ),
  )
}

function countTakes(): number {
  return [...counter.take()]
    .filter(([text]) => text.includes('take_several'))
    .reduce((sum, [, count]) => sum + count, 0)
}

t.test('slots that ask at once are each given a job, in few statements, in order', async (t) => {
  const starter = await createTaker()
  const ids = await submitMany(14)
  const taken = await takeTogether(starter, 16)
  t.ok(countTakes() <= 6)
  t.strictSame(new Set(taken), new Set([...ids, null]))
  t.equal(taken.filter((id) => id === null).length, 2)
  const statements = await sql<{ begun: string[] }[]>`
    select array_agg(stream_id::text order by position) as begun from runledger.event
    where stream_id = any (${ids}) and type = 'execution.started' group by xmin::text`
  // Two may run beside each other; each keeps the order.
  for (const { begun } of statements)
    t.strictSame(
      begun,
      ids.filter((id) => begun.includes(id)),
    )
  for (const id of ids) t.equal((await readStream(sql, id)).length, 2)
})

t.test('a job that cannot be begun is told to one slot alone', async (t) => {
  const starter = await createTaker()
  const ids = await submitMany(6)
  await sql`
    update graphile_worker._private_jobs set payload = '{}' where key = ${ids[4] ?? ''}`
  const taken = await takeTogether(starter, 5)
  t.strictSame(
    new Set(taken.filter((id) => id !== null && ids.includes(id))),
    new Set(ids.slice(0, 4)),
  )
  t.match(
    taken.filter((id) => !ids.includes(id ?? '')),
    [/names no language/],
  )
})

t.test('answers that are lost together are handed out one by one', async (t) => {
  let losses = 0
  const losing = (async (...statement: Parameters<Database>) => {
    const rows: unknown = await database(...statement)
    losses += 1
    // Two alone, and three together.
    if (losses > 3) return rows
    throw Object.assign(new Error('the answer is lost'), { code: 'CONNECTION_CLOSED' })
  }) as unknown as Database
  const ids = await submitMany(5)
  const taken = await takeTogether(await createTaker(losing), 5)
  t.strictSame(new Set(taken), new Set(ids))
  for (const id of ids)
    t.strictSame(
      (await readStream(sql, id)).map(({ type }) => type),
      ['submission.received', 'execution.started'],
    )
})

t.test('a job that has to wait for a lock keeps no other one waiting', async (t) => {
  // The first of several, and one behind it.
  for (const held of [2, 4]) {
    const starter = await createTaker()
    const ids = await submitMany(6)
    const { asked } = await sql.begin(async (transaction) => {
      // As one who cancels it: its next event is not committed yet.
      await transaction`
        select runledger.append_event(${ids[held] ?? ''}, 2, 'submission.cancel_requested', 1, '{}', '{}')`
      const asked = takeTogether(starter, 6)
      for (const id of ids.filter((_, n) => n !== held))
        while ((await readStream(sql, id)).length < 2) await sleep(10)
      return { asked }
    })
    const taken = (await asked).filter((id) => ids.includes(id ?? ''))
    t.strictSame(new Set(taken), new Set(ids.filter((_, n) => n !== held)))
  }
})

t.test('large ones do not come together', async (t) => {
  const starter = await createTaker()
  const ids = []
  for (let n = 0; n < 6; n += 1)
    ids.push(
      await submitNew(
        sql,
        caller,
        describeSubmission({ code: 'print(1)', stdin: 'x'.repeat(100_000) }),
      ),
    )
  t.strictSame(new Set(await takeTogether(starter, 6)), new Set(ids))
  const statements = await sql<{ count: number }[]>`
    select count(*) from runledger.event
    where stream_id = any (${ids}) and type = 'execution.started' group by xmin::text`
  t.ok(statements.every(({ count }) => count <= 2))
})
