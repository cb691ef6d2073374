// Another account that goes on with its work while attacks run in the other slots: whatever they do, its programs end as
// they would, and take no longer than beside as many honest programs that use all of their limits.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Executor } from '#executor'
import { execute } from '../helper/executor.ts'
import { hello } from '../helper/program.ts'

export interface Neighbour {
  /** Begins to work; what is returned ends it. */
  start(): () => Promise<Work>
}

/** What the neighbour did for a while. */
export interface Work {
  /** Seconds that its programs took, from the asking to the verdict. */
  readonly seconds: readonly number[]
  /** What was wrong with them. */
  readonly faults: readonly string[]
}

const pauseMilliseconds = 50
/** What a program may take beside attacks, as a multiple of what it takes beside honest ones. */
const medianFactor = 3
const highestFactor = 5
/** Shorter than this no wait is judged: other work on the machine has its turns, too. */
const leastSeconds = 0.5

/** @param executor with slots of its own, in the same worker. */
export function createNeighbour(executor: Executor): Neighbour {
  async function greet(seconds: number[]): Promise<string[]> {
    const askedAt = performance.now()
    try {
      const { run } = await execute(executor, 'python', hello.python, '', undefined, 'neighbour')
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

/** @param part from 0 to 1, such as 0.5 for the median; 0 of nothing. */
export function quantile(seconds: readonly number[], part: number): number {
  const sorted = seconds.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0
}

/** What is wrong with how long the neighbour's programs took beside attacks. */
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
