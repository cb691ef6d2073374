// A clock that a test turns by hand, so that nothing depends on how fast the machine is.
import type { Test } from 'tap'

/**
 * Replaces performance.now by a clock that stands still, until the test ends.
 * @returns a function that advances the clock by milliseconds.
 */
export function stopClock(t: Test): (milliseconds: number) => void {
  // Whole milliseconds add up exactly.
  let now = Math.ceil(performance.now())
  t.intercept(performance, 'now', { value: () => now })
  return (milliseconds) => (now += milliseconds)
}
