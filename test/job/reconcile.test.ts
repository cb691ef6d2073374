// The queue and the projection may lose jobs, rows, answers and whole workers, but no submission is lost.
import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { openTestDatabase } from '../helper/database.ts'
import { addWorker, conclude, finish, interrupt, startAttempt } from '../helper/execution.ts'
import { listTypes } from '../helper/ledger.ts'
import { createCaller, describeSubmission, submitNew } from '../helper/submission.ts'

const { sql } = await openTestDatabase(t)
const caller = await createCaller(sql)
const python = describeSubmission({ code: 'print(1)' })

const start = (id: string, workerId: string): ReturnType<typeof startAttempt> =>
  startAttempt(sql, id, { workerId })

async function giveUp(worker: string): Promise<void> {
  await sql`update runledger.worker set stopped_at = now() where id = ${worker}`
}

async function reconcile(): Promise<number> {
  const [row] = await sql`select runledger.reconcile_queue() as count`
  return row?.['count'] as number
}

async function countJobs(key: string): Promise<number> {
  const [row] = await sql`
    select count(*) from graphile_worker.jobs where key = ${key} and attempts < max_attempts`
  return row?.['count'] as number
}

t.test('a run begun in the moment in which its worker was given up is given back', async (t) => {
  const id = await submitNew(sql, caller, python)
  const worker = await addWorker(sql)
  await start(id, worker)
  await sql`select graphile_worker.remove_job(${id})`
  await sql`select * from runledger.sweep_workers()`
  t.equal((await listTypes(sql, id)).at(-1), 'execution.started', 'its worker lives')
  await giveUp(worker)
  await sql`select * from runledger.sweep_workers()`
  t.equal((await listTypes(sql, id)).at(-1), 'execution.interrupted')
  t.equal(await countJobs(id), 1)
})

t.test('one submission that cannot be given back does not keep the others', async (t) => {
  const worker = await addWorker(sql)
  const ids = await Promise.all([1, 2, 3].map(() => submitNew(sql, caller, python)))
  for (const id of ids) await start(id, worker)
  await sql.unsafe(`
    create function pg_temp.refuse() returns trigger language plpgsql as $$ begin raise 'no'; end $$;
    create trigger refuse before update on runledger.pending for each row
      when (old.submission_id = '${ids[1]}') execute function pg_temp.refuse()`)
  await sql`update runledger.worker set renewed_at = now() - interval '1 hour' where id = ${worker}`
  const swept = await sql`
    select submission_id from runledger.sweep_workers() where submission_id is not null`
  t.strictSame(new Set(swept.map((row) => row['submission_id'])), new Set([ids[0], ids[2]]))
  await sql.unsafe('drop trigger refuse on runledger.pending')
  await sql`select * from runledger.sweep_workers()`
  t.equal((await listTypes(sql, ids[1]!)).at(-1), 'execution.interrupted', 'later it is')
})

t.test('what a sweep could not do because of a lock, the next one does', async (t) => {
  const worker = await addWorker(sql)
  const id = await submitNew(sql, caller, python)
  await start(id, worker)
  await sql.unsafe(`
    create function pg_temp.collide() returns trigger language plpgsql as $$
    begin raise 'deadlock' using errcode = '40P01'; end $$;
    create trigger collide before update on runledger.pending for each row
      when (old.submission_id = '${id}') execute function pg_temp.collide()`)
  await sql`update runledger.worker set renewed_at = now() - interval '1 hour' where id = ${worker}`
  const sweep = async (): Promise<unknown[]> => [
    ...(await sql`
    select submission_id from runledger.sweep_workers() where submission_id is not null`),
  ]
  t.strictSame(await sweep(), [])
  await sql.unsafe('drop trigger collide on runledger.pending')
  t.strictSame(await sweep(), [{ submission_id: id }])
  t.equal((await listTypes(sql, id)).at(-1), 'execution.interrupted')
})

t.test(
  'a job of a worker that never said who it is waits two seconds, not for hours',
  async (t) => {
    const id = await submitNew(sql, caller, python)
    // In one transaction now() stands still.
    const isLockedAfter = (seconds: number): Promise<boolean> =>
      sql.begin<boolean>(async (inside) => {
        await inside`
          update graphile_worker._private_jobs
          set locked_at = now() - make_interval(secs => ${seconds}), locked_by = 'unnamed' where key = ${id}`
        await inside`select * from runledger.sweep_workers()`
        const [job] = await inside`select locked_at from graphile_worker.jobs where key = ${id}`
        return job?.['locked_at'] !== null
      })
    t.equal(await isLockedAfter(1), true)
    t.equal(await isLockedAfter(3), false)
    const worker = await addWorker(sql)
    await sql`update runledger.worker set queue_pool_ids = '{unnamed}' where id = ${worker}`
    t.equal(await isLockedAfter(3), true, 'its worker lives')
  },
)

t.test('a job that was handed out and never begun is put into the queue again', async (t) => {
  const id = await submitNew(sql, caller, python)
  const lock = async (seconds: number): Promise<void> => {
    await sql`
      update graphile_worker._private_jobs
      set locked_at = now() - make_interval(secs => ${seconds}), locked_by = 'pool' where key = ${id}`
  }
  const worker = await addWorker(sql)
  await sql`update runledger.worker set queue_pool_ids = '{pool}' where id = ${worker}`
  await lock(5)
  t.equal(await reconcile(), 0)
  await lock(15)
  t.equal(await reconcile(), 1)
  const [job] = await sql`
    select locked_at from graphile_worker.jobs where key = ${id} and attempts < max_attempts`
  t.equal(job?.['locked_at'], null)
})

t.test('a delivery that was handed out and never made is put into the queue again', async (t) => {
  const webhook = { url: 'https://hooks.example/', secret: 'secret' }
  const id = await submitNew(sql, caller, describeSubmission({ code: '', webhook }))
  const worker = await addWorker(sql)
  await start(id, worker)
  await conclude(sql, { id, version: 2, data: { verdict: 'AC', exit_code: 0 } })
  await sql`update runledger.worker set queue_pool_ids = '{pool}' where id = ${worker}`
  const [delivery] =
    await sql`select webhook_id from runledger.delivery where submission_id = ${id}`
  const key = delivery?.['webhook_id'] as string
  await sql`
    update graphile_worker._private_jobs set locked_at = now() - interval '70 seconds', locked_by = 'pool'
    where key = ${key}`
  t.equal(await reconcile(), 1)
  t.equal(await countJobs(key), 1)
})

t.test('who is lost for the first time runs again at once, before all that waits', async (t) => {
  const id = await submitNew(sql, caller, python)
  const worker = await addWorker(sql)
  const readJob = async (): Promise<{ delay: number; priority: number }> => {
    const [job] = await sql`
      select extract(epoch from run_at - updated_at)::double precision as delay, priority
      from graphile_worker.jobs where key = ${id}`
    return job as unknown as { delay: number; priority: number }
  }
  const jobAfterLoss = async (): ReturnType<typeof readJob> => {
    const row = await start(id, worker)
    await interrupt(sql, id, row?.version ?? 0)
    return readJob()
  }
  const first = await jobAfterLoss()
  t.ok(first.delay <= 0, `${first.delay} s`)
  t.equal(first.priority, -1)
  await sql`select runledger.requeue_jobs(${[id]}::uuid[])`
  t.equal((await readJob()).priority, -1, 'also when a worker gives its job back')
  t.ok((await jobAfterLoss()).delay > 0, 'the second time not at once: it may be the cause')
})

t.test(
  'a submission that has ended is not begun again, whatever the projection says',
  async (t) => {
    const ended = ['execution.started', 'execution.completed']
    const caller = await createCaller(sql)
    for (const how of ['reconciled', 'taken'] as const) {
      const id = await submitNew(sql, caller, python)
      await finish(sql, id)
      await sql`select graphile_worker.remove_job(${id})`
      await sql`
      insert into runledger.pending (submission_id, account_id, api_key_id, admitted, language, version, hash, created_at)
      values (${id}, ${caller.accountId}, ${caller.apiKeyId}, true, 'python', 1, '', now())`
      if (how === 'reconciled') t.equal(await reconcile(), 1)
      else t.equal(await start(id, await addWorker(sql)), null)
      t.equal(await countJobs(id), 0)
      t.strictSame(await listTypes(sql, id), ['submission.received', ...ended], how)
      t.strictSame([...(await sql`select from runledger.pending where submission_id = ${id}`)], [])
    }
  },
)

t.test('a submission whose row was removed from what is pending comes back', async (t) => {
  const id = await submitNew(sql, caller, python)
  await sql`delete from runledger.pending where submission_id = ${id}`
  await sql`select graphile_worker.remove_job(${id})`
  t.equal(await reconcile(), 2, 'the row and the job')
  t.equal(await countJobs(id), 1)
})

t.test('of two sweeps within the pause one looks for lost workers', async (t) => {
  const sweep = async (pause: string): Promise<number> =>
    (await sql`select from runledger.sweep_workers(${pause}) where submission_id is null`).length
  await sweep('0')
  const worker = await addWorker(sql)
  await sql`update runledger.worker set renewed_at = now() - interval '1 hour' where id = ${worker}`
  t.equal(await sweep('1 hour'), 0)
  t.equal(await sweep('0'), 1)
})

t.test('jobs that were added by hand are removed, and hold up nothing', async (t) => {
  await sql`select graphile_worker.add_job('continue:x', '{}'::json)`
  await sql`select graphile_worker.add_job('execute:python', '{}'::json, job_key => 'y')`
  await sql`
    update graphile_worker._private_jobs set locked_by = 'nobody', locked_at = now() - interval '1 second'
    where key = 'y'`
  await sql`select runledger.requeue_jobs('{}', '{nobody}')`
  const before = await sql`select from graphile_worker.jobs where task_identifier = 'continue:x'`
  t.equal(before.length, 1)
  await reconcile()
  const after = await sql`select from graphile_worker.jobs where task_identifier = 'continue:x'`
  t.equal(after.length, 0)
  await sql`select graphile_worker.remove_job('y')`
})

t.test('a row that was edited beyond repair does not stop the repair of others', async (t) => {
  const broken = await submitNew(sql, caller, python)
  const other = await submitNew(sql, caller, python)
  await sql`
    update runledger.pending set api_key_id = gen_random_uuid(), admitted = false
    where submission_id = ${broken}`
  await sql`select graphile_worker.remove_job(${other})`
  t.equal(await reconcile(), 1)
  t.equal(await countJobs(other), 1)
  await sql`delete from runledger.pending where submission_id = ${broken}`
})

t.test('an event written by hand does not stop the repair of others', async (t) => {
  const ids = [await submitNew(sql, caller, python), await submitNew(sql, caller, python)]
  await sql`
    insert into runledger.event (stream_id, stream_version, type, schema_version, data, metadata, recorded_at, hash)
    values (${uuidv7()}, 1, 'submission.received', 1, '{"account": "x"}', '{}', now(), '')`
  await sql`delete from runledger.pending where submission_id = any (${ids})`
  await reconcile()
  const restored = await sql`select from runledger.pending where submission_id = any (${ids})`
  t.equal(restored.length, 2)
})
