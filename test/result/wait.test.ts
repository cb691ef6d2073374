// Waiting for a submission's end: the notification wakes the waiter, or the next look-up if the notification is lost.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { createWaiter, readTrackedResult } from '#result'
import { parseNotification } from '../../src/result/record.ts'
import { openTestDatabase } from '../helper/database.ts'
import { finish, interrupt, startExecution } from '../helper/execution.ts'
import { createCaller, describeSubmission, submitNew } from '../helper/submission.ts'

const { sql } = await openTestDatabase(t)
const caller = await createCaller(sql)
const errors: unknown[] = []
const waiter = createWaiter(sql, (error) => errors.push(error))
t.teardown(() => waiter.close())
/** Seconds that no test waits: an end that nobody hears of lets the test run out of time. */
const long = 3600

/** Starts a submission and interrupts it for good, as an operator's tool would. */
async function end(id: string): Promise<void> {
  const version = await startExecution(sql, id)
  await interrupt(sql, id, Number(version), undefined, { isLast: true })
}

t.test('the end of an awaited submission wakes its waiters, all of them', async (t) => {
  const id = await submitNew(sql, caller, describeSubmission({ code: '' }), {
    waiter: waiter.channel,
  })
  const waits = [waiter.wait(id, long), waiter.wait(id, long), waiter.wait(id, long)]
  t.equal(waiter.waiting, 3)
  await end(id)
  await Promise.all(waits)
  t.equal(waiter.waiting, 0)
})

t.test('the notification is the very record that would be read, where it fits', async (t) => {
  const heard: string[] = []
  const { unlisten } = await sql.listen('told', (text) => heard.push(text))
  const large = 'x'.repeat(65_536)
  const outputs = [
    '',
    'hello\n',
    Buffer.from([0x66, 0xff, 0, 0xc3]),
    '\ufeffé"\\'.repeat(200),
    large,
  ]
  const webhook = { url: 'https://example.com/hook', secret: 'secret' }
  for (const stdout of outputs) {
    const submission = describeSubmission({ code: '', webhook })
    const id = await submitNew(sql, caller, submission, { waiter: 'told' })
    await finish(sql, id, { stdout, stderr: 'e' })
    while (heard.length === 0) await sleep(5)
    const told = parseNotification(heard.pop() ?? '')
    const record = await readTrackedResult(sql, id, caller.accountId)
    t.strictSame(told, stdout === large ? { id } : { id, record })
    t.match(record, { id, status: 'completed', webhook: { state: 'pending' } })
  }
  await unlisten()
})

t.test('where another process comes to wait, both are told', async (t) => {
  const other = createWaiter(sql, (error) => errors.push(error))
  t.teardown(() => other.close())
  t.not(other.channel, waiter.channel)
  const context = { waiter: waiter.channel }
  const id = await submitNew(sql, caller, describeSubmission({ code: '' }), context)
  const waits = [waiter.wait(id, long), other.wait(id, long)]
  for (let n = 0; n < 2; n += 1)
    await sql`select runledger.await_submissions(${[id]}::uuid[], ${other.channel})`
  const [row] = await sql`select waiters from runledger.pending where submission_id = ${id}`
  t.strictSame(row?.['waiters'], [waiter.channel, other.channel])
  await finish(sql, id)
  await Promise.all(waits)
})

t.test('what is no record is an error, and nobody is woken by it', async (t) => {
  const id = uuidv7()
  const wait = waiter.wait(id, long)
  await sql`select pg_notify(${waiter.channel}, ${'{"id": '})`
  while (errors.length === 0) await sleep(10)
  t.equal(errors.splice(0).length, 1)
  t.equal(waiter.waiting, 1)
  waiter.forget(id)
  await wait
})

t.test('a channel is told to nobody who could listen to it', async (t) => {
  const context = { waiter: waiter.channel }
  const id = await submitNew(sql, caller, describeSubmission({ code: '' }), context)
  await sql`update runledger.pending set api_key_id = ${uuidv7()} where submission_id = ${id}`
  const drift = await sql`select to_jsonb(d)::text as row from audit.drift d`
  t.equal(drift.length, 1)
  t.notMatch(drift[0]?.['row'], waiter.channel)
  await sql`delete from runledger.pending where submission_id = ${id}`
})

t.test('an end that was never notified is found all the same', async (t) => {
  const id = await submitNew(sql, caller, describeSubmission({ code: '' }))
  const wait = waiter.wait(id, long)
  await end(id)
  t.equal(await wait, undefined, 'the record is to be read')
})

t.test('a broken LISTEN connection is replaced without anybody waiting longer', async (t) => {
  const id = await submitNew(sql, caller, describeSubmission({ code: '' }), {
    waiter: waiter.channel,
  })
  const wait = waiter.wait(id, long)
  await sql`select pg_terminate_backend(pid) from pg_stat_activity where query ~ '^(un)?listen' and datname = current_database()`
  await end(id)
  await wait
  t.equal(waiter.waiting, 0)
  const again = await submitNew(sql, caller, describeSubmission({ code: '' }), {
    waiter: waiter.channel,
  })
  const isListening = async (): Promise<boolean> => {
    const [row] = await sql`
      select count(*) from pg_stat_activity where query ~ '^(un)?listen' and datname = current_database()`
    return row?.['count'] === 1
  }
  while (!(await isListening())) await sleep(50)
  await end(again)
})

t.test('who waits for what was not stored after all is let go', async (t) => {
  const [id, other] = [uuidv7(), uuidv7()]
  const waits = [waiter.wait(id, long), waiter.wait(other, long)]
  waiter.forget(id)
  t.equal(await waits[0], undefined)
  t.equal(waiter.waiting, 1, 'and nobody else')
  waiter.forget(other)
  t.strictSame(errors, [], 'nothing went wrong in all of these')
})
