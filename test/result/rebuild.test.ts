// Projections are caches. Rebuilt from the log alone they are the same, whatever was done to them, and while others write.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { isFinal, readResult, rebuildProjections } from '#result'
import { openTestDatabase } from '../helper/database.ts'
import { conclude, finish, interrupt, startExecution } from '../helper/execution.ts'
import { isAnyWaiting } from '../helper/lock.ts'
import { secondsUntil } from '../helper/outage.ts'
import { createCaller, describeSubmission, submitNew } from '../helper/submission.ts'
import { until } from '../helper/until.ts'

const { sql } = await openTestDatabase(t)
const caller = await createCaller(sql)
const limited = await createCaller(sql, 'beta')
const webhook = { url: 'https://example.org/hook', secret: 'shared' }

/** Submissions at every stage of life. */
const finished = await submitNew(sql, caller, describeSubmission({ code: '' }))
await finish(sql, finished, { stdout: 'x', verdict: 'RE' })
const running = await submitNew(sql, caller, describeSubmission({ code: '' }))
await startExecution(sql, running)
// Its worker must be alive, otherwise the reconciler would requeue the run.
await sql`
  select runledger.register_worker((data ->> 'worker')::uuid, 'host', 1, 1, '{}', 600)
  from runledger.event where stream_id = ${running} and type = 'execution.started'`
const queued = await submitNew(sql, caller, describeSubmission({ code: '' }))
const waiting = await Promise.all(
  Array.from({ length: 12 }, () => submitNew(sql, limited, describeSubmission({ code: '' }))),
)
const abandoned = await submitNew(sql, caller, describeSubmission({ code: '' }))
for (let loss = 1; loss <= 3; loss += 1) {
  const version = (await startExecution(sql, abandoned)) ?? 0
  await interrupt(sql, abandoned, version)
}
const delivering = await submitNew(sql, caller, describeSubmission({ code: '', webhook }))
await finish(sql, delivering)
const unsent = await submitNew(sql, caller, describeSubmission({ code: '', webhook }))

/** Returns every row of every projection, as text. */
async function readAll(): Promise<string[]> {
  const rows = await sql`
    select to_jsonb(r)::text as row from runledger.result r
    union all select (to_jsonb(p) - 'admitted' - '{waiters,position}'::text[])::text from runledger.pending p
    union all select (to_jsonb(d) - 'due_at')::text from runledger.delivery d
    order by 1`
  return rows.map(({ row }) => row as string)
}

const noDrift = async (): Promise<unknown[]> => [...(await sql`select * from audit.drift`)]

t.test('there is nothing to repair in what the service itself wrote', async (t) => {
  const before = await readAll()
  t.match(await rebuildProjections(sql), { submissions: 18, repaired: 0 })
  t.strictSame(await readAll(), before)
  t.strictSame(await noDrift(), [])
})

t.test('results that are gone come back, and so does what is pending', async (t) => {
  const before = await readAll()
  await sql`truncate runledger.result, runledger.pending`
  t.equal((await noDrift()).length, 18)
  t.match(await rebuildProjections(sql), { submissions: 18, repaired: 18 })
  t.strictSame(await readAll(), before)
})

for (const [what, statement] of [
  ['a verdict', `update runledger.result set verdict = 'AC' where id = '${finished}'`],
  [
    'a version from the future',
    `update runledger.result set version = 99, status = 'failed' where id = '${finished}'`,
  ],
  [
    'an account',
    `update runledger.pending set account_id = gen_random_uuid() where submission_id = '${queued}'`,
  ],
  [
    'a result of nothing',
    `insert into runledger.result (id, account_id, api_key_id, version, status, language, created_at, finished_at) values ('${uuidv7()}', gen_random_uuid(), gen_random_uuid(), 1, 'failed', 'python', now(), now())`,
  ],
  [
    'a result of nothing, long ago',
    `insert into runledger.result (id, account_id, api_key_id, version, status, language, created_at, finished_at) values ('00000000-0000-7000-8000-000000000001', gen_random_uuid(), gen_random_uuid(), 1, 'failed', 'python', now(), now())`,
  ],
  [
    'a finished one that is pending',
    `insert into runledger.pending (submission_id, account_id, api_key_id, admitted, language, version, hash, created_at) values ('${finished}', '${caller.accountId}', '${caller.apiKeyId}', true, 'python', 1, '', now())`,
  ],
  [
    'a pending one of nothing',
    `insert into runledger.pending (submission_id, account_id, api_key_id, admitted, language, version, hash, created_at) values (gen_random_uuid(), '${caller.accountId}', '${caller.apiKeyId}', true, 'python', 1, '', now())`,
  ],
  [
    'an unfinished one that is not pending',
    `delete from runledger.pending where submission_id = '${running}'`,
  ],
  [
    'one that waits behind others without having asked for it',
    `update runledger.pending set is_low = true where submission_id = '${queued}'`,
  ],
  [
    'a delivery taken for done',
    `update runledger.delivery set state = 'delivered', attempts = 4 where submission_id = '${delivering}'`,
  ],
] as const) {
  t.test(`edited by hand and repaired: ${what}`, async (t) => {
    const before = await readAll()
    await sql.unsafe(statement)
    t.equal((await noDrift()).length, 1)
    t.ok((await sql`select * from audit.invariant`).length >= 1)
    t.match(await rebuildProjections(sql), { repaired: 1 })
    t.strictSame(await readAll(), before)
    t.strictSame(await noDrift(), [])
  })
}

t.test('a lost delivery has its state again; that it cannot be sent is said', async (t) => {
  await sql`delete from runledger.delivery where submission_id = ${unsent}`
  await rebuildProjections(sql)
  t.strictSame(await noDrift(), [])
  const [row] =
    await sql`select state, url, secret from runledger.delivery where submission_id = ${unsent}`
  t.match(row, { state: 'waiting', url: null, secret: null })
  const broken = await sql`select broken from audit.invariant`
  const told = broken.map((each) => each['broken'] as string)
  t.strictSame(told, ['a webhook that is due has no secret to sign it with'])
})

t.test('what is pending again beside the job that it had all the time keeps it', async (t) => {
  const read = async (): Promise<string[]> =>
    (
      await sql`
        select key from graphile_worker.jobs
        where key in (select submission_id::text from runledger.pending where admitted) order by key`
    ).map(({ key }) => key as string)
  await sql`select runledger.reconcile_queue()`
  const before = await read()
  t.ok(before.length >= 10)
  await sql`truncate runledger.pending`
  await rebuildProjections(sql)
  await sql`select runledger.reconcile_queue()`
  t.strictSame(await read(), before)
})

t.test('what is pending again can be run: it has a job, or is running where it was', async (t) => {
  await sql`truncate runledger.pending`
  await sql`select graphile_worker.complete_jobs(array(select id from graphile_worker.jobs))`
  await rebuildProjections(sql)
  await sql`select runledger.reconcile_queue()`
  const jobs = await sql`select key from graphile_worker.jobs where task_identifier like 'execute%'`
  const keys = new Set(jobs.map(({ key }) => key as string))
  t.ok(keys.has(queued), 'of a key without a limit')
  t.equal(
    waiting.filter((id) => keys.has(id)).length,
    10,
    'of a key with one as many as it may have',
  )
  t.notOk(keys.has(running))
  await conclude(sql, { id: running, version: 2, data: { verdict: 'AC' } })
  t.match(await readResult(sql, running), { status: 'completed', verdict: 'AC' })
})

t.test('a pending row removed by hand stops neither its run nor the next', async (t) => {
  const narrow = await createCaller(sql, 'beta')
  const ids: string[] = []
  for (let count = 0; count < 12; count += 1)
    ids.push(await submitNew(sql, narrow, describeSubmission({ code: '' })))
  const [first = '', last = ''] = [ids[0], ids[11]]
  const version = (await startExecution(sql, first)) ?? 0
  await sql`delete from runledger.pending where submission_id = ${first}`
  await conclude(sql, { id: first, version, data: { verdict: 'AC' } })
  t.match(await readResult(sql, first), { status: 'completed' })
  const [eleventh] =
    await sql`select admitted from runledger.pending where submission_id = ${ids[10] ?? ''}`
  t.equal(eleventh?.['admitted'], true)
  const [twelfth] = await sql`select admitted from runledger.pending where submission_id = ${last}`
  t.equal(twelfth?.['admitted'], false)
})

t.test('an end that is being written while its row is repaired is not undone', async (t) => {
  const id = await submitNew(sql, caller, describeSubmission({ code: '' }))
  const version = (await startExecution(sql, id)) ?? 0
  await sql`update runledger.pending set runtime = 'none' where submission_id = ${id}`
  let rebuilding: Promise<unknown> = Promise.resolve()
  await sql.begin(async (ending) => {
    await conclude(ending as unknown as typeof sql, { id, version, data: { verdict: 'AC' } })
    rebuilding = rebuildProjections(sql)
    await Promise.race([rebuilding, until(() => isAnyWaiting(sql))])
  })
  await rebuilding
  t.match(await readResult(sql, id), { status: 'completed', verdict: 'AC' })
  t.strictSame(await noDrift(), [])
})

t.test('submissions that come and end meanwhile fit the log, and nobody waits long', async (t) => {
  let stopped = false
  let slowest = 0
  const live: string[] = []
  const write = async (): Promise<void> => {
    while (!stopped) {
      let id = ''
      const seconds = await secondsUntil(async () => {
        id = await submitNew(sql, caller, describeSubmission({ code: '' }))
        live.push(id)
        await finish(sql, id)
        return true
      })
      slowest = Math.max(slowest, seconds)
      const record = await readResult(sql, id)
      if (record === null || !isFinal(record))
        throw new Error(`${id} was seen unfinished after its end`)
      await sleep(2)
    }
  }
  const writers = [write(), write(), write()]
  for (let round = 0; round < 15 || live.length <= 15; round += 1) await rebuildProjections(sql)
  stopped = true
  await Promise.all(writers)
  t.ok(slowest < 5, `the slowest took ${slowest} s`)
  t.strictSame(await noDrift(), [])
})
