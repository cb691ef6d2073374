// Compares a reader's CPU time with that of a plain pass over as many bytes, in the same process at the same moment. A
// linear reader stays within a wide factor on any machine; other readers are far beyond it.
import type { Test } from 'tap'

const mostTimes = 40
/** A plain pass over fewer bytes is too fast to be timed, and a reader's one-time work would count too much. */
const leastBytes = 4 << 20
const tries = 5

/** Measures CPU time in milliseconds, of the whole process because the kernel counts a thread's time in ticks. */
async function timeOf(work: () => unknown): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

function pass(bytes: Buffer): number {
  let sum = 0
  for (let index = 0; index < bytes.length; index += 1) {
    sum = (Math.imul(sum, 31) + (bytes[index] ?? 0)) | 0
  }
  return sum
}

const content = Buffer.alloc(8 << 20, 'a plain pass')

/** Passes when the best of a few readings is within the factor. A reader that is not linear has no good reading. */
export async function holdToLinear(
  t: Test,
  name: string,
  bytes: number,
  read: () => unknown,
): Promise<void> {
  const passed = content.subarray(0, Math.max(bytes, leastBytes))
  let best = Infinity
  let words = ''
  for (let tried = 0; tried < tries && best > mostTimes; tried += 1) {
    const floor = await timeOf(() => pass(passed))
    const time = await timeOf(read)
    if (time / floor >= best) continue
    best = time / floor
    words = `${time.toFixed(1)} ms, ${best.toFixed(1)} times ${floor.toFixed(1)}`
  }
  t.ok(best <= mostTimes, `${name}: ${words}`)
}
