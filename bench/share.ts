// What each bench gets of the time for all.

/** Those that need more than the others: what they make first, or wait for, takes longer. */
const weights: Readonly<Record<string, number>> = {
  'event/growth': 2,
  'event/rebuild': 2,
  'executor/compile': 3,
  'http/leak': 3,
  'http/route': 2,
  'http/submit': 2,
  'language/cost': 4,
  'scale/capacity': 2,
  'scale/hosts': 2,
  'scale/pressure': 3,
}

/** Enough to start, and for one round of few calls. */
const leastSeconds = 5

/**
 * Seconds for the first of the benches that are left: what one did not use goes to those after it.
 * @param left seconds for all of them.
 */
export function shareTime(benches: readonly string[], left: number): number {
  const weigh = (bench: string): number => weights[bench] ?? 1
  const all = benches.reduce((sum, bench) => sum + weigh(bench), 0)
  return Math.max(leastSeconds, (left * weigh(benches[0] ?? '')) / all)
}
