// Another account that goes on with its work while attacks run in the other slots: whatever they do, its programs end as
// they would. How long they take is told; what it may be is the machine's to say, as attacks use all of it.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Executor } from '#executor'
import { execute } from '../helper/executor.ts'
import { hello } from '../helper/program.ts'

export interface Neighbour {
  /** Seconds that its programs took, from the asking to the verdict. */
  readonly seconds: readonly number[]
  /** Begins to work; what is returned ends it and tells what was wrong. */
  start(): () => Promise<string[]>
}

const pauseMilliseconds = 50

/** @param executor with slots of its own, in the same worker. */
export function createNeighbour(executor: Executor): Neighbour {
  const seconds: number[] = []

  async function greet(): Promise<string[]> {
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
    seconds,
    start() {
      const faults: string[] = []
      let stopped = false
      const work = async (): Promise<void> => {
        while (!stopped) {
          faults.push(...(await greet()))
          await sleep(pauseMilliseconds)
        }
      }
      const working = work()
      return async () => {
        stopped = true
        await working
        return faults
      }
    },
  }
}
