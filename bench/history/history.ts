// A history of any length, made once and kept: a cluster of its own below a directory, with a database for each length. The
// service's own functions make a hundredth of it (make.sql), a millisecond of CPU time for each submission, and statements in
// bulk repeat that, and forget old bodies (copy.sql). Killed and called again the making goes on where it was.
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { v7 as uuidv7 } from 'uuid'
import { createDatabase } from '#database'
import type { Database } from '#database'
import { startEmbeddedPostgres } from '#embedded-postgres'
import type { EmbeddedPostgres } from '#embedded-postgres'
import { migrate } from '#migration'
import { createCaller } from '../../test/helper/submission.ts'
import { makePastPartitions } from '../event/generate.ts'

/** One in fifty has a webhook, which is another event. */
const eventsPerSubmission = 3.02
const mostParts = 100
const leastSample = 30_000
const accounts = 100
const connections = 2
// Bodies: a few days longer than a service keeps them, so that there is something left to measure.
const keptDays = 36

// While it is made nothing is read from the disk that was not written before, so a crash only means to begin again.
const quick = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '8GB',
  shared_buffers: '1GB',
  autovacuum_naptime: '5s',
}

/** PostgreSQL's own settings, or those for making. */
export async function openCluster(directory: string, isMade: boolean): Promise<EmbeddedPostgres> {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  return startEmbeddedPostgres({ directory, port: 0, settings: isMade ? {} : quick })
}

/** As a process of the service has it; statements take as long as they take. */
export function connect(server: EmbeddedPostgres, name: string): Database {
  return createDatabase({
    url: server.url(name),
    connections: 1,
    name: 'bench',
    statementSeconds: 0,
  })
}

export interface History {
  readonly name: string
  readonly events: number
  /** The time that it covers, up to now. */
  readonly days: number
}

/** Makes a database, or what it lacks. */
export async function makeHistory(server: EmbeddedPostgres, history: History): Promise<void> {
  const { name } = history
  const postgres = connect(server, 'postgres')
  const [found] = await postgres`select from pg_database where datname = ${name}`
  if (found === undefined) await postgres`create database ${postgres(name)}`
  await postgres.end({ timeout: 5 })

  const sql = connect(server, name)
  await migrate(sql, server.url(name))
  const { submissions, parts } = await plan(sql, history)
  const startedAt = performance.now()
  const seconds = (): number => (performance.now() - startedAt) / 1000
  await together(server, name, (each) => makeSample(each))
  tell(`${name}: a sample of ${submissions} submissions`, seconds())
  await sql`vacuum (analyze)`
  const missing = await sql<{ part: number }[]>`
    select part from generate_series(1, ${parts - 1}::integer) part
    where not exists (select from bench.copied c where c.part = part) order by part`
  const left = missing.map(({ part }) => part)
  await together(server, name, async (each) => {
    for (let part = left.shift(); part !== undefined; part = left.shift()) {
      await each`select bench.copy(${part})`
      if (part % 5 === 0) tell(`${name}: part ${part} of ${parts}`, seconds())
    }
  })
  await forgetBodies(server, sql, name, { submissions, parts, days: history.days })
  await sql`update bench.plan set seconds = seconds + ${seconds()}`
  // Puts back the functions whose clock was changed.
  await migrate(sql, server.url(name))
  await sql`vacuum (freeze, analyze)`
  await sql`checkpoint`
  const [row] = await sql`
    select p.seconds, (select count(*) from runledger.event) as events,
      (select count(*) from runledger.submission) as submissions,
      pg_database_size(current_database()) / 1e9 as gigabytes
    from bench.plan p`
  tell(`${name}: ${JSON.stringify(row)}`, seconds())
  await sql.end({ timeout: 5 })
}

/** Of parts that are older than a service keeps bodies, but for a few days that are left to measure it. */
async function forgetBodies(
  server: EmbeddedPostgres,
  sql: Database,
  name: string,
  { parts, days }: Plan & Pick<History, 'days'>,
): Promise<void> {
  const old = Math.max(0, Math.floor((parts * (days - keptDays)) / days))
  const left = Array.from({ length: old }, (_, part) => part)
  await together(server, name, async (each) => {
    for (let part = left.shift(); part !== undefined; part = left.shift())
      await each`select bench.forget(${part})`
  })
  await dropPartitions(sql, keptDays)
}

/** Drops all empty partitions that ended so many days ago. */
export async function dropPartitions(sql: Database, days: number): Promise<void> {
  let name: string | null | undefined
  do {
    const [row] = await sql<[{ name: string | null }]>`
      select runledger.drop_partition(make_interval(days => ${days})) as name`
    name = row.name
  } while (name !== null)
}

interface Plan {
  readonly submissions: number
  readonly parts: number
}

async function plan(sql: Database, { events, days }: History): Promise<Plan> {
  const [earlier] = await sql`select to_regclass('bench.plan') is not null as found`
  if (earlier?.['found'] !== true) await makePastPartitions(sql, days)
  for (const name of ['make.sql', 'copy.sql'])
    await sql.unsafe(readFileSync(join(import.meta.dirname, name), 'utf8'))
  const parts = Math.max(1, Math.min(mostParts, Math.round(events / leastSample)))
  await sql`
    insert into bench.plan (submissions, parts, days, until)
    select ${Math.ceil(events / parts / eventsPerSubmission)}, ${parts}, ${days}, now()
    where not exists (select from bench.plan)`
  const [callers] = await sql<[{ count: number }]>`select count(*) from bench.caller`
  for (let number = callers.count; number < accounts; number += 1) {
    const { accountId, apiKeyId } = await createCaller(sql)
    await sql`insert into bench.caller values (${number}, ${accountId}, ${apiKeyId})`
  }
  const [row] = await sql<[Plan]>`select submissions, parts from bench.plan`
  return row
}

/** The same on several connections at once. */
async function together(
  server: EmbeddedPostgres,
  name: string,
  work: (sql: Database) => Promise<void>,
): Promise<void> {
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const sql = connect(server, name)
      await work(sql)
      await sql.end({ timeout: 5 })
    }),
  )
}

/** One connection's share. */
async function makeSample(sql: Database): Promise<void> {
  const worker = uuidv7()
  await sql`select runledger.register_worker(${worker}, 'bench', 1, 2, '{}', 30)`
  const most = 500
  for (;;) {
    const [row] = await sql<[{ made: number }]>`call bench.make(${worker}, ${most})`
    if (row.made === 0) break
  }
  await sql`select runledger.stop_worker(${worker})`
}

function tell(line: string, seconds: number): void {
  process.stderr.write(`${seconds.toFixed(0).padStart(5)} s  ${line}\n`)
}
