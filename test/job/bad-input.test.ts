// Input that no release wrote, or that somebody changed by hand, is reported or repaired. The queue goes on, and no
// acknowledged submission is lost.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { json } from '#database'
import { readStream } from '#event'
import { openTestDatabase } from '../helper/database.ts'
import { listTypes } from '../helper/ledger.ts'
import { createCaller, describeSubmission, finalResult, submitNew } from '../helper/submission.ts'
import { startWorkerProcess } from '../helper/worker.ts'

const { sql, url } = await openTestDatabase(t)
const caller = await createCaller(sql)
const python = describeSubmission({ code: 'print(1)' })

// No worker runs yet, so a worker finds the bad input in the queue when it starts.
const payloads = [
  null,
  7,
  [],
  {},
  { submission: 'no id' },
  { submission: uuidv7() },
  { webhook: { toString: 1 } },
  { webhook: uuidv7() },
]
for (const payload of payloads) {
  await sql`select graphile_worker.add_job('execute:python', ${JSON.stringify(payload)}::text::json)`
  await sql`select graphile_worker.add_job('deliver', ${JSON.stringify(payload)}::text::json)`
}
await sql`select graphile_worker.add_job('a task of a later release', '{}'::json)`

async function append(id: string, version: number, type: string, data: object): Promise<void> {
  await sql`select runledger.append_event(${id}, ${version}, ${type}, 99, ${json(sql, data)}, '{"actor": {}}')`
}

const unknownType = await submitNew(sql, caller, python)
await append(unknownType, 2, 'execution.postponed', { until: 'a later release knows' })

const futureSchema = await submitNew(sql, caller, python)
await append(futureSchema, 2, 'execution.interrupted', { reason: { of: 'another shape' }, spends_attempt: false, more: [] }) // prettier-ignore

const bodyGone = await submitNew(sql, caller, python)
await sql`delete from runledger.body where submission_id = ${bodyGone}`

const pendingGone = await submitNew(sql, caller, python)
await sql`delete from runledger.pending where submission_id = ${pendingGone}`

const pendingEdited = await submitNew(sql, caller, python)
await sql`
  update runledger.pending set language = 'java', version = 0, runtime = 'none', hash = ''
  where submission_id = ${pendingEdited}`

const languageUnknown = await submitNew(sql, caller, python)
await sql`alter table runledger.event disable trigger event_append_only`
await sql`
  update runledger.event set data = jsonb_set(data, '{language}', '"rust"') where stream_id = ${languageUnknown}`
await sql`alter table runledger.event enable trigger event_append_only`
await sql`select runledger.refresh_submissions(array[${languageUnknown}]::uuid[])`

const ordinary = await submitNew(sql, caller, python)
const worker = await startWorkerProcess(t, url, { LANGUAGES: 'python,java' })

t.test('poisoned jobs are named and dropped, and what waits behind them runs', async (t) => {
  t.match(await finalResult(sql, ordinary), { verdict: 'AC', stdout: '1\n' })
  await worker.until('job.poisoned')
  const listLeft = async (): Promise<unknown[]> => {
    const rows = await sql`select task_identifier from graphile_worker.jobs where key is null`
    return rows.map((row) => row['task_identifier'])
  }
  while ((await listLeft()).length > 1) await sleep(50)
  t.strictSame(
    await listLeft(),
    ['a task of a later release'],
    'what a later release put there is left to it',
  )
})

t.test('an event of an unknown type, and one of a later schema, are passed over', async (t) => {
  for (const id of [unknownType, futureSchema]) {
    t.match(await finalResult(sql, id), { verdict: 'AC', stdout: '1\n' })
    const types = await listTypes(sql, id)
    t.equal(types.at(-1), 'execution.completed')
  }
})

t.test('a submission whose code is gone ends as our failure, and says why', async (t) => {
  t.match(await finalResult(sql, bodyGone), { status: 'failed', verdict: 'IE' })
  const interrupted = (await readStream(sql, bodyGone)).find(
    ({ type }) => type === 'execution.interrupted',
  )
  t.match(interrupted?.data, { reason: 'sandbox_failed', step: 'body.read' })
})

t.test('a projection that was changed or removed by hand is made anew from the log', async (t) => {
  for (const id of [pendingEdited, pendingGone]) {
    t.match(await finalResult(sql, id), { language: 'python', verdict: 'AC', stdout: '1\n' })
  }
})

t.test('a language that this release does not know waits for one that does', async (t) => {
  const types = await listTypes(sql, languageUnknown)
  t.strictSame(types, ['submission.received'])
  const offered = await sql.begin(async (transaction) => {
    // The lock keeps the worker, which sweeps and reconciles too, from doing so at the same time.
    await transaction`select pg_advisory_xact_lock(71830, 0)`
    await transaction`select graphile_worker.remove_job(${languageUnknown})`
    const [row] = await transaction`select runledger.reconcile_queue() as count`
    return Number(row?.['count'])
  })
  t.ok(offered >= 1, 'it is offered again')
})

t.test('the worker lives, and the log tells the same as the projections', async (t) => {
  t.equal(worker.child.exitCode, null)
  t.strictSame([...(await sql`select * from audit.drift`)], [])
  t.strictSame(
    (await sql`select subject from audit.invariant`).map((row) => row['subject'] as string),
    [languageUnknown, bodyGone],
    'the one event that this test falsified is named, and the body that it removed',
  )
})
