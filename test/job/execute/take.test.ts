// A job says that a submission can run, but the log decides: which of a worker's jobs are started, which are left alone, and
// what becomes of an attempt whose start was lost in a crash of the database, or whose answer was lost with the worker.
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { createDatabase } from '#database'
import type { Database } from '#database'
import { readStream } from '#event'
import { defaultLimits, languages } from '#language'
import { createLog } from '#log'
import { createBegin } from '../../../src/job/execute/attempt.ts'
import type { AttemptDependencies } from '../../../src/job/execute/attempt.ts'
import { openTestDatabase } from '../../helper/database.ts'
import { addWorker, conclude, interrupt } from '../../helper/execution.ts'
import { submitTomorrow, tomorrow } from '../../helper/demand.ts'
import { findBroken, listTypes } from '../../helper/ledger.ts'
import { createCaller, describeSubmission, submitNew } from '../../helper/submission.ts'
import { startTcpProxy } from '../../helper/tcp-proxy.ts'

const { sql, url } = await openTestDatabase(t)
const caller = await createCaller(sql)
const python = describeSubmission({ code: 'print(1)' })
const actor = { actor: {} }
const life = ['submission.received', 'execution.started', 'execution.completed']

interface StartOptions {
  readonly underWay?: readonly string[]
  /** The language that the job names. */
  readonly language?: string
  /** The worker's description of each language that it runs. */
  readonly programs?: Record<string, { runtime?: string }>
  readonly does?: readonly string[]
}

interface Started {
  readonly submission_id: string
  readonly run: string
  readonly version: number
  readonly code: Buffer | null
  readonly has_webhook: boolean
}

/** Starts these submissions, whose jobs the worker was handed. */
async function start(
  worker: string,
  ids: readonly string[],
  runs: readonly string[],
  {
    underWay = [],
    language = 'python',
    programs = { python: { runtime: 'Python 3' }, java: {} },
    does = [],
  }: StartOptions = {},
): Promise<Started[]> {
  return sql<Started[]>`
    select * from runledger.start(
      ${worker}, ${[...ids]}::uuid[], ${[...runs]}::text[], ${ids.map(() => language)}::text[], ${sql.json({ worker })},
      ${sql.json(programs)}, ${sql.json(Object.keys(programs))}, ${sql.json(does)}, ${sql.json(actor)}, ${[...underWay]}::text[]
    )`
}

async function startOne(
  worker: string,
  id: string,
  run: string = uuidv7(),
  options?: StartOptions,
): Promise<Started | undefined> {
  return (await start(worker, [id], [run], options))[0]
}

async function complete(id: string, version: number, run: string): Promise<void> {
  await conclude(sql, { id, version, run, data: { verdict: 'AC', exit_code: 0 } })
}

/** Undoes a start, as a crash of the server does when the start was not on disk yet. The job waits again. */
async function forgetStart(id: string): Promise<void> {
  await sql.unsafe(`
    alter table runledger.event disable trigger event_append_only;
    delete from runledger.event where stream_id = '${id}' and stream_version = 2;
    alter table runledger.event enable trigger event_append_only;
    select runledger.refresh_submissions(array['${id}']::uuid[]);
    select job.enqueue_executions(array['${id}']::uuid[])`)
}

async function readTask(id: string): Promise<unknown> {
  const [job] = await sql`select task_identifier from graphile_worker.jobs where key = ${id}`
  return job?.['task_identifier']
}

function describeDependencies(
  database: Database,
  lease: AttemptDependencies['lease'],
  shutdown: AbortSignal,
  offers: readonly string[] = ['python'],
): AttemptDependencies {
  const runtimes = Object.fromEntries(offers.map((name) => [name, { version: `${name} 3.11.2` }]))
  return {
    database,
    executor: { runtimes, isolation: {} },
    limits: defaultLimits,
    log: createLog('test', 'silent'),
    lease,
    shutdown,
  } as unknown as AttemptDependencies
}

t.beforeEach(async () => {
  await sql`select graphile_worker.complete_jobs(array(select id from graphile_worker.jobs))`
})

t.test('attempts of several are begun together, and stand in the log', async (t) => {
  const ids = [await submitNew(sql, caller, python), await submitNew(sql, caller, python)]
  const [worker, runs] = [await addWorker(sql), [uuidv7(), uuidv7()]]
  const started = await start(worker, ids, runs)
  t.strictSame(
    started.map(({ submission_id, run, version }) => ({ submission_id, run, version })),
    ids.map((id, n) => ({ submission_id: id, run: runs[n], version: 2 })),
  )
  t.equal(String(started[0]?.code), 'print(1)')
  for (const id of ids) {
    const [, event] = await readStream(sql, id)
    t.match(event, {
      type: 'execution.started',
      data: { worker, attempt: 1, language: 'python', runtime: 'Python 3' },
    })
  }
})

t.test('a start whose answer was lost is answered again with the same attempt', async (t) => {
  const id = await submitNew(sql, caller, python)
  const [worker, run] = [await addWorker(sql), uuidv7()]
  await startOne(worker, id, run)
  t.match(await startOne(worker, id, run), { submission_id: id, run, version: 2 })
  t.equal((await readStream(sql, id)).length, 2)
  await complete(id, 2, run)
  t.equal(await startOne(worker, id, run), undefined, 'but not once it has ended')
})

t.test('jobs of what has ended, runs elsewhere or never was, begin nothing', async (t) => {
  const [worker, run] = [await addWorker(sql), uuidv7()]
  const ended = await submitNew(sql, caller, python)
  await complete(ended, (await startOne(worker, ended, run))?.version ?? 0, run)
  const elsewhere = await submitNew(sql, caller, python)
  await startOne(worker, elsewhere)
  const next = await submitNew(sql, caller, python)
  const ids = [ended, elsewhere, uuidv7(), next]
  const runs = ids.map(() => uuidv7())
  const started = await start(await addWorker(sql), ids, runs)
  t.match(started, [{ submission_id: next }])
  t.equal(started.length, 1)
})

t.test('what runs at a worker that is lost is begun anew, after what is lost', async (t) => {
  const id = await submitNew(sql, caller, python)
  const lost = await addWorker(sql)
  await startOne(lost, id)
  await sql`update runledger.worker set renewed_at = now() - interval '1 hour' where id = ${lost}`
  t.match(await startOne(await addWorker(sql), id), { version: 4 })
  const events = await readStream(sql, id)
  t.match(events[2], { type: 'execution.interrupted', data: { reason: 'superseded' } })
  t.match(events[3], { type: 'execution.started', data: { attempt: 2 } })
})

t.test('one whose row was set back by hand to an earlier attempt is begun', async (t) => {
  const worker = await addWorker(sql)
  const id = await submitNew(sql, caller, python)
  const run = uuidv7()
  const first = await startOne(worker, id, run)
  await interrupt(sql, id, first?.version ?? 0)
  await sql`
    update runledger.pending set is_running = true, worker_id = ${worker}, run = ${run}, version = 2
    where submission_id = ${id}`
  t.match(await startOne(worker, id), { version: 4 })
})

t.test('a job in another language than the log has is made anew, and begins nothing', async (t) => {
  const id = await submitNew(sql, caller, python)
  await sql`select graphile_worker.remove_job(${id})`
  t.equal(await startOne(await addWorker(sql), id, uuidv7(), { language: 'java' }), undefined)
  t.equal(await readTask(id), 'execute:python')
})

t.test('one that its key has no place for begins nothing, though it has a job', async (t) => {
  const limited = await createCaller(sql, 'beta')
  const ids = []
  for (let n = 0; n < 11; n += 1) ids.push(await submitNew(sql, limited, python))
  const last = ids.at(-1) ?? ''
  t.equal(await readTask(last), undefined)
  await sql`select graphile_worker.add_job('execute:python', json_build_object('submission', ${last}::text))`
  t.equal(await startOne(await addWorker(sql), last), undefined)
})

t.test('a worker that was given up, or is to take nothing, begins nothing', async (t) => {
  const id = await submitNew(sql, caller, python)
  const worker = await addWorker(sql)
  await sql`update runledger.worker set wanted = 'paused' where id = ${worker}`
  await t.rejects(startOne(worker, id), { code: 'RL027' })
  await sql`update runledger.worker set stopped_at = now() where id = ${worker}`
  await t.rejects(startOne(worker, id), { code: 'RL005' })
  t.equal((await readStream(sql, id)).length, 1)
})

t.test('what is put back has its position again; what runs or has ended stays', async (t) => {
  const ids = [
    await submitNew(sql, caller, python),
    await submitNew(sql, caller, python),
    await submitNew(sql, caller, python),
  ] as const
  const read = async (): Promise<unknown[]> => [
    ...(await sql`select key, run_at, priority from graphile_worker.jobs order by key`),
  ]
  const [, second] = await read()
  const [worker, run] = [await addWorker(sql), uuidv7()]
  await startOne(worker, ids[0])
  await startOne(worker, ids[2], run)
  await complete(ids[2], 2, run)
  await sql`select graphile_worker.complete_jobs(array(select id from graphile_worker.jobs))`
  await sql`select runledger.requeue_jobs(${[...ids]}::uuid[])`
  t.strictSame(await read(), [second])
})

t.test('a job whose answer was lost is put back, one that has begun is not', async (t) => {
  const [begun, lost] = [await submitNew(sql, caller, python), await submitNew(sql, caller, python)]
  await startOne(await addWorker(sql), begun)
  /** Locks the jobs so many seconds ago and requeues, in one message, because the function reads the clock. */
  const requeue = async (seconds: number): Promise<unknown> => {
    const [, answer] = (await sql.unsafe(`
      update graphile_worker._private_jobs
      set locked_by = 'pool', locked_at = now() - interval '${seconds} seconds'
      where key in ('${begun}', '${lost}');
      select runledger.requeue_jobs('{}', '{pool}') as count`)) as unknown as { count: number }[][]
    return answer?.[0]?.count
  }
  t.equal(await requeue(0), 0, 'it may be on its way')
  t.equal(await requeue(1), 1)
  const free = await sql`select key from graphile_worker.jobs where locked_at is null`
  t.strictSame([...free], [{ key: lost }])
})

t.test('an attempt that a crash forgot neither ends nor disturbs the one after it', async (t) => {
  const id = await submitNew(sql, caller, python)
  const [forgotten, present] = [uuidv7(), uuidv7()]
  const [slow, quick] = [await addWorker(sql), await addWorker(sql)]
  t.equal((await startOne(slow, id, forgotten))?.version, 2)
  await forgetStart(id)
  await t.rejects(complete(id, 2, forgotten), { code: 'start_lost' }, 'before the next has begun')
  t.equal((await startOne(quick, id, present))?.version, 2)
  await t.rejects(complete(id, 2, forgotten), { code: 'start_lost' }, 'after it has begun')
  const lost = { reason: 'shutdown', spends_attempt: false }
  t.equal(await interrupt(sql, id, 2, lost, { run: forgotten }), 'start_lost')
  await complete(id, 2, present)
  await t.rejects(complete(id, 2, forgotten), { code: 'start_lost' }, 'after its end')
  t.strictSame(await listTypes(sql, id), life)
})

t.test("losses that are not the program's to answer for never end it", async (t) => {
  const id = await submitNew(sql, caller, python)
  const worker = await addWorker(sql)
  for (let losses = 0; losses < 4; losses += 1) {
    const started = await startOne(worker, id)
    t.equal(started?.submission_id, id)
    const lost = { reason: 'shutdown', spends_attempt: false }
    t.equal(await interrupt(sql, id, started?.version ?? 0, lost), 'requeued')
  }
  await complete(id, (await startOne(worker, id, 'last'))?.version ?? 0, 'last')
})

t.test('submissions wake as many workers as they are, however they come', async (t) => {
  let woken = 0
  const { unlisten } = await sql.listen('jobs:insert', (payload) => {
    woken += (JSON.parse(payload) as { count: number }).count
  })
  const expect = async (workers: number): Promise<void> => {
    while (woken < workers) await delay(10)
    t.equal(woken, workers)
    woken = 0
  }
  await submitNew(sql, caller, python)
  await expect(1)
  await Promise.all(Array.from({ length: 7 }, () => submitNew(sql, caller, python)))
  await expect(7)
  await Promise.all(
    Array.from({ length: 3 }, () => submitNew(sql, caller, python, { waiter: 'web' })),
  )
  await expect(3)
  await unlisten()
})

t.test('the log, its projections and every promise are whole', async (t) => {
  t.strictSame(await findBroken(sql), [])
})

t.test('a second job of a submission that this worker is running begins nothing', async (t) => {
  const worker = await addWorker(sql)
  const [id, run] = [await submitNew(sql, caller, python), uuidv7()]
  const started = await startOne(worker, id, run)
  t.equal(await startOne(worker, id, uuidv7(), { underWay: [run] }), undefined)
  await complete(id, started?.version ?? 0, run)
  t.strictSame(await listTypes(sql, id), life)
})

t.test('what a worker cannot do is put aside for one that can', async (t) => {
  const demanding = await submitTomorrow(sql, caller, { code: 'print(1)' })
  const worker = await addWorker(sql)
  for (const does of [[], ['something_else']]) {
    t.equal(await startOne(worker, demanding, uuidv7(), { does }), undefined)
    const jobs = await sql`
      select run_at > updated_at as is_later from graphile_worker.jobs where key = ${demanding}`
    t.strictSame([...jobs], [{ is_later: true }], 'later, so that another one comes first')
    t.equal((await readStream(sql, demanding)).length, 1, 'nothing was begun')
  }
  const does = ['something_else', tomorrow]
  t.equal((await startOne(worker, demanding, uuidv7(), { does }))?.submission_id, demanding)
})

t.test('what begins under the next id of a worker that was given up is another run', async (t) => {
  const submission = await submitNew(sql, caller, describeSubmission({ code: 'print(1)' }))
  const { signal } = new AbortController()
  const lease = { workerId: await addWorker(sql), signal }

  async function giveUp(): Promise<void> {
    await sql`update runledger.worker set renewed_at = now() - interval '1 hour' where id = ${lease.workerId}`
    await sql`select * from runledger.sweep_workers()`
    lease.workerId = await addWorker(sql)
  }
  let isLost = false
  const lose = async (...statement: Parameters<Database>): Promise<unknown> => {
    const answer = await sql(...statement)
    if (isLost) return answer
    isLost = true
    await giveUp()
    throw Object.assign(new Error('the answer is lost'), { code: 'CONNECTION_CLOSED' })
  }

  const database = Object.assign(lose, { json: sql.json }) as unknown as Database
  const dependencies = describeDependencies(database, lease, signal)
  const begun = await createBegin(dependencies, new Set())(submission, 'python')
  const events = await readStream(sql, submission)
  t.strictSame(
    events.map(({ type }) => type),
    ['submission.received', 'execution.started', 'execution.interrupted', 'execution.started'],
  )
  const [, lost, , present] = events.map(({ data }) => data as { readonly run?: string })
  t.match(begun, { run: present?.run })
  t.not(lost?.run, present?.run)
})

t.test('a second job that comes while the first one is being started starts nothing', async (t) => {
  const submission = await submitNew(sql, caller, describeSubmission({ code: 'print(1)' }))
  const { signal } = new AbortController()
  const lease = { workerId: await addWorker(sql), signal }
  const begin = createBegin(describeDependencies(sql, lease, signal), new Set())
  const untilWaiting = async (count: number): Promise<void> => {
    let waiting = 0
    while (waiting < count) {
      const rows = await sql`
        select from pg_stat_activity
        where datname = current_database() and state = 'active' and wait_event_type = 'Lock'`
      waiting = rows.count
    }
  }
  const begun: ReturnType<typeof begin>[] = []
  await sql.begin(async (holding) => {
    await holding`select from runledger.pending where submission_id = ${submission} for update`
    for (const count of [1, 2]) {
      begun.push(begin(submission, 'python'))
      await untilWaiting(count)
    }
  })
  t.equal((await Promise.all(begun)).filter((attempt) => attempt !== null).length, 1)
  const types = await listTypes(sql, submission)
  t.strictSame(types, ['submission.received', 'execution.started'])
})

t.test('a start sends of the languages that it does not start only the names', async (t) => {
  let sentBytes = 0
  const proxy = await startTcpProxy(url, (_, bytes) => (sentBytes += bytes.length))
  const database = createDatabase({
    url: proxy.url,
    connections: 1,
    name: 'test start',
    statementSeconds: 10,
  })
  t.teardown(async () => {
    await database.end({ timeout: 1 })
    await proxy.close()
  })
  const { signal } = new AbortController()
  const lease = { workerId: await addWorker(sql), signal }
  const countBytes = async (offers: readonly string[]): Promise<number> => {
    const begin = createBegin(describeDependencies(database, lease, signal, offers), new Set())
    const id = await submitNew(sql, caller, python)
    sentBytes = 0
    t.ok(await begin(id, 'python'))
    return sentBytes
  }
  // The first statement of a connection has its text, too.
  await countBytes(['python'])
  const names = languages.join().length
  t.ok((await countBytes(languages)) < (await countBytes(['python'])) + 5 * names)
})
