// What one PostgreSQL carries at most, and what limits it: submissions that run nothing, as fast as they go, with one, two,
// four and eight workers on hosts of their own. Submitters keep the queue filled through connections of their own, several
// requests at once, as web processes have them. The number of unfinished ones is printed, because idle workers cost more.
// Beside each rate stands the CPU time that a submission costs PostgreSQL, the workers and the submitters, and what
// PostgreSQL's connections were doing when they were looked at: computing, or waiting for what. All share this
// machine's cores, so that the rate here is this machine's; the CPU time says what a PostgreSQL with cores of its own
// would carry, as long as its connections do not wait for each other.
import { setTimeout as sleep } from 'node:timers/promises'
import { createDatabase } from '#database'
import type { Database } from '#database'
import { describeSubmission, submitNew } from '../../test/helper/submission.ts'
import { insertDurably } from '../database.ts'
import { median } from '../measure.ts'
import { isQuick, report } from '../report.ts'
import { digits } from '../table.ts'
import { readParent, readTreeMilliseconds } from './cpu-time.ts'
import { startFleet } from './fleet.ts'

const workerCounts = [1, 2, 4, 8]
const slotsEach = 8
const submitters = 8
const seconds = isQuick ? 2 : 4
// So many are unfinished: enough that no slot is idle where the submitters keep up, and few enough to drain soon.
const queued = 500
const requestsEach = 10
const lookMilliseconds = 20
// The queue fills, and new workers come to their pace.
const settleMilliseconds = 2000

await using fleet = await startFleet(submitters + 2)
const { sql, caller } = fleet
const submission = describeSubmission({ code: 'print("hello")\n' })
const observer = createDatabase({ url: fleet.url, connections: 1, name: 'bench observer' })
const [backend] = await observer`select pg_backend_pid() as pid`
const postgresPid = readParent(backend?.['pid'] as number)

const inserted = await insertForAWhile()
const notes: string[] = [
  `one row inserted, ${submitters} connections: ${digits(inserted.perSecond)} a second; CPU ms each: PostgreSQL ${digits(inserted.postgres)}`,
]
const figures: Record<string, number> = {
  'one row inserted, a second': inserted.perSecond,
  "one row inserted, PostgreSQL's CPU ms": inserted.postgres,
}
for (const workers of workerCounts) {
  while (fleet.workerPids.length < workers) await fleet.addWorker(slotsEach, 0)
  process.stderr.write(`  ${workers} workers\n`)
  const { perSecond, unfinished, postgres, worker, submitter, connections, doing } = await load()
  figures[`${workers} workers, a second`] = perSecond
  figures[`${workers} workers, PostgreSQL's CPU ms`] = postgres
  notes.push(
    `${workers} worker${workers === 1 ? '' : 's'}, ${connections} connections, ${unfinished} unfinished: ${digits(perSecond)} a second; CPU ms each: PostgreSQL ${digits(postgres)} (×${digits(postgres / inserted.postgres)}), workers ${digits(worker)}, submitters ${digits(submitter)}; connections at work: ${doing}`,
  )
}
await observer.end({ timeout: 5 })
report('scale/capacity', [], { notes, figures })

interface Carried {
  readonly perSecond: number
  /** Waiting or in a slot, the median. */
  readonly unfinished: number
  /** Milliseconds of CPU time a submission. */
  readonly postgres: number
  readonly worker: number
  readonly submitter: number
  /** To the database, when looked at last. */
  readonly connections: number
  /** What connections under way were doing, by how often they were seen at it. */
  readonly doing: string
}

/** The floor: rows inserted as fast as it goes. */
async function insertForAWhile(): Promise<Pick<Carried, 'perSecond' | 'postgres'>> {
  // The first ones find neither plans nor pages.
  let count = 0
  let stopping = false
  const inserting = Array.from({ length: submitters }, async () => {
    while (!stopping) {
      await insertDurably(sql, submission.code)
      count += 1
    }
  })
  await sleep(500)
  const before = { count, cpu: readCpu(), at: performance.now() }
  await sleep((seconds * 1000) / 2)
  const after = { count, cpu: readCpu(), at: performance.now() }
  stopping = true
  await Promise.all(inserting)
  const rows = after.count - before.count
  return {
    perSecond: (rows * 1000) / (after.at - before.at),
    postgres: (after.cpu.postgres - before.cpu.postgres) / rows,
  }
}

/** Keeps the queue filled for a while and counts what was completed in it. */
async function load(): Promise<Carried> {
  let stopping = false
  const submitting = Array.from({ length: submitters }, async () => {
    while (!stopping) {
      if ((await countPending(sql)) > queued) await sleep(lookMilliseconds)
      else await Promise.all(Array.from({ length: requestsEach }, submit))
    }
  })
  await sleep(settleMilliseconds)
  const before = { completed: await countCompleted(), cpu: readCpu(), at: performance.now() }
  const seen = new Map<string, number>()
  const depths: number[] = []
  let connections = 0
  while (performance.now() - before.at < seconds * 1000) {
    connections = await look(seen)
    depths.push(await countPending(observer))
    await sleep(lookMilliseconds)
  }
  const after = { completed: await countCompleted(), cpu: readCpu(), at: performance.now() }
  stopping = true
  await Promise.all(submitting)
  while ((await countPending(sql)) > 0) await sleep(lookMilliseconds)

  const completed = after.completed - before.completed
  return {
    perSecond: (completed * 1000) / (after.at - before.at),
    unfinished: median(depths),
    postgres: (after.cpu.postgres - before.cpu.postgres) / completed,
    worker: (after.cpu.worker - before.cpu.worker) / completed,
    submitter: (after.cpu.submitter - before.cpu.submitter) / completed,
    connections,
    doing: describeSeen(seen),
  }
}

async function submit(): Promise<void> {
  await submitNew(sql, caller, submission, { capacity: 1_000_000 })
}

async function countPending(on: Database): Promise<number> {
  const [row] = await on`select count(*)::integer as count from runledger.pending`
  return row?.['count'] as number
}

async function countCompleted(): Promise<number> {
  const [row] = await observer`
    select count(*)::integer as count from runledger.event where type = 'execution.completed'`
  return row?.['count'] as number
}

function readCpu(): { postgres: number; worker: number; submitter: number } {
  const { user, system } = process.cpuUsage()
  return {
    postgres: readTreeMilliseconds(postgresPid),
    worker: fleet.workerPids.reduce((sum, pid) => sum + readTreeMilliseconds(pid), 0),
    submitter: (user + system) / 1000,
  }
}

/** Counts what each connection under way is doing now; returns how many connections there are. */
async function look(seen: Map<string, number>): Promise<number> {
  const rows = await observer`
    select
      case when state in ('active', 'idle in transaction') then coalesce(wait_event_type || ':' || wait_event, 'computing') end as doing,
      count(*)::integer as count
    from pg_stat_activity
    where backend_type = 'client backend' and pid <> pg_backend_pid()
    group by 1`
  for (const { doing, count } of rows) {
    if (doing !== null)
      seen.set(doing as string, (seen.get(doing as string) ?? 0) + (count as number))
  }
  return rows.reduce((sum, { count }) => sum + (count as number), 0)
}

function describeSeen(seen: ReadonlyMap<string, number>): string {
  const all = [...seen.values()].reduce((sum, count) => sum + count, 0)
  return [...seen]
    .toSorted(([, left], [, right]) => right - left)
    .slice(0, 5)
    .map(([doing, count]) => `${doing} ${((count / all) * 100).toFixed(0)} %`)
    .join(', ')
}
