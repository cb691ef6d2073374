// How the database decides which submission is next when one is between two tests.
import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import type { Caller } from '#account'
import { openTestDatabase } from '../../helper/database.ts'
import { interrupt, startAttempt } from '../../helper/execution.ts'
import { createCaller, describeSubmission, submitNew } from '../../helper/submission.ts'

const { sql } = await openTestDatabase(t)
const python = describeSubmission({ code: 'print(1)' })
const low = { ...python, priority: 'low' } as const
const java = { ...python, language: 'java' } as const
const second = 1_000_000
/** The estimated time of an account's program before any has ended. */
const unknown = second / 10
let workerId = ''

t.beforeEach(async () => {
  await sql`select graphile_worker.complete_jobs(array(select id from graphile_worker.jobs))`
  await sql`delete from runledger.pending`
  workerId = uuidv7()
  await sql`select runledger.register_worker(${workerId}, 'here', 1, 2, '{}', 30)`
})

interface Running {
  readonly id: string
  readonly run: string
  readonly version: number
}

async function begin(caller: Caller, submission = python): Promise<Running> {
  const id = await submitNew(sql, caller, submission)
  const attempt = await startAttempt(sql, id, { workerId })
  if (attempt === null) throw new Error('it is not started')
  return { id, ...attempt }
}

async function lend({ id, run }: Running, seconds: number, offers = ['python']): Promise<boolean> {
  const [row] = await sql<[{ lent: boolean }]>`
    select runledger.lend_slot(${id}, ${run}, ${seconds}, ${sql.json(offers)}, '[]') as lent`
  return row.lent
}

async function readPosition({ id }: { readonly id: string }): Promise<number | null> {
  const [row] = await sql<{ position: number | null }[]>`
    select position from runledger.pending where submission_id = ${id}`
  return row?.position ?? null
}

/** Returns the ids of the submissions that wait for a slot, in the order of the queue. */
async function listWaiting(): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select payload ->> 'submission' as id
    from graphile_worker._private_jobs where key is not null and (
      key like 'continue:%' or exists (select from runledger.pending p where p.submission_id::text = key and not p.is_running)
    )
    order by priority, run_at`
  return rows.map(({ id }) => id)
}

t.test('beside nobody, or its own account, it keeps its slot and pays nothing', async (t) => {
  const caller = await createCaller(sql)
  const running = await begin(caller)
  t.notOk(await lend(running, 5))
  await submitNew(sql, caller, python)
  t.notOk(await lend(running, 5))
  t.equal(await readPosition(running), unknown)
})

t.test('another account goes first, and then it goes on', async (t) => {
  const [busy, other] = [await createCaller(sql), await createCaller(sql)]
  const running = await begin(busy)
  const own = await submitNew(sql, busy, python)
  const waiting = await submitNew(sql, other, python)
  t.ok(await lend(running, 5))
  t.equal(await readPosition(running), unknown + 5 * second)
  t.strictSame(new Set((await listWaiting()).slice(0, 2)), new Set([own, waiting]))
  t.equal((await listWaiting())[2], running.id)
  t.ok(await lend(running, 5), 'asked again it waits as before')
  t.equal(await readPosition(running), unknown + 5 * second)
  t.equal((await listWaiting()).length, 3)

  const next = await submitNew(sql, other, python)
  t.ok(Number(await readPosition({ id: next })) < 5 * second, 'the time is not where it waits')
  await sql`select runledger.take_slot(${running.id}, ${running.run})`
  t.notOk((await listWaiting()).includes(running.id))
  const late = await submitNew(sql, await createCaller(sql), python)
  t.equal(await readPosition({ id: late }), 2 * unknown + 5 * second, 'but where it runs')
})

t.test('the account pays for all that it has under way, by its weight', async (t) => {
  await sql`insert into runledger.tier (name, weight) values ('weight4', 4)`
  const busy = await createCaller(sql, 'weight4')
  const running = [await begin(busy), await begin(busy)] as const
  await submitNew(sql, await createCaller(sql), python)
  t.ok(await lend(running[0], 8))
  t.ok(await lend(running[1], 8))
  t.equal(await readPosition(running[1]), (unknown * 2) / 4 + 4 * second)
})

t.test('what waits at a later position is only counted', async (t) => {
  const busy = await createCaller(sql)
  const running = await begin(busy)
  const id = await submitNew(sql, await createCaller(sql), python)
  await sql`update runledger.pending set position = ${4 * second} where submission_id = ${id}`
  t.notOk(await lend(running, 3))
  t.equal(await readPosition(running), unknown + 3 * second)
  t.ok(await lend(running, 3))
})

t.test('what is parked waits for a slot like what is queued', async (t) => {
  const running = [
    await begin(await createCaller(sql)),
    await begin(await createCaller(sql)),
  ] as const
  t.notOk(await lend(running[0], 1))
  await submitNew(sql, await createCaller(sql), java)
  t.notOk(await lend(running[0], 1), 'another language is no reason')
  t.ok(await lend(running[0], 1, ['python', 'java']))
  t.notOk(await lend(running[1], 0.5), 'it waits at a later position')
  t.ok(await lend(running[1], 5))
})

t.test('low ones come last, and take turns', async (t) => {
  const [busy, other] = [await createCaller(sql), await createCaller(sql)]
  const usual = await begin(busy)
  const running = await begin(busy, low)
  t.notOk(await lend(running, 1))
  const later = await submitNew(sql, other, low)
  t.notOk(await lend(usual, 1), 'a low one is no reason')
  t.ok(await lend(running, 1))
  t.equal(await readPosition(running), null)
  t.strictSame(await listWaiting(), [later, running.id])
  await sql`select runledger.take_slot(${running.id}, ${running.run})`
  await sql`select runledger.cancel(array[${later}::uuid], ${other.accountId}, '{}')`
  t.notOk(await lend(running, 1))
  await submitNew(sql, busy, python)
  t.ok(await lend(running, 1), 'its own account has one that is not low')
})

t.test(
  'a worker that is to take nothing lends nothing, nor what is cancelled or lost',
  async (t) => {
    const busy = await createCaller(sql)
    const running = await begin(busy)
    await submitNew(sql, await createCaller(sql), python)
    await sql`update runledger.worker set wanted = 'paused' where id = ${workerId}`
    t.notOk(await lend(running, 5))
    await sql`update runledger.worker set wanted = 'working' where id = ${workerId}`
    t.notOk(await lend({ ...running, run: uuidv7() }, 5))
    t.ok(await lend(running, 5))
    await interrupt(sql, running.id, running.version)
    t.notOk(await lend(running, 5))
    t.equal((await sql`select from runledger.pending where is_parked`).length, 0)
    await sql`select runledger.reconcile_queue()`
    const left = sql`select from graphile_worker.jobs where task_identifier = ${`continue:${workerId}`}`
    t.equal((await left).length, 1, 'the worker lives')
    await sql`select runledger.stop_worker(${workerId})`
    await sql`select runledger.reconcile_queue()`
    t.equal(
      (
        await sql`select from graphile_worker.jobs where task_identifier = ${`continue:${workerId}`}`
      ).length,
      0,
    )
  },
)
