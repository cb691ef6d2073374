// Retention: bodies are purged when their time is up, the log records it, and everything else stays.
import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import type { Database } from '#database'
import { createReceive } from '#enqueue'
import { readStream, verifyAll } from '#event'
import { purgeBodies, readResult } from '#result'
import { openTestDatabase } from '../helper/database.ts'
import { isAnyWaiting } from '../helper/lock.ts'
import { finish, startExecution } from '../helper/execution.ts'
import {
  createCaller,
  describeContext,
  describeSubmission,
  receiveOne,
} from '../helper/submission.ts'

const { sql } = await openTestDatabase(t)
const caller = await createCaller(sql)
const dayMilliseconds = 86_400_000

/** Makes the partitions that exist when the service has run for so many days. */
async function makePastPartitions(days: number): Promise<void> {
  await sql.unsafe(`
    do $$
    declare
      _day timestamptz := date_trunc('day', now(), 'UTC') - interval '${days} days';
      _table text;
    begin
      while _day < date_trunc('day', now(), 'UTC') loop
        foreach _table in array array['body', 'output'] loop
          execute format('create table if not exists runledger.%I partition of runledger.%I for values from (%L) to (%L)',
            _table || to_char(_day at time zone 'UTC', '_YYYY_MM_DD'), _table,
            runledger.uuid_floor(_day), runledger.uuid_floor(_day + interval '1 day'));
        end loop;
        _day := _day + interval '1 day';
      end loop;
    end
    $$`)
}

/** Submits with an id from so many days ago. The events have the present time. @returns the id. */
async function submitAgo(days: number, webhook = false): Promise<string> {
  const id = uuidv7({ msecs: Date.now() - days * dayMilliseconds })
  const submission = describeSubmission({
    code: 'print(input())',
    stdin: 'secret\n',
    ...(webhook && { webhook: { url: 'https://example.org/token', secret: 'shared' } }),
  })
  await receiveOne(createReceive(sql), submission, describeContext(caller), id)
  return id
}

/** Moves a submission's end so many days back, by the server's clock. */
async function age(database: Database, id: string, days: number): Promise<void> {
  await database`
    update runledger.result set finished_at = finished_at - make_interval(secs => ${days * 86_400}) where id = ${id}`
}

async function finishAgo(days: number): Promise<string> {
  const id = await submitAgo(days)
  await finish(sql, id, { stdout: 'secret\n', stderr: 'hidden' })
  await age(sql, id, days)
  return id
}

/** Returns the names of the tables that have the submission's bytes. */
async function findBytes(id: string): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select 'body' as name from runledger.body where submission_id = ${id}
    union all select 'output' from runledger.output where submission_id = ${id}`
  return rows.map(({ name }) => name)
}

await makePastPartitions(45)
const old = await finishAgo(40)
const oldToo = await finishAgo(40.01)
const young = await finishAgo(29)
const unfinished = await submitAgo(40)
const running = await submitAgo(41)
await startExecution(sql, running)
const owing = await submitAgo(42, true)
await finish(sql, owing)
await age(sql, owing, 42)
const clockless = uuidv7({ msecs: 1000 })
const partitions = async (): Promise<number> => {
  const [row] =
    await sql`select count(*) from audit.partition where table_name in ('body', 'output')`
  return row?.['count'] as number
}
const before = await partitions()
const batches: number[] = []
const purged = await purgeBodies(sql, 30, (count) => batches.push(count))

t.test('what ended longer ago than that is purged, and nothing else', async (t) => {
  t.equal(purged.submissions, 2)
  t.strictSame(batches, [2])
  for (const id of [old, oldToo]) t.strictSame(await findBytes(id), [])
  for (const id of [young, owing]) t.strictSame(await findBytes(id), ['body', 'output'])
  for (const id of [unfinished, running]) t.strictSame(await findBytes(id), ['body'])
})

t.test('the log says so once, in the same chain', async (t) => {
  const told = (await readStream(sql, old)).map(({ version, type }) => [version, type])
  t.strictSame(told, [
    [1, 'submission.received'],
    [2, 'execution.started'],
    [3, 'execution.completed'],
    [4, 'submission.purged'],
  ])
  t.match((await readStream(sql, old)).at(-1), {
    data: { reason: 'retention' },
    metadata: { actor: { retention: '720:00:00' } },
  })
  t.match(await purgeBodies(sql, 30), { submissions: 0 })
  t.equal((await readStream(sql, old)).length, 4)
  t.match(await verifyAll(sql), { broken_chain: 0 })
})

t.test('a result keeps everything but its bodies, and says when they went', async (t) => {
  const record = await readResult(sql, old)
  t.match(record, {
    id: old,
    status: 'completed',
    verdict: 'AC',
    exit_code: 0,
    stdout: null,
    stderr: null,
    compile_output: null,
    purged_at: /^20\d\d-.*Z$/,
  })
  t.match(await readResult(sql, young), { stdout: 'secret\n', purged_at: null })
})

t.test('empty days are dropped, days with something left are not', async (t) => {
  // Of the 45 days before today 15 are past the retention. Three of these are not empty: they hold an unfinished submission,
  // a running one, and one that owes a webhook.
  t.ok(purged.partitions.length >= 20, `${purged.partitions.length} dropped`)
  t.equal(await partitions(), before - purged.partitions.length)
  t.strictSame(await findBytes(unfinished), ['body'])
})

t.test('what was unfinished can still be run, and is purged afterwards', async (t) => {
  await finish(sql, unfinished, { stdout: 'late' })
  t.match(await purgeBodies(sql, 30), { submissions: 0 }, 'it has only just ended')
  t.match(await readResult(sql, unfinished), { stdout: 'late' })
  await age(sql, unfinished, 31)
  t.match(await purgeBodies(sql, 30), { submissions: 1 })
})

t.test('the address of a webhook goes with the bodies, once it was delivered', async (t) => {
  await sql`
    update runledger.delivery set state = 'delivered', secret = null where submission_id = ${owing}`
  t.match(await purgeBodies(sql, 30), { submissions: 1 })
  const [delivery] = await sql`select url from runledger.delivery where submission_id = ${owing}`
  t.equal(delivery?.['url'], null)
  const [replayed] = await sql`
    select runledger.replay_delivery(webhook_id, 'secret', 1, '{}') as state
    from runledger.delivery where submission_id = ${owing}`
  t.equal(replayed?.['state'], 'purged', 'it cannot be sent again')
})

t.test('an id from a clock gone wrong is purged by the time it ended, no earlier', async (t) => {
  await sql`insert into runledger.body (submission_id, code) values (${clockless}, '')`
  await sql`select runledger.append_event(${clockless}, 1, 'submission.received', 1, ${sql.json({ account: caller.accountId, api_key: caller.apiKeyId, language: 'python' })}, '{}')`
  await sql`
    insert into runledger.pending (submission_id, account_id, api_key_id, admitted, language, version, hash, created_at) values (${clockless}, ${caller.accountId}, ${caller.apiKeyId}, true, 'python', 1, '', now())`
  await sql`select runledger.refresh_submissions(array[${clockless}]::uuid[])`
  await finish(sql, clockless)
  t.match(await purgeBodies(sql, 30), { submissions: 0 })
  await age(sql, clockless, 31)
  t.match(await purgeBodies(sql, 30), { submissions: 1 })
})

t.test('while somebody else purges nothing is done', async (t) => {
  const id = await finishAgo(33)
  await sql.begin(async (other) => {
    await other`select pg_advisory_xact_lock(71830, -3)`
    t.strictSame(await purgeBodies(sql, 30), { submissions: 0, partitions: [] })
  })
  t.strictSame(await findBytes(id), ['body', 'output'])
  t.match(await purgeBodies(sql, 30), { submissions: 1 })
})

t.test('a webhook that is sent again in this moment keeps its address', async (t) => {
  const id = await submitAgo(40, true)
  await finish(sql, id)
  await age(sql, id, 39)
  const [delivery] = await sql`
    update runledger.delivery set state = 'delivered' where submission_id = ${id} returning webhook_id`
  const webhook = delivery?.['webhook_id'] as string
  await sql`
    select runledger.append_event(${webhook}, 1, 'webhook.delivered', 1, ${sql.json({ submission: id })}, '{"actor": {"worker": "test"}}')`
  let purging: ReturnType<typeof purgeBodies> | undefined
  await sql.begin(async (replaying) => {
    await replaying`
      select runledger.replay_delivery(${webhook}, 'shared', 1, '{"actor": {"operator": "test"}}')`
    purging = purgeBodies(sql, 30)
    while (!(await isAnyWaiting(sql)));
  })
  t.match(await purging, { submissions: 0 })
  const [after] = await sql`select state, url from runledger.delivery where submission_id = ${id}`
  t.match(after, { state: 'pending', url: 'https://example.org/token' })
  t.strictSame(await findBytes(id), ['body', 'output'])
  await sql`
    update runledger.delivery set state = 'delivered', secret = null where submission_id = ${id}`
  t.match(await purgeBodies(sql, 30), { submissions: 1 })
})

t.test('two at once purge each body once', async (t) => {
  const ids = await Promise.all(Array.from({ length: 20 }, () => finishAgo(31.5)))
  const both = await Promise.all([purgeBodies(sql, 30), purgeBodies(sql, 30)])
  t.equal(
    both.reduce((sum, { submissions }) => sum + submissions, 0),
    20,
  )
  for (const id of ids) t.equal((await readStream(sql, id)).length, 4)
})

t.test('everything fits together afterwards', async (t) => {
  // Only the ends, which were moved back by hand, differ from the log.
  await sql`
    update runledger.result r set finished_at = l.finished_at from runledger.result_from_log l where l.id = r.id`
  const broken = await sql`
    select broken, subject from audit.invariant where subject <> ${owing} and broken <> 'a webhook''s state differs from its log'`
  t.strictSame([...broken], [])
})

t.test('large outputs are purged a few at a time', async (t) => {
  const ids = [await finishAgo(20), await finishAgo(20), await finishAgo(20)]
  await sql`
    update runledger.output set stdout = convert_to(repeat('x', 30 * 1024 * 1024), 'UTF8')
    where submission_id = any (${ids})`
  const progress: number[] = []
  const { submissions } = await purgeBodies(sql, 10, (count) => progress.push(count))
  t.equal(submissions, 3)
  t.strictSame(progress, [2, 3])
  for (const id of ids) t.strictSame(await findBytes(id), [])
})
