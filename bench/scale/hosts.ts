// Is work done in proportion to the slots there are, and is nothing forgotten? Two, four and eight workers on hosts of
// their own (network namespaces) against one PostgreSQL; each program sleeps for two seconds.
// 1. All at once: four times as many submissions as slots, as fast as they are stored. Told are how soon every slot is busy, and
//    how many a second are done from then on, by the mean time from one end in a slot to the next. The floor is what the
//    slots could do if nothing cost anything, one in two seconds each: throughput must be within 5 % of it.
// 2. A few at random: submissions at a third of what eight workers can do, so that some slot is always free. What waits
//    longer than a second was not heard of when it came: workers look for forgotten work every two seconds.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { describeSubmission, submitNew } from '../../test/helper/submission.ts'
import { isQuick, report } from '../report.ts'
import { startFleet } from './fleet.ts'

const slotsEach = 4
const sleepSeconds = 2
const waves = isQuick ? 2 : 4
const workerCounts = [2, 4, 8]
const trickleSeconds = isQuick ? 3 : 8
const leastEfficiency = 0.95
const longestWaitSeconds = 1

await using fleet = await startFleet(4)
const { sql, caller } = fleet
const submission = describeSubmission({ code: 'print("hello")\n' })
const submit = (): Promise<string> => submitNew(sql, caller, submission, { capacity: 1_000_000 })

const notes: string[] = []
const figures: Record<string, number> = {}
const failures: string[] = []
for (const workers of workerCounts) {
  while (fleet.workerPids.length < workers) await fleet.addWorker(slotsEach, sleepSeconds * 1000)
  process.stderr.write(`  ${workers} workers\n`)
  const slots = workers * slotsEach
  const { perSecond, busyAfterSeconds, hosts } = await runAllAtOnce(slots)
  assert.equal(hosts, workers, 'every host took part')
  const ideal = slots / sleepSeconds
  const efficiency = perSecond / ideal
  figures[`${workers} workers, share of ideal`] = efficiency
  notes.push(
    `${workers} workers, ${slots} slots: all busy ${(busyAfterSeconds * 1000).toFixed(0)} ms after the first; ${perSecond.toFixed(2)} a second, ${(efficiency * 100).toFixed(1)} % of ${ideal}`,
  )
  if (efficiency < leastEfficiency) {
    failures.push(
      `${workers} workers did ${(efficiency * 100).toFixed(1)} % of what their slots could`,
    )
  }
}

const slots = fleet.workerPids.length * slotsEach
const waits = await trickle(slots / sleepSeconds / 3)
const longest = waits.at(-1) ?? Number.NaN
figures['longest wait, s'] = longest
notes.push(
  `${waits.length} submissions at random with slots free: started after ${((waits[Math.floor(waits.length / 2)] ?? 0) * 1000).toFixed(0)} ms (p50), ${(longest * 1000).toFixed(0)} ms at most`,
)
if (!(longest <= longestWaitSeconds)) failures.push(`one waited for ${longest.toFixed(1)} s`)
report('scale/hosts', [], { notes, figures, failures })

/** What a burst came to. */
interface Burst {
  readonly perSecond: number
  /** From the first start until as many had started as there are slots. */
  readonly busyAfterSeconds: number
  readonly hosts: number
}

/** Submits enough for all slots, as fast as the connections take them, and waits for the last. */
async function runAllAtOnce(slotCount: number): Promise<Burst> {
  const count = slotCount * waves
  const first = await submit()
  await Promise.all(Array.from({ length: count - 1 }, submit))
  await untilFinished(60)
  const rows = await sql`
    select
      extract(epoch from started_at - min(started_at) over ())::double precision as started,
      extract(epoch from finished_at - min(started_at) over ())::double precision as finished
    from runledger.submission where id >= ${first} and verdict = 'AC'`
  assert.equal(rows.length, count, 'every submission ended well')
  const sorted = (name: string): number[] =>
    rows.map((row) => Number(row[name])).toSorted((left, right) => left - right)
  const [started, finished] = [sorted('started'), sorted('finished')]
  const mean = (values: readonly number[]): number =>
    values.reduce((sum, value) => sum + value, 0) / values.length
  const cycleSeconds =
    (mean(finished.slice(-slotCount)) - mean(finished.slice(0, slotCount))) / (waves - 1)
  const [row] = await sql`
    select count(distinct data ->> 'host')::integer as hosts
    from runledger.event where stream_id >= ${first} and type = 'execution.started'`
  return {
    perSecond: slotCount / cycleSeconds,
    busyAfterSeconds: started[slotCount - 1] ?? Number.NaN,
    hosts: row?.['hosts'] as number,
  }
}

/** Submits at random instants; returns the seconds from submission to start, sorted. */
async function trickle(perSecond: number): Promise<number[]> {
  const endsAt = performance.now() + trickleSeconds * 1000
  const first = await submit()
  while (performance.now() < endsAt) {
    // Gaps of a Poisson process: some come together, some find everything asleep.
    await sleep((-Math.log(1 - Math.random()) * 1000) / perSecond)
    await submit()
  }
  await untilFinished(60)
  const rows = await sql`
    select extract(epoch from started_at - created_at)::double precision as wait
    from runledger.submission where id >= ${first} order by wait`
  return rows.map(({ wait }) => Number(wait))
}

/** @throws when there is still a submission under way after so many seconds. */
async function untilFinished(seconds: number): Promise<void> {
  for (let left = seconds * 10; left > 0; left -= 1) {
    const [row] = await sql`select count(*)::integer as left from runledger.pending`
    if (row?.['left'] === 0) return
    await sleep(100)
  }
  throw new Error(`submissions are under way after ${seconds} s: work was forgotten`)
}
