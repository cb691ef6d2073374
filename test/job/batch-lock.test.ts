// Calls that end members of a batch, cancel them, requeue them for a lost worker or purge their bodies lock the same rows. They
// lock in one order, so that no two wait for each other. Each pair meets while a third session holds the rows that both need;
// then all run at once.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { json } from '#database'
import type { Queryable } from '#database'
import { rebuildProjections } from '#result'
import { openTestDatabase } from '../helper/database.ts'
import { addWorker, describeEnd, finish, startExecution } from '../helper/execution.ts'
import { findBroken } from '../helper/ledger.ts'
import { createCaller, describeSubmission, submitNew } from '../helper/submission.ts'
import { submitBatch } from './delivery.ts'

const { sql } = await openTestDatabase(t)
const caller = await createCaller(sql)
const python = describeSubmission({ code: 'print(1)' })
const hook = { url: 'https://hook.test/', secret: 'horse' }
const actor = json(sql, { actor: {} })

type Work = (session: Queryable) => PromiseLike<unknown>

interface Batch {
  readonly id: string
  readonly members: readonly string[]
}

const submit = (count: number, createMember?: () => string): Promise<Batch> =>
  submitBatch(sql, caller, Array.from({ length: count }, () => python), hook, createMember) // prettier-ignore

const alive = await addWorker(sql)

const losses = {
  silent: (worker: string) =>
    sql`update runledger.worker set renewed_at = now() - interval '1 hour' where id = ${worker}`,
  /** The worker was declared lost before. */
  stopped: (worker: string) =>
    sql`update runledger.worker set stopped_at = now() where id = ${worker}`,
}

const sweep: Work = (session) => session`select * from runledger.sweep_workers()`
const reconcile: Work = (session) => session`select runledger.reconcile_queue()`
const purge: Work = (session) => session`select runledger.purge_bodies('0 seconds', 1000)`
const cancel =
  (...members: string[]): Work =>
  (session) =>
    session`select runledger.cancel(${members}::uuid[], ${caller.accountId}, ${actor})`

async function describeEnds(members: readonly string[]): Promise<Work> {
  const items: object[] = []
  for (const member of members) {
    const version = await startExecution(sql, member, { workerId: alive })
    items.push(describeEnd({ id: member, version }))
  }
  return (session) => session`select * from runledger.conclude(${json(sql, items)})`
}

/** Starts `one`, then `other`, while a third session holds rows that both need; then frees them. @throws the error of each. */
async function meet(held: Work, one: Work, other: Work): Promise<void> {
  const sessions = await Promise.all([sql.reserve(), sql.reserve(), sql.reserve()])
  const [holder, first, second] = sessions
  try {
    // A deadlock must fail `one`, which a caller waits for, so `other` would detect it later.
    await second`set deadlock_timeout = '1min'`
    await holder`begin`
    await held(holder)
    const works = [await beginToWait(first, one), await beginToWait(second, other)]
    await holder`commit`
    for (const { outcome } of works) await outcome
  } finally {
    await second`reset deadlock_timeout`
    for (const session of sessions) session.release()
  }
}

/** Starts `work`. @returns when it waits for a lock, or is over because it needs none of the held rows. */
async function beginToWait(
  session: Queryable,
  work: Work,
): Promise<{ readonly outcome: Promise<unknown> }> {
  const [row] = await session<[{ pid: number }]>`select pg_backend_pid() as pid`
  let isOver = false
  const outcome = Promise.resolve(work(session)).finally(() => (isOver = true))
  outcome.catch(() => {})
  const isWaiting = async (): Promise<boolean> => {
    const found = await sql`
      select from pg_stat_activity where pid = ${row.pid} and state = 'active' and wait_event_type = 'Lock'`
    return found.length > 0
  }
  while (!isOver && !(await isWaiting())) await sleep(10)
  return { outcome }
}

async function readDue(batch: Batch): Promise<object> {
  const [row] = await sql`
    select d.state, (select count(*)::integer from graphile_worker.jobs j where j.key = d.webhook_id::text) as jobs
    from runledger.delivery d where d.submission_id = ${batch.id}`
  return { ...row }
}
const due = { state: 'pending', jobs: 1 }

t.test('ends of two batches, and a purge that comes to them in the other order', async (t) => {
  const one = await submit(2)
  // The ids are older than those of the first batch.
  const early = Date.now() - 60_000
  const other = await submit(2, () => uuidv7({ msecs: early }))
  await finish(sql, other.members[0]!)
  await finish(sql, one.members[0]!)
  await meet(
    (session) => session`select from runledger.delivery where submission_id = ${one.id} for update`,
    await describeEnds([one.members[1]!, other.members[1]!]),
    purge,
  )
  for (const batch of [one, other]) t.strictSame(await readDue(batch), due)
  t.strictSame(await findBroken(sql), [])
})

for (const [name, lose] of Object.entries(losses)) {
  t.test(`a member is taken back while a sweep gives its batch back (${name})`, async (t) => {
    const batch = await submit(2)
    const [first, second] = batch.members as [string, string]
    const worker = await addWorker(sql)
    for (const member of [first, second]) await startExecution(sql, member, { workerId: worker })
    await lose(worker)
    await meet(
      (session) =>
        session`select from runledger.pending where submission_id = ${second} for update`,
      cancel(second),
      sweep,
    )
    const [ended] = await sql`select status from runledger.submission where id = ${second}`
    t.equal(ended?.['status'], 'cancelled')
    t.strictSame(await readDue(batch), { state: 'waiting', jobs: 0 })
    await finish(sql, first)
    t.strictSame(await readDue(batch), due)
    t.strictSame(await findBroken(sql), [])
  })

  t.test(
    `two keys get room by ends while a sweep gives some of theirs back (${name})`,
    async (t) => {
      const both = [await createCaller(sql, 'beta'), await createCaller(sql, 'beta')]
      const callers = both.toSorted((one, other) => (one.apiKeyId < other.apiKeyId ? -1 : 1))
      const low = callers[0]!
      const high = callers[1]!
      const worker = await addWorker(sql)
      // Each of these is cancelled and ends when its worker is lost. The key that is locked last comes first.
      for (const owner of [high, low]) {
        const id = await submitNew(sql, owner, python)
        await startExecution(sql, id, { workerId: worker })
        await sql`select runledger.cancel(array[${id}::uuid], ${owner.accountId}, ${actor})`
      }
      const others = await Promise.all(callers.map((owner) => submitNew(sql, owner, python)))
      const ends = await describeEnds(others)
      await lose(worker)
      await meet(
      (session) => session`select from runledger.api_key where id = ${low.apiKeyId} for no key update`,
      ends,
      sweep,
    ) // prettier-ignore
      t.strictSame(await findBroken(sql), [])
    },
  )
}

t.test('all at once, many times: every batch is due once', async (t) => {
  const failures: unknown[] = []
  const attempt = async (work: PromiseLike<unknown>): Promise<void> => {
    try {
      await work
    } catch (error) {
      failures.push(error)
    }
  }
  for (let round = 0; round < 12; round += 1) {
    const batches: Batch[] = []
    for (let n = 0; n < 4; n += 1) batches.push(await submit(4))
    const worker = await addWorker(sql)
    const [ending, lost, taken, waiting] = [0, 1, 2, 3].map((place) =>
      batches.map(({ members }) => members[place]!),
    ) as [string[], string[], string[], string[]]
    for (const member of [...lost, ...taken])
      await startExecution(sql, member, { workerId: worker })
    const ends = await describeEnds(round % 2 === 0 ? ending : ending.toReversed())
    await (round % 3 === 0 ? losses.stopped : losses.silent)(worker)
    await Promise.all([
      attempt(ends(sql)),
      ...taken.toReversed().map((member) => attempt(cancel(member)(sql))),
      attempt(cancel(...waiting.toReversed())(sql)),
      ...[sweep, reconcile, purge, sweep, purge, reconcile].map((work) => attempt(work(sql))),
      attempt(rebuildProjections(sql)),
    ])
    await attempt(sweep(sql))
    for (const member of [...lost, ...taken]) {
      const [row] = await sql`select from runledger.pending where submission_id = ${member}`
      if (row !== undefined) await attempt(finish(sql, member))
    }
    for (const batch of batches) t.strictSame(await readDue(batch), due)
  }
  t.strictSame(failures, [])
  t.strictSame(await findBroken(sql), [])
})
