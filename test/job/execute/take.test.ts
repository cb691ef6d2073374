// Taking a job and beginning its attempt is one statement: what it hands out, what it leaves alone, and what becomes of an
// attempt whose start a crash of the database has forgotten.
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { readStream } from '#event'
import { createTestDatabase } from '../../helper/database.ts'
import { submitTomorrow, tomorrow } from '../../helper/demand.ts'
import { createCaller, describeSubmission, submitNew } from '../../helper/submission.ts'

const { sql, drop } = await createTestDatabase()
t.teardown(drop)
const caller = await createCaller(sql)
const python = describeSubmission({ code: 'print(1)' })
const cpp = describeSubmission({ language: 'cpp', code: 'int main() {}' })
const actor = { actor: {} }

interface Taken {
  readonly begun_run: string
  readonly task_id: number
  readonly submission_id: string
  readonly language: string
  readonly version: number
  readonly code: Buffer | null
  readonly due_at: Date | null
}

/** A worker as it registers itself: alive for a while even though it has no session lock. */
async function registerWorker(): Promise<string> {
  const id = uuidv7()
  await sql`
    insert into runledger.worker (id, host, pid, slots, languages, lease_seconds)
    values (${id}, 'test', 1, 1, '{}', 60)`
  return id
}

interface TakeOptions {
  readonly unanswered?: readonly string[]
  readonly since?: Date | null
  readonly underWay?: readonly string[]
  /** What is said of each language that the worker runs. */
  readonly programs?: Record<string, { runtime?: string }>
  readonly does?: readonly string[]
}

/** The last row, when nothing more waits. */
interface NoneTaken {
  readonly submission_id: null
}

async function takeTogether(
  worker: string,
  runs: readonly string[],
  {
    unanswered = [],
    since = null,
    underWay = [],
    programs = { python: { runtime: 'Python 3' }, java: {} },
    does = [],
  }: TakeOptions = {},
): Promise<Taken[]> {
  const rows = await sql<(Taken | NoneTaken)[]>`
    select * from runledger.take_several(
      ${worker}, ${[...runs]}::text[], 1, ${sql.json({ worker })}, ${sql.json(programs)}, ${sql.json(actor)},
      ${[...unanswered]}::text[], ${since}, ${[...underWay]}::text[], true,
      ${[...does]}::text[]
    )`
  return rows.filter((row): row is Taken => row.submission_id !== null)
}

async function take(
  worker: string,
  run: string,
  options?: TakeOptions,
): Promise<Taken | undefined> {
  return (await takeTogether(worker, [run], options))[0]
}

async function complete(id: string, version: number, run: string): Promise<void> {
  await sql`
    call runledger.conclude_execution(
      ${id}, ${version}, 1, '{"verdict": "AC", "exit_code": 0}', ${sql.json(actor)}, '', '', null, ${run}
    )`
}

/** What a crash of the server leaves of a start that was not on disk yet: nothing, its job is waiting again. */
async function forgetStart(id: string): Promise<void> {
  await sql.unsafe(`
    alter table runledger.event disable trigger event_append_only;
    delete from runledger.event where stream_id = '${id}' and stream_version = 2;
    alter table runledger.event enable trigger event_append_only;
    delete from runledger.result where id = '${id}';
    select runledger.refresh_result('${id}');
    select job.enqueue_execute('${id}')`)
}

async function countJobs(): Promise<number> {
  const [row] = await sql`select count(*) from graphile_worker.jobs`
  return row?.['count'] as number
}

async function readTask(id: string): Promise<unknown> {
  const [job] = await sql`select task_identifier from graphile_worker.jobs where key = ${id}`
  return job?.['task_identifier']
}

// As every worker does when it starts.
await sql`select graphile_worker.add_job('execute')`

t.beforeEach(async () => {
  await sql`delete from graphile_worker._private_jobs`
})

t.test('who knows where the queue begins begins there, and misses nothing', async (t) => {
  const ids = []
  for (let n = 0; n < 3; n += 1) ids.push(await submitNew(sql, caller, python))
  await sql`
    update graphile_worker._private_jobs
    set run_at = job.turn_time(60000000 * array_position(${ids}::text[], key))`
  const [worker, minute] = [await registerWorker(), 60_000]
  const since = new Date(1.5 * minute)
  const second = await take(worker, uuidv7(), { since })
  t.equal(second?.submission_id, ids[1], 'the first that is due since then')
  t.ok((second?.due_at ?? since) > since)
  const third = await take(worker, uuidv7(), { since })
  t.equal(third?.submission_id, ids[2])
  const first = await take(worker, uuidv7(), { since })
  t.equal(first?.submission_id, ids[0], 'nothing else is left')
  t.ok((first?.due_at ?? since) < since)
  t.equal(await take(worker, uuidv7(), { since }), undefined)
})

t.test(
  'what was given back goes before all others, and says nothing of where they begin',
  async (t) => {
    const ids = []
    for (let n = 0; n < 3; n += 1) ids.push(await submitNew(sql, caller, python))
    await sql`
    update graphile_worker._private_jobs set priority = -1, run_at = now() where key = ${ids[2] ?? ''}`
    const worker = await registerWorker()
    t.match(await take(worker, uuidv7()), { submission_id: ids[2], due_at: null })
    t.equal((await take(worker, uuidv7()))?.submission_id, ids[0])
  },
)

t.test('the oldest job is taken and gone, and its attempt stands in the log', async (t) => {
  const [first, second] = [
    await submitNew(sql, caller, python),
    await submitNew(sql, caller, python),
  ]
  const worker = await registerWorker()
  const taken = await take(worker, uuidv7())
  t.match(taken, { submission_id: first, version: 2 })
  t.equal(String(taken?.code), 'print(1)')
  t.equal(await countJobs(), 1)
  const [, started] = await readStream(sql, first)
  t.match(started, {
    type: 'execution.started',
    data: { worker, attempt: 1, language: 'python', runtime: 'Python 3' },
  })
  t.equal((await take(worker, uuidv7()))?.submission_id, second)
  t.equal(await take(worker, uuidv7()), undefined)
})

t.test('who seeks a run whose answer was lost is given the same attempt', async (t) => {
  const id = await submitNew(sql, caller, python)
  await submitNew(sql, caller, python)
  const [worker, run] = [await registerWorker(), uuidv7()]
  const { task_id } = (await take(worker, run)) as Taken
  const again = await take(worker, uuidv7(), { unanswered: [uuidv7(), run] })
  // Of a task that it does not know graphile-worker runs nothing.
  t.match(again, { begun_run: run, task_id, submission_id: id, version: 2 })
  t.equal((await readStream(sql, id)).length, 2)
  t.equal(await countJobs(), 1)
})

t.test('a run that begins after it was sought is found by who seeks it later', async (t) => {
  // A server that stood still may execute first what it was asked later.
  const [worker, run] = [await registerWorker(), uuidv7()]
  t.equal(await take(worker, uuidv7(), { unanswered: [run] }), undefined)
  const id = await submitNew(sql, caller, python)
  await take(worker, run)
  t.match(await take(worker, uuidv7(), { unanswered: [run] }), {
    begun_run: run,
    submission_id: id,
    version: 2,
  })
})

t.test('a run that was ended meanwhile is not handed out', async (t) => {
  const id = await submitNew(sql, caller, python)
  const [worker, run] = [await registerWorker(), uuidv7()]
  await take(worker, run)
  await complete(id, 2, run)
  t.equal(await take(worker, uuidv7(), { unanswered: [run] }), undefined)
})

t.test('who seeks a run that never began takes what is there', async (t) => {
  const id = await submitNew(sql, caller, python)
  const run = uuidv7()
  t.match(await take(await registerWorker(), run, { unanswered: [uuidv7()] }), {
    begun_run: run,
    submission_id: id,
    version: 2,
  })
})

t.test('jobs of what has ended, or runs elsewhere, are passed over', async (t) => {
  const worker = await registerWorker()
  const ended = await submitNew(sql, caller, python)
  const run = uuidv7()
  await complete(ended, (await take(worker, run))?.version ?? 0, run)
  const elsewhere = await submitNew(sql, caller, python)
  await take(worker, uuidv7())
  for (const id of [ended, elsewhere]) await sql`select job.enqueue_execute(${id})`
  const next = await submitNew(sql, caller, python)
  t.equal((await take(await registerWorker(), uuidv7()))?.submission_id, next)
  t.equal(await countJobs(), 0)
})

t.test('a job that it does not understand stays, for the task to look at', async (t) => {
  for (const payload of ['7', '{}', '{"submission": "no id", "language": "python"}']) {
    await sql`delete from graphile_worker._private_jobs`
    await sql`select graphile_worker.add_job('execute', ${payload}::text::json)`
    await t.rejects(take(await registerWorker(), uuidv7()), payload)
    t.equal(await countJobs(), 1, payload)
  }
})

t.test('a job that names another language than the log is made anew, and then taken', async (t) => {
  for (const language of ['java', 'latin']) {
    const id = await submitNew(sql, caller, python)
    await sql`
      update graphile_worker._private_jobs
      set payload = json_build_object('submission', ${id}::text, 'language', ${language}::text)
      where key = ${id}`
    t.match(await take(await registerWorker(), uuidv7()), { submission_id: id, language: 'python' })
    t.equal(await countJobs(), 0)
  }
})

t.test('a job in a language that this worker does not run is left to one that does', async (t) => {
  const id = await submitNew(sql, caller, cpp)
  t.equal(await readTask(id), 'execute:cpp')
  t.equal(await take(await registerWorker(), uuidv7()), undefined)
  t.equal(await countJobs(), 1)
  const programs = { cpp: {} }
  const taken = await take(await registerWorker(), uuidv7(), { programs })
  t.match(taken, { submission_id: id, language: 'cpp' })
})

t.test('what cannot be run here keeps nothing waiting, and the rest keeps its order', async (t) => {
  const ids = []
  for (const submission of [
    cpp,
    cpp,
    python,
    cpp,
    { ...python, language: 'java' as const },
    python,
  ])
    ids.push(await submitNew(sql, caller, submission))
  await sql`
    update graphile_worker._private_jobs
    set run_at = now() - make_interval(mins => 9 - array_position(${ids}::text[], key))`
  const worker = await registerWorker()
  const taken = []
  for (let n = 0; n < 4; n += 1) taken.push((await take(worker, uuidv7()))?.submission_id)
  t.strictSame(taken, [ids[2], ids[4], ids[5], undefined])
  t.equal(await countJobs(), 3)
})

t.test('of several runs whose answers were lost, one is handed out for each slot', async (t) => {
  const worker = await registerWorker()
  const runs = [uuidv7(), uuidv7()]
  for (const run of runs) {
    await submitNew(sql, caller, python)
    await take(worker, run)
  }
  const [first = '', ...none] = (await takeTogether(worker, [uuidv7()], { unanswered: runs })).map(
    ({ begun_run }) => begun_run,
  )
  t.ok(runs.includes(first))
  t.strictSame(none, [])
  t.not(
    (await take(worker, uuidv7(), { unanswered: runs.filter((run) => run !== first) }))?.begun_run,
    first,
  )
})

t.test('who cannot run everything does not wait for a job that another is taking', async (t) => {
  const [first, second] = [
    await submitNew(sql, caller, python),
    await submitNew(sql, caller, python),
  ]
  await submitNew(sql, caller, cpp)
  await sql.begin(async (transaction) => {
    await transaction`select from graphile_worker._private_jobs where key = ${first} for update`
    t.equal((await take(await registerWorker(), uuidv7()))?.submission_id, second)
  })
  t.equal((await take(await registerWorker(), uuidv7()))?.submission_id, first)
})

t.test('what an earlier release enqueued under one name for all languages runs', async (t) => {
  const enqueueAsBefore = async (id: string, language: string): Promise<void> => {
    await sql`
      select graphile_worker.add_job(
        'execute', json_build_object('submission', ${id}::text, 'language', ${language}::text), job_key => ${id})`
  }
  const [runs, elsewhere] = [
    await submitNew(sql, caller, python),
    await submitNew(sql, caller, cpp),
  ]
  await enqueueAsBefore(elsewhere, 'cpp')
  await enqueueAsBefore(runs, 'python')
  t.equal((await take(await registerWorker(), uuidv7()))?.submission_id, runs)
  t.equal(await readTask(elsewhere), 'execute:cpp', 'it has the right name now')
})

t.test('a worker that was given up takes nothing', async (t) => {
  await submitNew(sql, caller, python)
  const worker = await registerWorker()
  await sql`update runledger.worker set stopped_at = now() where id = ${worker}`
  await t.rejects(take(worker, uuidv7()), { code: 'RL005' })
  t.equal(await countJobs(), 1)
})

t.test('an attempt that a crash forgot neither ends nor disturbs the one after it', async (t) => {
  const id = await submitNew(sql, caller, python)
  const [forgotten, present] = [uuidv7(), uuidv7()]
  const [slow, quick] = [await registerWorker(), await registerWorker()]
  t.equal((await take(slow, forgotten))?.version, 2)
  await forgetStart(id)
  await t.rejects(complete(id, 2, forgotten), { code: 'RL006' }, 'before the next has begun')
  t.equal((await take(quick, present))?.version, 2)
  await t.rejects(complete(id, 2, forgotten), { code: 'RL006' }, 'after it has begun')
  const lost = sql.json({ reason: 'shutdown', spends_attempt: false })
  await t.rejects(
    sql`select runledger.interrupt_execution(${id}, 2, 1, ${lost}, ${sql.json(actor)}, 3, ${forgotten})`,
    { code: 'RL006' },
  )
  await complete(id, 2, present)
  await t.rejects(complete(id, 2, forgotten), { code: 'RL006' }, 'after its end')
  t.strictSame(
    (await readStream(sql, id)).map(({ type }) => type),
    ['submission.received', 'execution.started', 'execution.completed'],
  )
})

t.test("losses that are not the program's to answer for never end it", async (t) => {
  const id = await submitNew(sql, caller, python)
  const worker = await registerWorker()
  for (let losses = 0; losses < 4; losses += 1) {
    const taken = await take(worker, uuidv7())
    t.equal(taken?.submission_id, id)
    const lost = sql.json({ reason: 'shutdown', spends_attempt: false })
    const [row] = await sql`
      select runledger.interrupt_execution(${id}, ${taken?.version ?? 0}, 1, ${lost}, ${sql.json(actor)}, 3) as goes_on`
    t.equal(row?.['goes_on'], true)
  }
  const [taken, run] = [await take(worker, 'last'), 'last']
  await complete(id, taken?.version ?? 0, run)
})

t.test('submissions wake as many workers as they are, however they come', async (t) => {
  let woken = 0
  const { unlisten } = await sql.listen('jobs:insert', (payload) => {
    const { task, count } = JSON.parse(payload) as { task: string; count: number }
    t.equal(task, 'execute')
    woken += count
  })
  const expect = async (workers: number): Promise<void> => {
    for (let waited = 0; woken < workers && waited < 500; waited += 1) await delay(10)
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
  // As many in one transaction, in which PostgreSQL drops what says the same twice.
  await sql.begin(async (transaction) => {
    const inside = transaction as unknown as typeof sql
    for (let n = 0; n < 2; n += 1) await submitNew(inside, caller, python, { waiter: 'web' })
  })
  await expect(2)
  await unlisten()
})

t.test('the log, its projections and every promise are whole', async (t) => {
  for (const view of ['drift', 'broken_chain', 'invariant']) {
    t.strictSame([...(await sql`select * from audit.${sql(view)}`)], [], view)
  }
})

t.test('a second job of a submission that this worker is running begins nothing', async (t) => {
  const worker = await registerWorker()
  const [id, run] = [await submitNew(sql, caller, python), uuidv7()]
  const taken = await take(worker, run)
  t.equal(taken?.submission_id, id)
  await sql`select job.enqueue_execute(${id})`
  t.equal(await take(worker, uuidv7(), { underWay: [run] }), undefined)
  await complete(id, taken?.version ?? 0, run)
  t.strictSame(
    (await readStream(sql, id)).map(({ type }) => type),
    ['submission.received', 'execution.started', 'execution.completed'],
  )
})

t.test('what a worker cannot do is put aside for one that can', async (t) => {
  const demanding = await submitTomorrow(sql, caller, { code: 'print(1)' })
  const plain = await submitNew(sql, caller, python)
  const worker = await registerWorker()
  for (const does of [[], ['something_else']]) {
    t.equal((await take(worker, uuidv7(), { does }))?.submission_id, does.length === 0 ? plain : undefined) // prettier-ignore
    const jobs =
      await sql`select run_at > now() as is_later from graphile_worker.jobs where key = ${demanding}`
    t.strictSame([...jobs], [{ is_later: true }], 'later, so that another one comes first')
    t.equal((await readStream(sql, demanding)).length, 1, 'nothing was begun')
    await sql`update graphile_worker._private_jobs set run_at = now()`
  }
  const begun = await take(worker, uuidv7(), { does: ['something_else', tomorrow] })
  t.equal(begun?.submission_id, demanding)
})
