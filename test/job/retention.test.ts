// The worker's hourly retention pass makes partitions and purges old bodies, and goes on after the database was away.
import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { storeBlob } from '#blob'
import { createDatabase } from '#database'
import { createReceive } from '#enqueue'
import { startRetention } from '#retention'
import { createLog } from '#log'
import { readResult } from '#result'
import { openTestDatabase } from '../helper/database.ts'
import { finish } from '../helper/execution.ts'
import { secondsUntil } from '../helper/outage.ts'
import {
  createCaller,
  describeContext,
  describeSubmission,
  receiveOne,
  submitNew,
} from '../helper/submission.ts'
import { until } from '../helper/until.ts'

const { sql } = await openTestDatabase(t)
const log = createLog('test', 'silent')

t.test('it begins at once and goes on: partitions, then bodies', async (t) => {
  const caller = await createCaller(sql)
  const young = await submitNew(sql, caller, describeSubmission({ code: '' }))
  await finish(sql, young)
  const old = uuidv7({ msecs: Date.now() - 31 * 86_400_000 })
  const submission = describeSubmission({ code: '' })
  await receiveOne(createReceive(sql), submission, describeContext(caller), old)
  await finish(sql, old)
  // The day may have changed since the database's template was made.
  await sql`select runledger.make_partitions()`
  await sql`update runledger.partitioning set ahead = ahead + 2 where table_name = 'body'`
  const read = async (): Promise<{ partitions: number; kept: string[] }> => {
    const [row] = await sql`
      select
        (select count(*) from audit.partition where table_name = 'body') as partitions,
        (select array_agg(submission_id::text order by submission_id) from runledger.body) as kept`
    return row as unknown as { partitions: number; kept: string[] }
  }
  const before = await read()
  t.strictSame(before.kept, [old, young])

  const retention = startRetention({
    database: sql,
    retentionDays: 30,
    log,
    intervalMilliseconds: 50,
  })
  t.teardown(() => retention.stop())
  await until(async () => (await read()).partitions === before.partitions + 2)
  await sleep(200)
  t.strictSame((await read()).kept, [old, young], 'it ended a moment ago')
  await sql`update runledger.result set finished_at = now() - interval '31 days' where id = ${old}`
  await until(async () => (await read()).kept.length === 1)
  t.strictSame((await read()).kept, [young])
  t.match(await readResult(sql, old), {
    status: 'completed',
    stdout: null,
    purged_at: String,
  })
})

t.test('unused blobs go too, and then whoever keeps copies is told', async (t) => {
  const { apiKeyId } = await createCaller(sql)
  const name = createHash('sha256').update('x').digest('hex')
  await storeBlob(sql, apiKeyId, name, Buffer.from('x'), new AbortController().signal)
  await sql`update runledger.blob set used_at = now() - interval '40 days'`
  const { promise: passed, resolve: onPass } = Promise.withResolvers<void>()
  const retention = startRetention({ database: sql, retentionDays: 30, log, onPass })
  t.teardown(() => retention.stop())
  await passed
  t.equal((await sql`select from runledger.blob`).length, 0)
})

t.test('one that a reader held up is tried again at once, not a minute later', async (t) => {
  const failed = Promise.withResolvers<void>()
  let isOver = false
  const told = createLog('test', 'warn', { write: () => failed.resolve() })
  // The reader's lock prevents attaching a partition to the table.
  const reading = await sql.reserve()
  t.teardown(() => reading.release())
  await reading`begin`
  await reading`set local idle_in_transaction_session_timeout = 0`
  await reading`select from runledger.body limit 1`
  await sql`update runledger.partitioning set ahead = ahead + 1 where table_name = 'body'`
  const onPass = (): void => void (isOver = true)
  const retention = startRetention({ database: sql, retentionDays: 30, log: told, onPass })
  t.teardown(() => retention.stop())
  await failed.promise
  await reading`rollback`
  t.ok((await secondsUntil(async () => isOver)) < 30)
  t.strictSame([...(await sql`select * from runledger.make_partitions()`)], [])
})

t.test('a database that is away is tried again', async (t) => {
  const away = createDatabase({
    url: 'postgres://nobody@127.0.0.1:1/none',
    connections: 1,
    name: 'test',
  })
  const retention = startRetention({
    database: away,
    retentionDays: 30,
    log,
    intervalMilliseconds: 10,
  })
  await sleep(300)
  await retention.stop()
  await away.end({ timeout: 0 })
  t.pass('it was still there to be stopped')
})
