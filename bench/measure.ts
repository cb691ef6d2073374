// Measures the cases of a bench. Every round runs every case, each near its floor; the figures are medians over the rounds.
// The development machine's speed changes by a factor of 1.4 within minutes, so an absolute figure says little, but the
// ratio of two cases that ran within the same seconds says a lot. tinybench does the sampling.
import { availableParallelism } from 'node:os'
import { Bench } from 'tinybench'
import type { FnReturnedObject } from 'tinybench'
import { deadline, roundsAsked } from './options.ts'
import { planRound } from './plan.ts'

/** Calls that the case made and timed itself. */
export interface Batch {
  /** Milliseconds, one per call. */
  readonly durations: readonly number[]
  /** All calls together, by the wall clock. */
  readonly elapsedSeconds: number
}

/** With fewer rounds a median means little; where the time is short, there are fewer nevertheless. */
const mostRounds = 5

interface CaseDescription {
  /** Unique within its bench. */
  readonly name: string
  /** The name of the case of the same bench that this case is compared with. */
  readonly floor?: string
  /** Calls in one round, if there is time for them. */
  readonly iterations: number
  /** Calls in progress at once; 1 when left out. */
  readonly atOnce?: number
  /** How long the machine rests before each call, not timed; only for cases with one call at a time. */
  readonly idleMilliseconds?: number
  /** Called before each round; not timed. */
  readonly prepare?: () => Promise<void>
}

interface CalledCase extends CaseDescription {
  /**
   * Makes one call and throws on a wrong answer. It is called once before anything is timed. If it returns a duration, that
   * is recorded in place of the measured one.
   */
  readonly run: () => Promise<FnReturnedObject | void>
}

interface BatchedCase extends CaseDescription {
  /** Makes `calls` calls and times them itself, with the `atOnce` and `idleMilliseconds` of the case. */
  readonly batch: (calls: number) => Promise<Batch>
}

/** A case to measure. */
export type Case = CalledCase | BatchedCase

/** The figures of one case. Times are milliseconds; all but `n` and `max` are medians over the rounds. */
export interface Row {
  readonly name: string
  readonly atOnce: number
  /** How many calls were timed. */
  readonly n: number
  readonly p50: number
  readonly p95: number
  readonly p99: number
  /** The slowest call of all rounds. */
  readonly max: number
  /** Calls per second by the wall clock; null where the bench waits on purpose or times only a part of the call. */
  readonly perSecond: number | null
  readonly floor: string | null
  /** This case over its floor: the ratio of p50, or of calls per second where more than one call is in progress. */
  readonly ratio: number | null
  /** This case's p95 over its floor's; null without a floor and where more than one call is in progress. */
  readonly ratioP95: number | null
  /** This case's p50 minus its floor's; null without a floor and where more than one call is in progress. */
  readonly overP50: number | null
  readonly overP95: number | null
}

type Sample = Pick<Row, 'n' | 'p50' | 'p95' | 'p99' | 'max' | 'perSecond'>

/**
 * Runs rounds until the bench's time is up, five at most, with as many calls as fit.
 * @param rounds how many rounds to run, with all their calls, however long they take: for comparisons that repeat whole
 * benches.
 * @param isWarm whether each case has run once already.
 */
export async function measure(
  cases: readonly Case[],
  rounds = roundsAsked,
  isWarm = false,
): Promise<readonly Row[]> {
  const samples = new Map<string, Sample[]>(cases.map(({ name }) => [name, []]))
  /** Milliseconds per call in the last round, including the case's `prepare`. */
  const costs = new Map<string, number>()
  for (const each of isWarm ? [] : cases) {
    const cost = await time(async () => {
      await each.prepare?.()
      await ('batch' in each ? each.batch(1) : each.run())
    })
    costs.set(each.name, cost / Math.min(each.atOnce ?? 1, availableParallelism()))
  }
  for (let round = 0; round < (rounds ?? mostRounds); round += 1) {
    const plan =
      rounds === undefined
        ? planRound({ cases, costs, round, rounds: mostRounds, left: deadline - performance.now() })
        : cases.map((each) => ({ each, calls: each.iterations }))
    if (plan === null) break
    if (!isWarm) process.stderr.write(`  round ${round + 1} of ${rounds ?? mostRounds}\n`)
    // Every other round runs backwards, so that no case always follows the same one.
    for (const { each, calls } of round % 2 === 0 ? plan : plan.toReversed()) {
      const cost = await time(async () => {
        await each.prepare?.()
        const taken = await ('batch' in each ? sampleBatch(each, calls) : sample(each, calls))
        samples.get(each.name)?.push(taken)
      })
      costs.set(each.name, cost / calls)
    }
  }
  return cases.map((each) => summarize(each, samples))
}

/** Times one piece of work. @returns milliseconds. */
async function time(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}

async function sampleBatch(
  { idleMilliseconds, batch }: BatchedCase,
  calls: number,
): Promise<Sample> {
  const { durations, elapsedSeconds } = await batch(calls)
  const sorted = durations.toSorted((left, right) => left - right)
  return {
    n: sorted.length,
    p50: quantile(sorted, 0.5),
    p95: quantile(sorted, 0.95),
    p99: quantile(sorted, 0.99),
    max: sorted.at(-1) ?? Number.NaN,
    perSecond: idleMilliseconds === undefined ? sorted.length / elapsedSeconds : null,
  }
}

async function sample(
  { name, atOnce = 1, idleMilliseconds, run }: CalledCase,
  calls: number,
): Promise<Sample> {
  // A rate that includes the bench's waiting, or work that is not timed, would mislead.
  let isPartial = idleMilliseconds !== undefined
  const bench = new Bench({
    iterations: calls,
    time: 0,
    warmup: false,
    retainSamples: true,
    throws: true,
    ...(atOnce > 1 && { concurrency: 'task', threshold: atOnce }),
  })
  bench.add(
    name,
    async () => {
      const answer = await run()
      if (answer?.overriddenDuration !== undefined) isPartial = true
      return answer
    },
    {
      async: true,
      ...(idleMilliseconds !== undefined && {
        beforeEach: () => new Promise<void>((resolve) => setTimeout(resolve, idleMilliseconds)),
      }),
    },
  )
  const started = performance.now()
  await bench.run()
  const elapsedSeconds = (performance.now() - started) / 1000
  const result = bench.getTask(name)?.result
  if (result?.state !== 'completed') throw new Error(`${name} ended as ${result?.state}`)
  const { latency } = result
  const sorted: readonly number[] = latency.samples ?? []
  return {
    n: sorted.length,
    p50: latency.p50,
    p95: quantile(sorted, 0.95),
    p99: latency.p99,
    max: latency.max,
    perSecond: isPartial ? null : sorted.length / elapsedSeconds,
  }
}

function summarize({ name, atOnce = 1, floor }: Case, samples: ReadonlyMap<string, Sample[]>): Row {
  const own = samples.get(name) ?? []
  const floors = floor === undefined ? null : samples.get(floor)
  if (floors === undefined) throw new Error(`${name}: there is no case named ${floor}`)
  const over = (compare: (own: Sample, floor: Sample) => number): number | null =>
    floors === null ? null : median(own.map((each, round) => compare(each, floors[round] ?? each)))
  const isLoad = atOnce > 1
  return {
    name,
    atOnce,
    n: own.reduce((sum, { n }) => sum + n, 0),
    p50: median(own.map(({ p50 }) => p50)),
    p95: median(own.map(({ p95 }) => p95)),
    p99: median(own.map(({ p99 }) => p99)),
    max: Math.max(...own.map(({ max }) => max)),
    perSecond: own.some(({ perSecond }) => perSecond === null)
      ? null
      : median(own.map(({ perSecond }) => perSecond ?? 0)),
    floor: floor ?? null,
    ratio: over((mine, its) =>
      isLoad ? (mine.perSecond ?? 0) / (its.perSecond ?? 0) : mine.p50 / its.p50,
    ),
    ratioP95: isLoad ? null : over((mine, its) => mine.p95 / its.p95),
    overP50: isLoad ? null : over((mine, its) => mine.p50 - its.p50),
    overP95: isLoad ? null : over((mine, its) => mine.p95 - its.p95),
  }
}

/** Returns the median of numbers in any order. */
export function median(values: readonly number[]): number {
  return quantile(
    values.toSorted((left, right) => left - right),
    0.5,
  )
}

/** Returns the quantile of a sorted list, interpolated between its two neighbours. */
function quantile(sorted: readonly number[], share: number): number {
  const position = (sorted.length - 1) * share
  const below = sorted[Math.floor(position)] ?? Number.NaN
  const above = sorted[Math.ceil(position)] ?? Number.NaN
  return below + (above - below) * (position % 1)
}
