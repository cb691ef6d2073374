// The rows of runledger.pending that a step of one submission reads, with plans that PostgreSQL made while nothing waited.
import t from 'tap'
import type { Database } from '#database'
import { createReceive } from '#enqueue'
import { createId } from '#id'
import { openTestDatabase } from '../helper/database.ts'
import { completeExecution, interrupt, startExecution } from '../helper/execution.ts'
import { countRowsRead } from '../helper/rows-read.ts'
import {
  createCaller,
  describeContext,
  describeSubmission,
  submitNew,
} from '../helper/submission.ts'

const { sql } = await openTestDatabase(t)
const caller = await createCaller(sql)
const program = describeSubmission({ code: 'print(1)' })
const others = 600
const few = 30

type Step = (session: Database) => PromiseLike<unknown>

const countReads = (step: Step): Promise<number> =>
  countRowsRead(sql, 'runledger.pending', (transaction) => step(transaction as Database))

const cancel = (session: Database, id: string): PromiseLike<unknown> =>
  session`select * from runledger.cancel(array[${id}::uuid], ${caller.accountId}, '{"actor": {}}')`

await t.test('it reads its own rows, however many wait', async (t) => {
  await sql`analyze runledger.pending`
  const ids: string[] = []
  for (let n = 0; n < others; n += 1) ids.push(await submitNew(sql, caller, program))
  const [ended, lost, stopped, waiting] = ids.slice(others / 2) as [string, string, string, string]

  const versions: Record<string, number> = {}
  const start = (id: string): [string, Step] => [
    'start',
    async (session) => (versions[id] = (await startExecution(session, id)) ?? 0),
  ]
  const steps: readonly [name: string, step: Step][] = [
    start(ended),
    start(lost),
    start(stopped),
    ['conclude', (session) => completeExecution(session, ended, versions[ended]!)],
    ['interrupt', (session) => interrupt(session, lost, versions[lost]!)],
    ['requeue', (session) => session`select runledger.requeue_jobs(array[${waiting}::uuid])`],
    ['cancel what waits', (session) => cancel(session, waiting)],
    ['cancel what runs', (session) => cancel(session, stopped)],
    ['interrupt what is cancelled', (session) => interrupt(session, stopped, versions[stopped]!)],
  ]
  for (const [name, step] of steps) {
    const read = await countReads(step)
    t.ok(read < few, `${name} read ${read} rows`)
  }
})

await t.test('a batch counts once what its key has admitted', async (t) => {
  await sql`
    insert into runledger.tier (name, concurrent_executions, batch_items) values ('large', 1000, 100)`
  const limited = await createCaller(sql, 'large')
  const { signal } = new AbortController()
  const receiveBatch: Step = (session) => {
    const items = Array.from({ length: 100 }, () => ({ id: createId(), submission: program }))
    return createReceive(session)(items, { ...describeContext(limited), capacity: 10_000 }, signal)
  }
  await receiveBatch(sql)
  await receiveBatch(sql)
  const read = await countReads(receiveBatch)
  t.ok(read < 3000, `read ${read} rows`)
})
