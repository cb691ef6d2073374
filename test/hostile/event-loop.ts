// Measures how long an attack holds the event loop, on which a worker serves every submission. The executor runs on this
// process's event loop. The measure is the thread's CPU time, because other work on the machine stretches wall time but not
// CPU time.
import { timeFactor } from '../helper/executor.ts'

/** The longest that one piece of work caused by a submission may take, in milliseconds. */
const longestMilliseconds = 50 * timeFactor
const tickMilliseconds = 2

export interface LoopWatch {
  /** Ends the watch and returns the most CPU time between two turns of the loop, in milliseconds. */
  stop(): number
}

/** Measures every turn of the loop that a timer can observe. */
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

/** How many times longer than the same number of honest programs attacks may hold the event loop on a slow machine. */
const slowFactor = 4

/**
 * Returns a fault when the event loop was held too long.
 * @param floor how long honest programs held the event loop; 0 when that is not known.
 */
export function judgeHold(milliseconds: number, floor = 0): string[] {
  if (milliseconds <= Math.max(longestMilliseconds, slowFactor * floor)) return []
  return [`the event loop was held for ${milliseconds.toFixed(0)} ms of CPU time`]
}
