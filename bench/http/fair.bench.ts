// Measures how accounts share the slots, through the whole service. There are three measurements, each with a goal:
// - B's hello while both slots run A's four-second programs and 500 more of A's are queued. It must start when the next of
//   A's running programs ends.
// - B's hello while A has 5,000 hellos queued, and what that costs A.
// - Ten accounts of weights 1, 2 and 4 that all have more queued than can run: whose programs run first.
// Floor: a hello while nothing else is queued or runs.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { setTier } from '#account'
import type { Caller } from '#account'
import { createCaller, describeSubmission, submitNew } from '../../test/helper/submission.ts'
import { hello } from '../executor/hello.ts'
import { measure } from '../measure.ts'
import type { Batch } from '../measure.ts'
import { deadline } from '../options.ts'
import { isQuick, report, scaleIterations } from '../report.ts'
import { createClient } from './service.ts'
import { startWholeService } from './whole-service.ts'

const slots = 2
const lateMilliseconds = 20
const helloMilliseconds = 50
const leastThroughput = 0.97
const mostOff = 0.05
const helloProgram = describeSubmission({ code: hello.python })
const longProgram = describeSubmission({ code: 'import time\ntime.sleep(4)\n' })
const queuedHellos = isQuick ? 1500 : 5000
const queuedLong = isQuick ? 50 : 500

await using service = await startWholeService('fair', {
  web: { QUEUE_CAPACITY: '20000' },
  worker: { SLOTS: String(slots), FIRST_UID: String(120_000 + (process.pid % 5000) * 8) },
  database: { connections: 8, statementSeconds: 60 },
})
const { sql } = service
// There are two accounts A, because an account's recent programs determine how long its next ones are expected to take.
const [long, short, b] = [await createCaller(sql), await createCaller(sql), await createCaller(sql)]
await using client = createClient(service.port, b.key, 1)
const run = (): Promise<void> => client.run(hello.python, hello.stdout)

const late: number[] = []
let overtaken = 0
const rates = { alone: [] as number[], shared: [] as number[] }
const iterations = scaleIterations(12)
const rows = await measure(
  [
    { name: 'hello, alone', iterations, prepare: empty, run },
    {
      name: `hello beside ${queuedLong} queued of 4 s`,
      floor: 'hello, alone',
      iterations: scaleIterations(5),
      prepare: () => fill(long, longProgram, queuedLong),
      batch: runLate,
    },
    {
      name: `hello beside ${queuedHellos} queued hellos`,
      floor: 'hello, alone',
      iterations,
      prepare: () => fill(short, helloProgram, queuedHellos),
      batch: runBeside,
    },
  ],
  isQuick || deadline < 110_000 ? 1 : 2,
)
await empty()
await service.worker[Symbol.asyncDispose]()
const off = await weigh()

const beside = rows.at(-1)
const sorted = late.toSorted((left, right) => left - right)
const latest = sorted.at(-1) ?? Infinity
const throughput = median(rates.shared) / median(rates.alone)
report('http/fair', rows, {
  notes: [
    `started ${median(late).toFixed(1)} ms (p50) and ${latest.toFixed(1)} ms (latest of ${late.length}) after a slot was free, and ${overtaken} of A's before it; the goal is ${lateMilliseconds} ms and none`,
    `A's throughput beside B x${throughput.toFixed(3)} of alone; the goal is x${leastThroughput}`,
    `ten accounts of weights 1, 2, 4: the one furthest from its share of the slots is ${(off * 100).toFixed(1)} % off; the goal is ${mostOff * 100} %`,
  ],
  figures: { lateMilliseconds: latest, throughput, off },
  failures: isQuick
    ? []
    : [
        ...(latest <= lateMilliseconds && overtaken === 0
          ? []
          : ['a free slot was given to one who had had more']),
        ...((beside?.p99 ?? Infinity) <= helloMilliseconds
          ? []
          : [`a hello beside ${queuedHellos} took longer than ${helloMilliseconds} ms (p99)`]),
        ...(throughput >= leastThroughput ? [] : ["A's throughput suffers"]),
        ...(off <= mostOff ? [] : ['slots are not shared by weight']),
      ],
})

/** Cancels all submissions and waits until none is pending. */
async function empty(): Promise<void> {
  const pending = await sql<{ id: string; account: string }[]>`
    select p.submission_id as id, k.account_id as account from runledger.pending p
    join runledger.api_key k on k.id = p.api_key_id order by 1`
  await Promise.all(
    pending.map(
      ({ id, account }) =>
        sql`select runledger.cancel(array[${id}::uuid], ${account}, '{"actor": {}}')`,
    ),
  )
  while ((await sql`select from runledger.pending limit 1`).length > 0) await sleep(20)
}

/** Queues `count` programs of A, and waits until every slot also runs one. */
async function fill(caller: Caller, program: typeof helloProgram, count: number): Promise<void> {
  await empty()
  await enqueue(caller, program, count + slots)
  while ((await countRunning()) < slots) await sleep(5)
}

async function enqueue(caller: Caller, program: typeof helloProgram, count: number): Promise<void> {
  let left = count
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      while (left > 0) {
        left -= 1
        await submitNew(sql, caller, program, { capacity: 1_000_000 })
      }
    }),
  )
}

async function countRunning(): Promise<number> {
  const [row] = await sql`
    select count(*)::integer as count from runledger.pending p
    join runledger.submission r on r.id = p.submission_id where r.status = 'running'`
  return row?.['count'] as number
}

/** Reads from the log how long after the end of one of A's programs B's started, and how many of A's started before it. */
async function runLate(calls: number): Promise<Batch> {
  const durations: number[] = []
  const startedAt = performance.now()
  for (let call = 0; call < calls; call += 1) {
    while ((await countRunning()) < slots) await sleep(5)
    const before = performance.now()
    await run()
    durations.push(performance.now() - before)
    const [row] = await sql<[{ late: number; overtaken: number }]>`
      select
        coalesce(extract(epoch from mine.started_at - max(other.finished_at) filter (
          where other.finished_at between mine.created_at and mine.started_at
        )), 0)::double precision * 1000 as late,
        -- What was being taken while this one was being stored has not overtaken it, nor has what got another slot when it got one.
        count(*) filter (
          where other.started_at between mine.created_at + ${`${lateMilliseconds} ms`}::interval
            and mine.started_at - ${`${lateMilliseconds} ms`}::interval
        )::integer as overtaken
      from (select * from runledger.submission where account_id = ${b.accountId} order by id desc limit 1) mine
      left join runledger.submission other on other.account_id = ${long.accountId}
      group by mine.started_at`
    late.push(row.late)
    overtaken += row.overtaken
  }
  return { durations, elapsedSeconds: (performance.now() - startedAt) / 1000 }
}

/** Measures A alone, then beside B, which sends a hello now and then, then A alone again. */
async function runBeside(calls: number): Promise<Batch> {
  const pauseMilliseconds = 500
  const measureAlone = async (): Promise<void> => {
    rates.alone.push(await countEnds(() => sleep((calls / 2) * pauseMilliseconds)))
  }
  await measureAlone()
  const durations: number[] = []
  const startedAt = performance.now()
  const shared = await countEnds(async () => {
    for (let call = 0; call < calls; call += 1) {
      const before = performance.now()
      await run()
      const took = performance.now() - before
      durations.push(took)
      await sleep(pauseMilliseconds - took)
    }
  })
  rates.shared.push(shared)
  const elapsedSeconds = (performance.now() - startedAt) / 1000
  await measureAlone()
  return { durations, elapsedSeconds }
}

/** Returns how many of A's programs end per second during the work. */
async function countEnds(work: () => Promise<unknown>): Promise<number> {
  const count = async (): Promise<number> => {
    const [row] = await sql`
      select count(*)::integer as count from runledger.submission
      where account_id = ${short.accountId} and status = 'completed'`
    return row?.['count'] as number
  }
  const [before, startedAt] = [await count(), performance.now()]
  await work()
  return ((await count()) - before) / ((performance.now() - startedAt) / 1000)
}

/**
 * Queues programs of ten accounts before any runs. Returns the largest relative deviation of an account from its share of
 * the programs that ran first.
 */
async function weigh(): Promise<number> {
  const each = isQuick ? 60 : 200
  const accounts: { caller: Caller; weight: number }[] = []
  for (const weight of [1, 2, 4])
    await setTier(
      sql,
      {
        name: `weight${weight}`,
        requests_per_minute: null,
        concurrent_executions: null,
        limits: {},
        weight,
      },
      'bench',
    )
  for (let n = 0; n < 10; n += 1) {
    const weight = [1, 2, 4][n % 3] ?? 1
    accounts.push({ caller: await createCaller(sql, `weight${weight}`), weight })
  }
  await Promise.all(accounts.map(({ caller }) => enqueue(caller, helloProgram, each)))
  const all = accounts.reduce((sum, { weight }) => sum + weight, 0)
  // After this many starts the accounts of weight 4 have nothing left in the queue.
  const first = Math.floor((each * all) / 4)
  await service.startWorker()
  while (
    Number((await sql`select count(*) from runledger.pending`)[0]?.['count']) >
    each * 10 - first
  )
    await sleep(50)
  const ran = await sql<{ account_id: string; count: number }[]>`
    select account_id, count(*)::integer as count
    from (
      select account_id from runledger.submission where account_id = any (${accounts.map(({ caller }) => caller.accountId)})
        and started_at is not null
      order by started_at limit ${first}
    ) early
    group by account_id`
  return Math.max(
    ...accounts.map(({ caller, weight }) => {
      const got = ran.find((row) => row.account_id === caller.accountId)?.count ?? 0
      return Math.abs(got / ((first * weight) / all) - 1)
    }),
  )
}

function median(values: readonly number[]): number {
  assert(values.length > 0)
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? NaN
}
