// A cancelled submission ends once, in whatever state it is, and whatever it races with.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { cancelSubmission } from '#enqueue'
import { readStream } from '#event'
import { readResult } from '#result'
import { createRandom } from '../faults/random.ts'
import { openTestDatabase } from '../helper/database.ts'
import { completeExecution, conclude, interrupt, startExecution } from '../helper/execution.ts'
import { findBroken, listTypes } from '../helper/ledger.ts'
import { seed } from '../helper/seed.ts'
import { createCaller, describeSubmission, submitNew } from '../helper/submission.ts'

const random = createRandom(seed)

const { sql } = await openTestDatabase(t)
const caller = await createCaller(sql)
const program = describeSubmission({ code: 'print(1)' })
const ends = ['execution.completed', 'execution.abandoned', 'submission.cancelled']

const cancel = (
  id: string,
  { accountId, apiKeyId } = caller,
): ReturnType<typeof cancelSubmission> =>
  cancelSubmission(sql, id, accountId, { request: uuidv7(), actor: { api_key: apiKeyId } })

const jobsOf = async (id: string): Promise<number> =>
  (await sql`select from graphile_worker.jobs where key = ${id}`).length

const isPending = async (id: string): Promise<boolean> =>
  (await sql`select from runledger.pending where submission_id = ${id}`).length > 0

t.test('what waits in the queue ends at once and leaves it', async (t) => {
  const id = await submitNew(sql, caller, program)
  t.equal(await jobsOf(id), 1)
  t.equal(await cancel(id), 'cancelled')
  t.strictSame(await listTypes(sql, id), ['submission.received', 'submission.cancelled'])
  const [, cancelled] = await readStream(sql, id)
  t.match(cancelled?.metadata, { actor: { api_key: caller.apiKeyId }, request: String })
  t.match(await readResult(sql, id), {
    status: 'cancelled',
    verdict: null,
    exit_code: null,
    stdout: '',
    stderr: '',
    cpu_time: 0,
    started_at: null,
    finished_at: String,
  })
  t.equal(await jobsOf(id), 0)
  t.equal(await isPending(id), false)
  t.equal(await startExecution(sql, id), null, 'a job that comes all the same does nothing')
})

t.test('another account’s, and one that there is not, are none', async (t) => {
  const id = await submitNew(sql, caller, program)
  t.equal(await cancel(id, await createCaller(sql)), null)
  t.equal(await cancel(uuidv7()), null)
  t.strictSame(await listTypes(sql, id), ['submission.received'])
  t.equal(await jobsOf(id), 1)
})

t.test('one more submission of a key at its limit runs when one that waits goes', async (t) => {
  const limited = await createCaller(sql, 'beta')
  const ids: string[] = []
  for (let n = 0; n < 13; n += 1) ids.push(await submitNew(sql, limited, program))
  const [admitted, eleventh, twelfth, thirteenth] = [ids[3]!, ids[10]!, ids[11]!, ids[12]!]
  t.equal(await cancel(eleventh, limited), 'cancelled')
  t.equal(await jobsOf(twelfth), 0, 'it had no place that it could give up')
  t.equal(await cancel(admitted, limited), 'cancelled')
  t.equal(await jobsOf(twelfth), 1)
  t.equal(await jobsOf(thirteenth), 0)
  for (const id of ids) await cancel(id, limited)
})

t.test('what was interrupted and waits again ends at once', async (t) => {
  const id = await submitNew(sql, caller, program)
  const version = await startExecution(sql, id)
  t.equal(await interrupt(sql, id, version!), 'requeued')
  t.equal(await cancel(id), 'cancelled')
  t.equal((await listTypes(sql, id)).at(-1), 'submission.cancelled')
  t.equal(await jobsOf(id), 0)
})

t.test('what runs is asked to end, once, and ends with what it had done', async (t) => {
  const id = await submitNew(sql, caller, program)
  const version = await startExecution(sql, id)
  t.equal(await cancel(id), 'requested')
  t.equal(await cancel(id), 'requested')
  t.match(await readResult(sql, id), { status: 'running', verdict: null, finished_at: null })
  t.strictSame(
    [...(await sql`select submission_id from runledger.pending where is_cancelled`)],
    [{ submission_id: id }],
  )
  await completeExecution(sql, id, version!, { stdout: 'so far' })
  t.strictSame(await listTypes(sql, id), [
    'submission.received',
    'execution.started',
    'submission.cancel_requested',
    'submission.cancelled',
  ])
  t.match(await readResult(sql, id), {
    status: 'cancelled',
    verdict: null,
    stdout: 'so far',
    exit_code: 0,
    cpu_time: 0.01,
  })
  t.notOk('verdict' in ((await readStream(sql, id)).at(-1)?.data ?? {}))
  t.equal(await cancel(id), 'ended')
  const [execution] = await sql`select * from audit.execution where submission_id = ${id}`
  t.match(execution, { ended_by: 'submission.cancelled', verdict: null })
})

t.test('an attempt that is to be ended and is lost is not begun again', async (t) => {
  const id = await submitNew(sql, caller, program)
  const version = await startExecution(sql, id)
  await cancel(id)
  t.equal(await startExecution(sql, id), null)
  t.equal(await interrupt(sql, id, version!), 'ended')
  const [, , , last] = await readStream(sql, id)
  t.match(last, { type: 'submission.cancelled', data: { lost: 'worker_lost' } })
  t.match(await readResult(sql, id), { status: 'cancelled', verdict: null })
  await t.rejects(completeExecution(sql, id, version!), { code: 'superseded' })
  t.equal(await startExecution(sql, id), null)
})

t.test('a worker that knows nothing of the attempt holds it up for seconds', async (t) => {
  const id = await submitNew(sql, caller, program)
  const workerId = uuidv7()
  // The lease outlasts this test, even if the session ends.
  await sql`select runledger.register_worker(${workerId}, 'here', 1, 1, '{}', 3600)`
  await startExecution(sql, id, { workerId })
  await cancel(id)
  const sweep = async (): Promise<void> => {
    await sql`select runledger.sweep_workers()`
  }
  await sweep()
  t.equal((await listTypes(sql, id)).at(-1), 'submission.cancel_requested', 'it has time to end it')
  await sql.begin(async (owner) => {
    await owner`set local session_replication_role = 'replica'`
    await owner`
      update runledger.event set recorded_at = now() - interval '16 seconds'
      where stream_id = ${id} and type = 'submission.cancel_requested'`
  })
  await sweep()
  t.equal((await listTypes(sql, id)).at(-1), 'submission.cancelled')
  // The edited log would fail the check of its hashes, so the submission is removed.
  await sql.begin(async (owner) => {
    await owner`set local session_replication_role = 'replica'`
    await owner`delete from runledger.event where stream_id = ${id}`
    await owner`delete from runledger.body where submission_id = ${id}`
    await owner`delete from runledger.result where id = ${id}`
  })
})

t.test('a completion without a verdict that nobody asked for is refused', async (t) => {
  const id = await submitNew(sql, caller, program)
  const version = await startExecution(sql, id)
  await t.rejects(conclude(sql, { id, version: version!, data: { exit_code: 137 } }), {
    code: 'no_verdict',
  })
  t.equal(await interrupt(sql, id, version!), 'requeued')
})

t.test('a cancel holds though the row of what waits was edited by hand', async (t) => {
  const id = await submitNew(sql, caller, program)
  await sql`update runledger.pending set version = 0, hash = '' where submission_id = ${id}`
  t.equal(await cancel(id), 'cancelled')
  t.equal((await listTypes(sql, id)).at(-1), 'submission.cancelled')
})

t.test('so it does though the row of what runs was', async (t) => {
  const id = await submitNew(sql, caller, program)
  const version = await startExecution(sql, id)
  await sql`update runledger.pending set version = 1 where submission_id = ${id}`
  t.equal(await cancel(id), 'requested')
  await completeExecution(sql, id, version!)
  t.equal((await listTypes(sql, id)).at(-1), 'submission.cancelled')
})

t.test('who waits for it is told', async (t) => {
  const told: string[] = []
  const channel = `test_${uuidv7().replaceAll('-', '')}`
  await sql.listen(channel, (text) => told.push(text))
  const ids = [
    await submitNew(sql, caller, program, { waiter: channel }),
    await submitNew(sql, caller, program, { waiter: channel }),
  ]
  // A row that was edited by hand must not prevent the notification.
  await sql`update runledger.pending set version = 0, hash = '' where submission_id = ${ids[1]!}`
  for (const id of ids) {
    await cancel(id)
    while (told.length === 0) await sleep(10)
    t.strictSame(JSON.parse(told.shift()!), { id })
  }
})

t.test('raced with a completion, a start, a loss and itself, it ends once', async (t) => {
  const limited = await createCaller(sql, 'beta')
  let [cancelled, completed] = [0, 0]
  for (let round = 0; round < 50; round += 1) {
    const who = round % 2 === 0 ? limited : caller
    const id = await submitNew(sql, who, program)
    const complete = async (): Promise<void> => {
      for (;;) {
        const version = await startExecution(sql, id).catch(() => 0)
        if (version === null) return
        if (version === 0) continue
        if (round % 5 === 4) await interrupt(sql, id, version)
        else {
          await completeExecution(sql, id, version)
          return
        }
      }
    }
    const take = async (): Promise<void> => {
      await sleep(random.number() * 8)
      await cancel(id, who)
    }
    await Promise.all([complete(), take(), ...(round % 3 === 0 ? [take()] : [])])
    // If the loss lost the race against the cancel, a sweep would end the submission; the test does so here.
    const types = await listTypes(sql, id)
    if (types.at(-1) === 'submission.cancel_requested') await interrupt(sql, id, types.length - 1)
    const last = (await listTypes(sql, id)).filter((type) => ends.includes(type))
    t.equal(last.length, 1, last.join())
    if (last[0] === 'submission.cancelled') cancelled += 1
    else completed += 1
  }
  t.comment(`${cancelled} cancelled, ${completed} completed`)
})

t.test('after all of this the log and what is made from it agree', async (t) => {
  t.strictSame(await findBroken(sql), [])
  t.strictSame([...(await sql`select * from audit.altered_body`)], [])
})
