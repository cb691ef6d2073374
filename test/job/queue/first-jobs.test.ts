// Whoever takes a job looks at the first ones, however many wait: PostgreSQL keeps the plan that a worker's connection made
// when nothing waited.
import { v7 as uuidv7 } from 'uuid'
import t from 'tap'
import { createDatabase } from '#database'
import type { Queryable } from '#database'
import { createTestDatabase } from '../../helper/database.ts'
import { createCaller, describeSubmission, submitNew } from '../../helper/submission.ts'

const { sql, url, drop } = await createTestDatabase()
t.teardown(drop)
const worker = uuidv7()
await sql`
  insert into runledger.worker (id, host, pid, slots, languages, lease_seconds)
  values (${worker}, 'test', 1, 1, '{}', 600)`

/** Begins the next. @returns its account, or null. */
async function take(session: Queryable): Promise<string | null> {
  const [row] = await session<{ account_id: string }[]>`
    select account_id from runledger.take_execution(
      ${worker}, ${uuidv7()}, 1, ${sql.json({ worker })}, '{"python": {}}', '{"actor": {}}', '{}'::text[]
    )`
  return row?.account_id ?? null
}

async function enqueue(count: number, language: 'python' | 'lua'): Promise<string> {
  const caller = await createCaller(sql)
  for (let n = 0; n < count; n += 1)
    await submitNew(sql, caller, describeSubmission({ language, code: '' }), { capacity: 1000 })
  return caller.accountId
}

for (const others of ['none', 'some'] as const) {
  t.test(`${others} in another language`, async (t) => {
    await enqueue(others === 'some' ? 1 : 0, 'lua')
    await sql`truncate graphile_worker._private_jobs`
    const session = createDatabase({ url, connections: 1, name: 'test taker' })
    t.teardown(() => session.end({ timeout: 1 }))
    t.equal(await take(session), null)
    const account = await enqueue(200, 'python')
    const rows = await session.begin(async (transaction) => {
      // What the session has not sent to the collector yet, of transactions before too.
      const count = async (): Promise<number> => {
        const [{ read }] = await transaction<[{ read: number }]>`
          select (seq_tup_read + idx_tup_fetch)::integer as read from pg_stat_xact_user_tables
          where relid = 'graphile_worker._private_jobs'::regclass`
        return read
      }
      const before = await count()
      t.equal(await take(transaction), account)
      return (await count()) - before
    })
    t.ok(rows < 20, `${rows} of 200`)
  })
}
