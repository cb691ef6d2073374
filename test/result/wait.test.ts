// Waiting for an end: woken by the notification, or by the next look-up if that is lost.
import { setTimeout as sleep } from 'node:timers/promises'
import { v7 as uuidv7 } from 'uuid'
import t from 'tap'
import { createWaiter } from '#result'
import { createTestDatabase } from '../helper/database.ts'
import { createCaller, describeSubmission, submitNew } from '../helper/submission.ts'

const { sql, drop } = await createTestDatabase()
t.teardown(drop)
const caller = await createCaller(sql)
const errors: unknown[] = []
const waiter = createWaiter(sql, (error) => errors.push(error))
t.teardown(() => waiter.close())

/** Ends a submission as an operator's tool would: started, then lost for good. */
async function end(id: string): Promise<void> {
  const worker = uuidv7()
  const [row] =
    await sql`select version from runledger.start_execution(${id}, ${worker}, 1, ${sql.json({ worker })}, '{}')`
  await sql`
    select runledger.interrupt_execution(
      ${id}, ${row?.['version'] as number}, 1, ${sql.json({ reason: 'sandbox_failed', spends_attempt: true })}, '{}', 1
    )`
}

t.test('the end of an awaited submission wakes its waiters, all of them', async (t) => {
  const id = await submitNew(sql, caller, describeSubmission({ code: '' }), { awaited: true })
  const waits = [waiter.wait(id, 10), waiter.wait(id, 10), waiter.wait(id, 10)]
  t.equal(waiter.waiting, 3)
  await end(id)
  t.strictSame(await Promise.all(waits), [true, true, true])
  t.equal(waiter.waiting, 0)
})

t.test('an end that was never notified is found all the same', async (t) => {
  const id = await submitNew(sql, caller, describeSubmission({ code: '' }), { awaited: false })
  const wait = waiter.wait(id, 10)
  await end(id)
  t.equal(await wait, true)
})

t.test('a broken LISTEN connection is replaced without anybody waiting longer', async (t) => {
  const id = await submitNew(sql, caller, describeSubmission({ code: '' }), { awaited: true })
  const wait = waiter.wait(id, 10)
  await sql`select pg_terminate_backend(pid) from pg_stat_activity where query ilike 'listen%' and datname = current_database()`
  await end(id)
  t.equal(await wait, true)
  const again = await submitNew(sql, caller, describeSubmission({ code: '' }), { awaited: true })
  await sleep(500)
  const [listening] = await sql`
    select count(*) from pg_stat_activity where query ilike 'listen%' and datname = current_database()`
  t.equal(listening?.['count'], 1, 'it listens again')
  await end(again)
})

t.test('a wait ends when its time is up', async (t) => {
  const id = await submitNew(sql, caller, describeSubmission({ code: '' }))
  t.equal(await waiter.wait(id, 0.05), false)
  t.equal(waiter.waiting, 0)
})

t.test('who hangs up is forgotten at once', async (t) => {
  const controller = new AbortController()
  const wait = waiter.wait(uuidv7(), 10, controller.signal)
  t.equal(waiter.waiting, 1)
  controller.abort()
  t.equal(await wait, false)
  t.equal(waiter.waiting, 0)
  t.equal(
    await waiter.wait(uuidv7(), 10, controller.signal),
    false,
    'a signal that has fired counts too',
  )
})

t.test('a thousand waiters hold no connection', async (t) => {
  const [before] =
    await sql`select count(*) from pg_stat_activity where datname = current_database()`
  const waits = Array.from({ length: 1000 }, () => waiter.wait(uuidv7(), 1.5))
  const [during] =
    await sql`select count(*) from pg_stat_activity where datname = current_database()`
  t.equal(during?.['count'], before?.['count'])
  t.equal(waiter.waiting, 1000)
  t.ok((await Promise.all(waits)).every((final) => !final))
  t.strictSame(errors, [])
})
