// graphile-worker's pool outlives its connections, also after failures for which pg's error has no code. Its plans read only
// the first jobs, however many wait, although a connection keeps the plan that it made while the queue was empty.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createLog } from '#log'
import { createQueuePool } from '../../../src/job/queue/pool.ts'
import { openTestDatabase } from '../../helper/database.ts'
import { createCaller, describeSubmission, submitNew } from '../../helper/submission.ts'
import { startTcpProxy } from '../../helper/tcp-proxy.ts'
import { until } from '../../helper/until.ts'

const { sql, url } = await openTestDatabase(t)
const proxy = await startTcpProxy(url)
const { pool, beginRetrying } = createQueuePool(proxy.url, 2, createLog('test', 'silent'))
beginRetrying()
t.teardown(async () => {
  await pool.end()
  await proxy.close()
})

const untilSleeping = (count: number): Promise<void> =>
  until(async () => {
    const rows = await sql`select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'` // prettier-ignore
    return rows.length === count
  })

t.test(
  'a statement whose connection breaks under it is answered when the server is back',
  async (t) => {
    const client = await pool.connect()
    const answer = client.query('select pg_sleep(1), 1 as one')
    await untilSleeping(1)
    await proxy.stop()
    await sleep(500)
    await proxy.restore()
    t.equal((await answer).rows[0].one, 1)
    client.release()
  },
)

t.test('a connection is asked for until there is one', async (t) => {
  await proxy.stop()
  const client = await pool.connect()
  const answer = client.query('select 1 as one')
  await sleep(500)
  await proxy.restore()
  t.equal((await answer).rows[0].one, 1)
  client.release()
})

t.test('more statements than connections fail at once, and all are answered', async (t) => {
  const answers = Array.from({ length: 8 }, async () => {
    const client = await pool.connect()
    const { rows } = await client.query('select pg_sleep(0.5), 1 as one')
    client.release()
    return rows[0].one as number
  })
  await untilSleeping(2)
  await proxy.stop()
  await proxy.restore()
  t.strictSame(await Promise.all(answers), Array(8).fill(1))
})

t.test('a statement that is wrong fails at once', async (t) => {
  const client = await pool.connect()
  await t.rejects(client.query('select nothing'), { code: '42703' })
  client.release()
  t.equal((await pool.query('select 1 as one')).rows[0].one, 1)
})

t.test('a plan that looks dear, as no table is to be read whole, is not compiled', async (t) => {
  const { rows } = await pool.query('select current_setting($1) as jit', ['jit'])
  t.strictSame(rows, [{ jit: 'off' }])
})

t.test('a plan that was made while the queue was empty reads the first jobs alone', async (t) => {
  const { pool } = createQueuePool(url, 1, createLog('test', 'silent'))
  t.teardown(() => pool.end())
  const client = await pool.connect()
  t.teardown(() => client.release())
  // The query of graphile-worker. PostgreSQL decides at the sixth call whether to keep a generic plan.
  await client.query(`
    prepare get_job as select id from graphile_worker._private_jobs
    where is_available and run_at <= now() order by priority, run_at limit 1 for update skip locked`)
  for (let n = 0; n < 8; n += 1) await client.query('execute get_job')
  const caller = await createCaller(sql)
  for (let n = 0; n < 50; n += 1)
    await submitNew(sql, caller, describeSubmission({ code: '' }), { capacity: 1000 })
  const { rows } = await client.query<{ 'QUERY PLAN': string }>('explain execute get_job')
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
  t.match(plan, /Index Scan using \w+main_index/)
  t.notMatch(plan, /Sort|Seq Scan/)
})
