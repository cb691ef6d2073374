// Taking a job reads only the first jobs, however many wait, although PostgreSQL keeps the plan that a worker's connection
// made while the queue was empty.
import t from 'tap'
import { createLog } from '#log'
import { createQueuePool } from '../../../src/job/queue/pool.ts'
import { createTestDatabase } from '../../helper/database.ts'
import { createCaller, describeSubmission, submitNew } from '../../helper/submission.ts'

const { sql, url, drop } = await createTestDatabase()
t.teardown(drop)

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
