// A clock that a test turns by hand, so that nothing depends on how fast the machine is.
import type { Test } from 'tap'

/** Stands still, in place of performance.now, until the test ends. @returns what turns it on, by milliseconds. */
export function stopClock(t: Test): (milliseconds: number) => void {
  // Whole ones add up exactly.
  let now = Math.ceil(performance.now())
  t.intercept(performance, 'now', { value: () => now })
  return (milliseconds) => (now += milliseconds)
}
