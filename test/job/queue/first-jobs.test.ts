// Whoever takes a job looks at the first ones, however many wait: PostgreSQL keeps the plan that a worker's connection made
// when nothing waited.
import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { createDatabase } from '#database'
import type { Queryable } from '#database'
import { createTestDatabase } from '../../helper/database.ts'
import { countRowsRead } from '../../helper/rows-read.ts'
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
    select account_id from runledger.take_several(
      ${worker}, array[${uuidv7()}], 1, ${sql.json({ worker })}, '{"python": {}}', '{"actor": {}}', '{}'::text[]
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
    const rows = await countRowsRead(session, 'graphile_worker._private_jobs', async (taker) => {
      t.equal(await take(taker), account)
    })
    t.ok(rows < 20, `${rows} of 200`)
  })
}
