// What each bench gets of the time for all.

/** Those that need more than the others: what they make first, or wait for, takes longer. */
const weights: Readonly<Record<string, number>> = {
  'event/growth': 2,
  'event/rebuild': 2,
  'executor/compile': 3,
  'http/leak': 3,
  'http/route': 2,
  'http/submit': 4,
  'scale/pressure': 3,
}

/** What takes so many seconds whatever it is given, as it waits for clocks. */
const fixed: Readonly<Record<string, number>> = {
  'http/console': 50,
  'http/fair': 65,
  'http/slowloris': 25,
  'http/stream': 25,
  'scale/capacity': 33,
  'scale/hosts': 42,
  'webhook/deliver': 25,
}

/** What takes minutes to say anything: asked for by its name only. */
export const ownRuns: readonly string[] = ['http/neighbour', 'language/cost', 'scale/evaluate']

/** Enough to start, and for one round of few calls. */
const leastSeconds = 5

/**
 * Seconds for the first of the benches that are left: what one did not use goes to those after it.
 * @param left seconds for all of them.
 */
export function shareTime(benches: readonly string[], left: number): number {
  const [first = ''] = benches
  const weigh = (bench: string): number => (bench in fixed ? 0 : (weights[bench] ?? 1))
  const sum = (of: (bench: string) => number): number =>
    benches.reduce((total, bench) => total + of(bench), 0)
  const waited = sum((bench) => fixed[bench] ?? 0)
  const weight = sum(weigh)
  const takes = fixed[first] ?? 0
  // Those that wait for clocks do more of it where they have all the time.
  const share =
    weight === 0 ? (left * takes) / waited : takes + ((left - waited) * weigh(first)) / weight
  return Math.max(leastSeconds, takes, share)
}
