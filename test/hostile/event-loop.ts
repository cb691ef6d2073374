// How long an attack holds the event loop, on which a worker serves everybody: the suite's own is the executor's. Measured
// in CPU time of the thread, which other work on the machine does not stretch as it does a clock's.
import { timeFactor } from '../helper/executor.ts'

/** No piece of work that a submission causes may take longer, in milliseconds. */
const longestMilliseconds = 50 * timeFactor
const tickMilliseconds = 2

export interface LoopWatch {
  /** The most CPU time that was spent between two turns of the loop, in milliseconds; ends the watch. */
  stop(): number
}

/** Looks at every turn of the loop, as far as a timer sees them. */
export function watchEventLoop(): LoopWatch {
  let longest = 0
  let before = readCpu()
  const look = (): void => {
    const now = readCpu()
    longest = Math.max(longest, now - before)
    before = now
  }
  const timer = setInterval(look, tickMilliseconds)
  return {
    stop() {
      clearInterval(timer)
      look()
      return longest
    },
  }
}

function readCpu(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** How much longer than honest programs, as many at once and at the same time, attacks may hold it on a slow machine. */
const slowFactor = 4

/**
 * What is wrong with a time that the loop was held.
 * @param floor how long honest programs held it; 0 when that is not known.
 */
export function judgeHold(milliseconds: number, floor = 0): string[] {
  if (milliseconds <= Math.max(longestMilliseconds, slowFactor * floor)) return []
  return [`the event loop was held for ${milliseconds.toFixed(0)} ms of CPU time`]
}
