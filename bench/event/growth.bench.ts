// Does a long log make anything slower? A submission and the reading of a result, with many events in the log against ten
// thousand, in two databases of one server. "over floor" must stay within 1.2.
//   node bench/event/growth.bench.ts 10000000    default: half a million, or as many as there is time for; ten million take
//                                                ten minutes to make
import assert from 'node:assert/strict'
import { parseArgs } from 'node:util'
import type { Caller } from '#account'
import { createDatabase } from '#database'
import type { Database } from '#database'
import { readTrackedResult } from '#result'
import { createCaller, describeSubmission, submit } from '../../test/helper/submission.ts'
import { startCluster } from '../database.ts'
import { measure } from '../measure.ts'
import type { Case } from '../measure.ts'
import { deadline } from '../options.ts'
import { isQuick, report, scaleIterations } from '../report.ts'
import { generateLog } from './generate.ts'

const { positionals } = parseArgs({ allowPositionals: true, strict: false })
const asked = positionals[0] === undefined ? null : Number(positionals[0])
const few = 10_000
const sizes = [500_000, 250_000, 100_000, 50_000]
const worst = 1.2

await using cluster = await startCluster()
const submission = describeSubmission({ code: 'print("hello")\n' })

interface Log {
  readonly sql: Database
  readonly caller: Caller
  readonly ids: readonly string[]
  /** Milliseconds that an event took to make. */
  readonly each: number
}

async function makeLog(name: string, events: number): Promise<Log> {
  const url = await cluster.createDatabase(name)
  const sql = createDatabase({ url, connections: 1, name: 'bench', statementSeconds: 0 })
  const caller = await createCaller(sql)
  const startedAt = performance.now()
  await generateLog(sql, caller, { submissions: Math.ceil(events / 3), days: 200 })
  const taken = performance.now() - startedAt
  process.stderr.write(`  ${events} events in ${(taken / 1000).toFixed(0)} s\n`)
  // Of the last month, as callers ask for them.
  const rows = await sql`
    select id from runledger.submission where id > runledger.uuid_floor(now() - interval '30 days')
    order by md5(id::text) limit 500`
  return { sql, caller, ids: rows.map(({ id }) => id as string), each: taken / events }
}

const small = await makeLog('few', few)
const many = asked ?? (isQuick ? 100_000 : fit(small.each))
const logs = { few: small, many: await makeLog('many', many) }
// Nothing is written out while one is measured and not the other.
await logs.many.sql`checkpoint`

/** The largest log that half of the time is enough for, given the milliseconds of an event. */
function fit(each: number): number {
  const most = (deadline - performance.now()) / 2 / each
  return sizes.find((size) => size <= most) ?? sizes.at(-1) ?? few
}

let next = 0
async function read({ sql, caller, ids }: Log): Promise<void> {
  next += 1
  const record = await readTrackedResult(sql, ids[next % ids.length] ?? '', caller.accountId)
  assert.equal(record?.verdict, 'AC')
}

async function append({ sql, caller }: Log): Promise<void> {
  assert.equal((await submit(sql, caller, submission)).kind, 'received')
}

/** Nothing takes jobs here. */
async function emptyQueue({ sql }: Log): Promise<void> {
  await sql`truncate runledger.pending, graphile_worker._private_jobs`
}

const events = (count: number): string => `${count.toLocaleString('en')} events`
const cases: Case[] = (
  [
    ['submit', append, 300],
    ['read a result', read, 1000],
  ] as const
).flatMap(([name, work, iterations]) => [
  {
    name: `${name}, ${events(few)}`,
    iterations: scaleIterations(iterations),
    prepare: () => emptyQueue(logs.few),
    run: () => work(logs.few),
  },
  {
    name: `${name}, ${events(many)}`,
    floor: `${name}, ${events(few)}`,
    iterations: scaleIterations(iterations),
    prepare: () => emptyQueue(logs.many),
    run: () => work(logs.many),
  },
])

const rows = await measure(cases, asked === null ? undefined : 5)
await Promise.all([logs.few.sql.end({ timeout: 5 }), logs.many.sql.end({ timeout: 5 })])
const slower = rows.filter(({ ratio }) => ratio !== null && ratio > worst)
report('event/growth', rows, {
  failures: isQuick
    ? []
    : slower.map(({ name, ratio }) => `${name}: ${ratio?.toFixed(2)} times, more than ${worst}`),
})
