// Another account that works while attacks run in the other slots. Whatever the attacks do, its programs must end as usual,
// and must take no longer than beside the same number of honest programs that use all of their limits.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Executor } from '#executor'
import { execute } from '../helper/executor.ts'
import { hello } from '../helper/program.ts'

export interface Neighbour {
  /** Starts the work. The returned function stops it. */
  start(): () => Promise<Work>
}

/** The neighbour's work over some time. */
export interface Work {
  /** Seconds that each program took, from the request to the verdict. */
  readonly seconds: readonly number[]
  /** Faults of the programs. */
  readonly faults: readonly string[]
}

const pauseMilliseconds = 50
/** The time that a program may take beside attacks, as a multiple of its time beside honest programs. */
const medianFactor = 3
const highestFactor = 5
/** Shorter waits are not judged, because other work on the machine also needs time. */
const leastSeconds = 0.5

/** @param executor an executor that has separate slots in the same worker. */
export function createNeighbour(executor: Executor): Neighbour {
  async function greet(seconds: number[]): Promise<string[]> {
    const askedAt = performance.now()
    try {
      const { run } = await execute(executor, 'python', hello.python, '', {
        cacheScope: 'neighbour',
      })
      seconds.push((performance.now() - askedAt) / 1000)
      const isRight = run?.ending === 'exited' && run.exitCode === 0 && run.stdout === 'hello\n'
      return isRight ? [] : [`the neighbour's program: ${JSON.stringify(run)}`]
    } catch (error) {
      return [`the neighbour's program was lost: ${String(error)}`]
    }
  }

  return {
    start() {
      const seconds: number[] = []
      const faults: string[] = []
      let stopped = false
      const work = async (): Promise<void> => {
        while (!stopped) {
          faults.push(...(await greet(seconds)))
          await sleep(pauseMilliseconds)
        }
      }
      const working = work()
      return async () => {
        stopped = true
        await working
        return { seconds, faults }
      }
    },
  }
}

/** Returns a quantile, or 0 for no values. @param part from 0 to 1, such as 0.5 for the median. */
export function quantile(seconds: readonly number[], part: number): number {
  const sorted = seconds.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0
}

/** Returns the faults in the times of the neighbour's programs beside attacks. */
export function judgeLatency(attacked: readonly number[], honest: readonly number[]): string[] {
  return [
    { name: 'p50', part: 0.5, factor: medianFactor },
    { name: 'p99', part: 0.99, factor: highestFactor },
  ].flatMap(({ name, part, factor }) => {
    const [was, bound] = [quantile(attacked, part), quantile(honest, part) * factor]
    if (was <= Math.max(bound, leastSeconds)) return []
    return [`the neighbour's ${name} was ${was.toFixed(2)} s, ${bound.toFixed(2)} s is allowed`]
  })
}
