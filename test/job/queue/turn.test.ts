// In which order accounts' programs come: whoever has had least of the slots is next.
import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import type { Caller } from '#account'
import { receiveBatch } from '#enqueue'
import { createTestDatabase } from '../../helper/database.ts'
import { finish } from '../../helper/execution.ts'
import { createCaller, describeSubmission, submitNew } from '../../helper/submission.ts'

const { sql, drop } = await createTestDatabase()
t.teardown(drop)
const python = describeSubmission({ code: 'print(1)' })
const lua = describeSubmission({ language: 'lua', code: 'print(1)' })
const ample = { capacity: 100_000 }
const worker = uuidv7()
await sql`
  insert into runledger.worker (id, host, pid, slots, languages, lease_seconds)
  values (${worker}, 'test', 1, 1, '{}', 600)`
await sql`select graphile_worker.add_job('execute')`

t.beforeEach(async () => {
  await sql`delete from graphile_worker._private_jobs`
  await sql`delete from runledger.pending`
})

async function enqueue(caller: Caller, count: number, submission = python): Promise<string[]> {
  const ids: string[] = []
  for (let n = 0; n < count; n += 1) ids.push(await submitNew(sql, caller, submission, ample))
  return ids
}

interface Begun {
  readonly account: string
  readonly id: string
}

/** Begins the next ones, for so many slots at once. */
async function takeTogether(slots: number, language = 'python'): Promise<Begun[]> {
  const runs = Array.from({ length: slots }, () => uuidv7())
  const rows = await sql<{ account_id: string; submission_id: string | null }[]>`
    select * from runledger.take_several(
      ${worker}, ${runs}::text[], 1, ${sql.json({ worker })}, ${sql.json({ [language]: {} })}, '{"actor": {}}', '{}'::text[]
    )`
  return rows.flatMap(({ account_id, submission_id }) =>
    submission_id === null ? [] : [{ account: account_id, id: submission_id }],
  )
}

/** Begins the next. */
async function take(language?: string): Promise<Begun | null> {
  return (await takeTogether(1, language))[0] ?? null
}

async function takeAll(most: number): Promise<string[]> {
  const accounts: string[] = []
  for (let n = 0; n < most; n += 1) {
    const taken = await take()
    if (taken === null) break
    accounts.push(taken.account)
  }
  return accounts
}

const count = (accounts: readonly string[], { accountId }: Caller): number =>
  accounts.filter((account) => account === accountId).length

/** Ticks of a second of a slot at weight 1; what a program is thought to take before any has ended. */
const second = 50_000

/** By which what is queued moves. */
const step = 2 * second

const readTime = async (): Promise<number> =>
  Number((await sql`select last_value from runledger.turn`)[0]?.['last_value'])

/** Where the account's next program comes, unless the virtual time is later. */
async function readClock({ accountId }: Caller): Promise<number> {
  return Number((await sql.unsafe(`select last_value from turn."${accountId}"`))[0]?.['last_value'])
}

/** Lets so much be taken that no account has had more of late than another. */
async function passTime(): Promise<void> {
  await sql`select setval('runledger.turn', last_value + 1000000000) from runledger.turn`
}

async function finishUnrun(id: string): Promise<void> {
  await sql`select runledger.finish_submissions(array[${id}::uuid])`
}

/** Ends a program that took its slot for so long. */
async function end(id: string, seconds: number): Promise<void> {
  await sql`
    update runledger.result set started_at = now() - make_interval(secs => ${seconds}), finished_at = now()
    where id = ${id}`
  await sql`select runledger.finish_submissions(array[${id}::uuid])`
}

t.test('who comes is next, however much another has queued', async (t) => {
  const [busy, other] = [await createCaller(sql), await createCaller(sql)]
  await enqueue(busy, 50)
  await takeAll(20)
  for (let n = 0; n < 3; n += 1) {
    const [id] = await enqueue(other, 1)
    const taken = [await take(), await take()]
    t.ok(
      taken.some((found) => found?.id === id),
      'of the next two, as one of the other has as much right',
    )
  }
})

t.test('accounts get slots by the weight of their tier, and each its own in order', async (t) => {
  for (const weight of [1, 2, 4])
    await sql`insert into runledger.tier (name, weight) values (${`weight${weight}`}, ${weight})`
  const one = await createCaller(sql, 'weight1')
  const two = await createCaller(sql, 'weight2')
  const four = await createCaller(sql, 'weight4')
  await enqueue(one, 70)
  await enqueue(two, 70)
  const ids = await enqueue(four, 70)
  const order: string[] = []
  const accounts: string[] = []
  for (let n = 0; n < 70; n += 1) {
    const taken = await take()
    accounts.push(taken?.account ?? '')
    if (taken?.account === four.accountId) order.push(taken.id)
  }
  t.ok(Math.abs(count(accounts, one) - 10) <= 1)
  t.ok(Math.abs(count(accounts, two) - 20) <= 1)
  t.ok(Math.abs(count(accounts, four) - 40) <= 1)
  t.strictSame(order, ids.slice(0, order.length))
})

t.test('requests that come at once get a turn each', async (t) => {
  const [rush, calm] = [await createCaller(sql), await createCaller(sql)]
  await enqueue(rush, 1)
  await enqueue(calm, 40)
  await Promise.all(Array.from({ length: 100 }, () => enqueue(rush, 1)))
  const [row] = await sql`
    select count(distinct p.turn) from runledger.pending p
    join runledger.api_key k on k.id = p.api_key_id where k.account_id = ${rush.accountId}`
  t.equal(row?.['count'], 101)
  const taken = await takeAll(60)
  t.ok(Math.abs(count(taken, calm) - 30) <= 1, `${count(taken, calm)} of 60`)
})

t.test('an account with very many queued waits for itself alone', async (t) => {
  const [many, other] = [await createCaller(sql), await createCaller(sql)]
  const [first = ''] = await enqueue(many, 1)
  await sql`
    insert into graphile_worker._private_jobs (task_id, payload, key, run_at)
    select task_id, payload, 'of many ' || n, run_at + n * interval '50 milliseconds'
    from graphile_worker._private_jobs, generate_series(1, 100000) n where key = ${first}`
  t.equal((await take())?.id, first)
  const ids = await enqueue(other, 2)
  t.equal((await take())?.id, ids[0])
})

t.test('a batch of 20 gets a turn for each', async (t) => {
  const [batch, calm] = [await createCaller(sql), await createCaller(sql)]
  const items = Array.from({ length: 20 }, () => ({ submission: python }))
  const { apiKeyId, accountId } = batch
  const from = {
    apiKeyId,
    accountId,
    requestId: uuidv7(),
    waiter: null,
    durable: true,
    idempotencyKey: null,
  }
  await receiveBatch(sql, items, { ...from, ...ample }, new AbortController().signal)
  await enqueue(calm, 20)
  const taken = await takeAll(20)
  t.ok(Math.abs(count(taken, calm) - 10) <= 1, `${count(taken, calm)} of 20`)
})

t.test('what is given back goes first, and is not charged for again', async (t) => {
  const caller = await createCaller(sql)
  const [first = '', second = ''] = await enqueue(caller, 2)
  const before = await readClock(caller)
  t.equal((await take())?.id, first)
  const lose = async (version: number): Promise<void> => {
    await sql`
      select runledger.interrupt_execution(
        ${first}, ${version}, 1, '{"reason": "worker_lost", "spends_attempt": true}', '{"actor": {}}', 3
      )`
  }
  await lose(2)
  t.equal((await take())?.id, first)
  t.equal(await readClock(caller), before)
  // The second loss is waited for: for a while others come.
  await lose(4)
  t.equal((await take())?.id, second)
  await sql`update graphile_worker._private_jobs set run_at = now() where key = ${first}`
  t.equal((await take())?.id, first)
  t.equal(await readClock(caller), before)
})

t.test('no slot is idle while anything waits', async (t) => {
  const callers = [await createCaller(sql), await createCaller(sql)] as const
  for (const caller of callers) await enqueue(caller, 7)
  t.equal((await takeAll(20)).length, 14)
})

t.test('whose programs take longer than was thought gets fewer', async (t) => {
  const [slow, quick] = [await createCaller(sql), await createCaller(sql)]
  for (const [caller, seconds] of [
    [slow, 4],
    [quick, 0.5],
  ] as const) {
    await accustom(caller, seconds)
  }
  await passTime()
  await enqueue(slow, 20)
  await enqueue(quick, 80)
  const taken = await takeAll(45)
  t.ok(Math.abs(count(taken, slow) - 5) <= 1, `${count(taken, slow)} of 45`)
})

t.test('what was charged and never ran is given back', async (t) => {
  const caller = await createCaller(sql)
  await passTime()
  const before = await readTime()
  const [first = '', last = ''] = await enqueue(caller, 2)
  await finishUnrun(last)
  t.equal(await readClock(caller), before + second + 1, 'after the last there is no place yet')
  await enqueue(caller, 1)
  await finishUnrun(first)
  await enqueue(caller, 1)
  t.equal(await readClock(caller), before + second + 1 + second + second / 2, 'it pays for half')
})

t.test('a time that cannot be is not charged', async (t) => {
  const caller = await createCaller(sql)
  await accustom(caller, 0.001)
  const [back = '', late = '', last = ''] = await enqueue(caller, 3)
  await end(back, -3600)
  const before = await readClock(caller)
  await end(late, 86_400)
  t.ok((await readClock(caller)) - before <= 600 * second + step, 'ten minutes at most')
  await sql`update runledger.result set status = 'cancelled' where id = ${last}`
  const first = await readClock(caller)
  await sql`
    select runledger.append_event(${last}, 2, 'execution.started', 1, '{}', '{"actor": {}}'),
      runledger.append_event(${last}, 3, 'execution.interrupted', 1, '{}', '{"actor": {}}')`
  await end(last, 500)
  t.ok((await readClock(caller)) <= first, 'nor the wait for another attempt')
})

t.test('the way of an end into the log is not charged', async (t) => {
  const caller = await createCaller(sql)
  await passTime()
  const before = await readTime()
  const [id = ''] = await enqueue(caller, 1)
  await sql`
    update runledger.result set started_at = now() - interval '300 s', finished_at = now()
    where id = ${id}`
  await sql`select runledger.finish_submissions(array[${id}::uuid], '{0.5}')`
  t.equal(await readClock(caller), before + second / 2, 'as long as the slot was taken')
  const [late = ''] = await enqueue(caller, 1)
  await sql`select runledger.finish_submissions(array[${late}::uuid], '{86400}')`
  t.equal(await readClock(caller), before + 600.5 * second, 'ten minutes at most')
})

t.test('who takes back all that waits, is where the others are', async (t) => {
  const caller = await createCaller(sql)
  await passTime()
  const before = await readTime()
  for (const id of await enqueue(caller, 5)) await finishUnrun(id)
  t.equal(await readClock(caller), before + 5)
})

/** So often that what is thought of a program's time is right. */
async function accustom(caller: Caller, seconds: number): Promise<void> {
  for (const id of await enqueue(caller, 60)) await end(id, seconds)
  await sql`delete from graphile_worker._private_jobs`
}

t.test('what a program took more is charged afterwards', async (t) => {
  const caller = await createCaller(sql)
  await passTime()
  const before = await readTime()
  const [first = '', last = ''] = await enqueue(caller, 2)
  await end(first, 4)
  t.equal(await readClock(caller), before + 2 * second + step, 'in whole steps, as others wait')
  await end(last, 4)
  t.equal(await readClock(caller), before + 8 * second)
  const [next = ''] = await enqueue(caller, 1)
  await end(next, 4.5)
  t.equal(await readClock(caller), before + 12.5 * second, 'at once when none waits behind it')
})

for (const slots of [1, 8]) {
  t.test(
    `what was queued at the price of short programs waits for the time of the long ones, ${slots} at once`,
    async (t) => {
      const [grown, other] = [await createCaller(sql), await createCaller(sql)]
      for (const caller of [grown, other]) await accustom(caller, 0.02)
      await passTime()
      const ids = await enqueue(grown, 100)
      const [first] = [await take()]
      const others = await enqueue(other, 40)
      await end(first?.id ?? '', 8)
      ids.push(...(await enqueue(grown, 1)))
      const order: string[] = [first?.id ?? '']
      const accounts: string[] = []
      for (let n = 0; n < 140; n += slots) {
        for (const taken of await takeTogether(slots)) {
          accounts.push(taken.account)
          order.push(taken.id)
        }
      }
      t.strictSame(
        accounts.slice(0, others.length),
        others.map(() => other.accountId),
        'the others need less than this one took',
      )
      t.strictSame(
        order.filter((id) => !others.includes(id)),
        ids,
        'each of the account in order',
      )
    },
  )
}

t.test('of those that are begun at once none overtakes another that is moved', async (t) => {
  const caller = await createCaller(sql)
  await accustom(caller, 0.02)
  const ids = await enqueue(caller, 3)
  const first = await take()
  await end(first?.id ?? '', 8)
  ids.push(...(await enqueue(caller, 3)))
  const rest = await takeTogether(8)
  t.strictSame([first?.id, ...rest.map(({ id }) => id)], ids)
})

t.test('an account that changes from short programs to long ones gets its share', async (t) => {
  const [grown, other] = [await createCaller(sql), await createCaller(sql)]
  for (const caller of [grown, other]) await accustom(caller, 0.1)
  await passTime()
  const queued = new Map<string, string[]>()
  for (const caller of [grown, other]) queued.set(caller.accountId, await enqueue(caller, 400))
  const had = new Map<string, number>()
  const order = new Map<string, string[]>([...queued.keys()].map((account) => [account, []]))
  for (let n = 0; n < 300; n += 1) {
    const { account = '', id = '' } = (await take()) ?? {}
    order.get(account)?.push(id)
    // As programs are: some take less, some more.
    const seconds = (account === grown.accountId ? 4 : 0.1) * (0.5 + (n % 7) / 6)
    had.set(account, (had.get(account) ?? 0) + seconds)
    await end(id, seconds)
  }
  const [mine = 0, theirs = 0] = [had.get(grown.accountId), had.get(other.accountId)]
  t.ok(mine - theirs < 10, `${mine} and ${theirs} seconds of a slot`)
  for (const [account, ids] of order)
    t.strictSame(ids, queued.get(account)?.slice(0, ids.length), 'each of them in order')
})

t.test('no slot waits while all are moved, and none is moved twice for the same', async (t) => {
  const caller = await createCaller(sql)
  await accustom(caller, 0.02)
  const ids = await enqueue(caller, 500)
  const first = await take()
  await end(first?.id ?? '', 8)
  const next = await take()
  t.equal(next?.account, caller.accountId)
  const [row] = await sql`
    select count(*)::integer, max(debt)::integer as steps
    from (
      select (payload ->> 'debt')::bigint - min((payload ->> 'debt')::bigint) over () as debt
      from graphile_worker._private_jobs
    ) job
    where debt > 0`
  t.strictSame({ ...row }, { count: 200, steps: 3 })
  t.equal(ids.length, 500)
})

t.test(
  'none overtakes another of its account, though it is cheaper than was thought',
  async (t) => {
    const caller = await createCaller(sql)
    const ids = await enqueue(caller, 4)
    const order: string[] = []
    for (let n = 0; n < 8; n += 1) {
      const taken = await take()
      order.push(taken?.id ?? '')
      await end(taken?.id ?? '', 0.01)
      if (n < 4) ids.push(...(await enqueue(caller, 1)))
    }
    t.strictSame(order, ids)
  },
)

t.test('what is low comes after all that is not, and in order', async (t) => {
  const [one, other] = [await createCaller(sql), await createCaller(sql)]
  const low = describeSubmission({ code: 'print(1)', priority: 'low' })
  const before = await readClock(one)
  const last = [...(await enqueue(one, 2, low)), ...(await enqueue(other, 1, low))]
  t.equal(await readClock(one), before, 'it takes no turn')
  const first = await enqueue(one, 1)
  t.equal((await readClock(one)) - Math.max(before, await readTime()), second, 'it costs nothing')
  const order: (string | undefined)[] = []
  for (let n = 0; n < 4; n += 1) order.push((await take())?.id)
  t.strictSame(order, [...first, ...last])
})

t.test('a job that is made anew keeps its place', async (t) => {
  const [first, other] = [await createCaller(sql), await createCaller(sql)]
  const ids = await enqueue(first, 3)
  await enqueue(other, 3)
  const read = async (): Promise<unknown> =>
    (await sql`select run_at from graphile_worker.jobs where key = ${ids[1] ?? ''}`)[0]?.['run_at']
  const before = await read()
  await sql`select graphile_worker.remove_job(${ids[1] ?? ''})`
  await sql`select runledger.reconcile_queue()`
  t.strictSame(await read(), before)
})

t.test('a language that lags does not set the virtual time back', async (t) => {
  const [behind, caller] = [await createCaller(sql), await createCaller(sql)]
  await enqueue(behind, 3, lua)
  await enqueue(caller, 20)
  await takeAll(20)
  const before = await readTime()
  t.equal((await take('lua'))?.account, behind.accountId)
  t.equal(await readTime(), before)
})

t.test('what a crash or a loss of the virtual time leaves goes on in order', async (t) => {
  const [old, fresh] = [await createCaller(sql), await createCaller(sql)]
  await enqueue(old, 30)
  await takeAll(10)
  await sql`select setval('runledger.turn', 0)`
  await sql.unsafe(`drop sequence turn."${fresh.accountId}", turn."${fresh.accountId} cost"`)
  await sql`select runledger.reconcile_queue()`
  await enqueue(fresh, 15)
  const taken = await takeAll(20)
  t.ok(Math.abs(count(taken, old) - 10) <= 1, `${count(taken, old)} of 20`)
  t.equal((await takeAll(50)).length, 15)
})

t.test('without its clock an account is served all the same', async (t) => {
  const caller = await createCaller(sql)
  await sql.unsafe(
    `drop sequence turn."${caller.accountId}", turn."${caller.accountId} cost", turn."${caller.accountId} credit", turn."${caller.accountId} debt"`,
  )
  const [id = ''] = await enqueue(caller, 1)
  t.equal((await take())?.id, id)
  await end(id, 1)
  const [row] = await sql`select count(*) from audit.invariant where subject = ${caller.accountId}`
  t.equal(row?.['count'], 1, 'and it is said')
  await sql`select runledger.reconcile_queue()`
  t.strictSame(
    [...(await sql`select * from audit.invariant where subject = ${caller.accountId}`)],
    [],
  )
})

t.test('pending rows that were lost get the turns of their jobs', async (t) => {
  const caller = await createCaller(sql)
  await enqueue(caller, 3)
  const read = async (): Promise<unknown[]> => [
    ...(await sql`
      select submission_id, turn from runledger.pending
      where api_key_id = ${caller.apiKeyId} order by submission_id`),
  ]
  const before = await read()
  await sql`delete from runledger.pending`
  await sql`
    select runledger.restore_pending(
      '00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff'
    )`
  t.equal(before.length, 3)
  t.strictSame(await read(), before)
})

t.test(
  'submissions of a key that waits for a place get their turn when they have one',
  async (t) => {
    const limited = await createCaller(sql, 'beta')
    const ids = await enqueue(limited, 12)
    const [waiting] = await sql`select count(*) from runledger.pending where turn is null`
    t.equal(waiting?.['count'], 2)
    const [last] = await sql`
      select max(turn + charge) as ends from runledger.pending where submission_id = any (${ids})`
    t.equal(await readClock(limited), Number(last?.['ends']), 'and are charged for it then')
    await finish(sql, ids[0] ?? '')
    const [left] = await sql`select count(*) from runledger.pending where turn is null`
    t.equal(left?.['count'], 1)
  },
)
