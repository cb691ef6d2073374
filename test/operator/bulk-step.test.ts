// A step of an operator's bulk action: the database fails during it, its caller has gone, or a submission has changed.
import t from 'tap'
import type { Database } from '#database'
import { countBulk, takeBulkStep } from '#operator'
import type { BulkRequest } from '#operator'
import { openTestDatabase } from '../helper/database.ts'
import { addPast } from '../helper/history.ts'
import { countRowsRead } from '../helper/rows-read.ts'
import { createCaller, describeSubmission, submitNew } from '../helper/submission.ts'

const { sql } = await openTestDatabase(t)

const metadata = { actor: { operator: 'test' } } as const
const nobody = new AbortController().signal

/** Returns the database, which calls `act` before each statement that cancels, with the statement's number from 1. */
function before(act: (nth: number) => Promise<void> | void): Database {
  let nth = 0
  return new Proxy(sql, {
    apply(target, self, parameters: Parameters<typeof sql>) {
      const isCancel = String(parameters[0]).includes('runledger.cancel(')
      if (!isCancel) return Reflect.apply(target, self, parameters) as unknown
      nth += 1
      return (async () => {
        await act(nth)
        return (await Reflect.apply(target, self, parameters)) as unknown
      })()
    },
  })
}

async function submitSome(
  count: number,
): Promise<{ readonly ids: string[]; readonly request: BulkRequest }> {
  const caller = await createCaller(sql)
  const ids: string[] = []
  for (let n = 0; n < count; n += 1)
    ids.push(await submitNew(sql, caller, describeSubmission({ code: '' })))
  const [{ account, until }] = await sql<[{ account: string; until: string }]>`
    select name as account, (now() + interval '1 s')::text as until from runledger.account where id = ${caller.accountId}`
  const filter = { account, until }
  return { ids, request: { action: 'cancel', filter } }
}

const countCancelled = async (ids: readonly string[]): Promise<number> =>
  (
    await sql`select from runledger.submission where id = any (${[...ids]}) and status = 'cancelled'`
  ).length

const step = (database: Database, request: BulkRequest, signal = nobody) =>
  takeBulkStep(database, request, 1000, metadata, signal)

t.test('a failure ends a step with what was done before, and the next goes on', async (t) => {
  const { ids, request } = await submitSome(4)
  const failing = before((nth) => {
    if (nth === 3) throw new Error('away')
  })
  const first = await step(failing, request)
  const skipped = { done: 0, purged: 0, not_offered: 0 }
  t.strictSame(first, { count: 2, skipped, next: ids[1], busy: false })
  t.equal(await countCancelled(ids), 2)
  t.match(await step(sql, { ...request, after: first.next }), { count: 2, next: null })
  t.equal(await countCancelled(ids), 4)
})

t.test('a failure at once is told, as nothing was done', async (t) => {
  const { ids, request } = await submitSome(2)
  const failing = before(() => {
    throw new Error('away')
  })
  await t.rejects(step(failing, request), { message: 'away' })
  await t.rejects(step(failing, { ...request, after: ids[0] ?? '' }), { message: 'away' })
  t.equal(await countCancelled(ids), 0)
})

t.test('once nobody waits for it nothing more is begun', async (t) => {
  const { ids, request } = await submitSome(4)
  const aborter = new AbortController()
  const leaving = before((nth) => {
    if (nth === 2) aborter.abort(new Error('gone'))
  })
  await t.rejects(step(leaving, request, aborter.signal), { message: 'gone' })
  t.equal(await countCancelled(ids), 2, 'what was under way is done')
})

t.test('what has changed since it was found is passed over, and not counted', async (t) => {
  const { ids, request } = await submitSome(3)
  const racing = before(async (nth) => {
    if (nth !== 1) return
    await sql`
      select runledger.cancel(array[id], account_id, '{"actor": {}}') from runledger.submission where id = ${ids[1] ?? ''}`
  })
  t.match(await step(racing, request), { count: 2, next: null })
  t.equal(await countCancelled(ids), 3)
})

t.test('a step late in a long history reads only what it looks at', async (t) => {
  await addPast(
    sql,
    Array.from({ length: 20_000 }, (_, n) => ({ age: 30_000 - n, begun: 1, ended: 2 })),
  )
  await sql`analyze runledger.result`
  const [{ after, until }] = await sql<[{ after: string; until: string }]>`
    select id as after, now()::text as until from runledger.result order by id offset 14_000 limit 1`
  const filter = { since: '2020-01-01T00:00:00Z', until }
  let count = 0
  const read = await countRowsRead(sql, 'runledger.result', async (transaction) => {
    const request = { action: 'rerun', filter, after, campaign: 'again' } as const
    ;({ count } = await countBulk(transaction as Database, request))
  })
  t.equal(count, 5000)
  t.ok(read < 12_000, `read ${read} rows`)
})
