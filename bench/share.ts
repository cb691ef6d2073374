// Divides the total time among the benches.

/** Benches that need more time than the others, because their preparation or their waits take longer. */
const weights: Readonly<Record<string, number>> = {
  'event/growth': 2,
  'event/rebuild': 2,
  'executor/compile': 3,
  'http/leak': 3,
  'http/route': 2,
  'http/submit': 4,
  'scale/pressure': 3,
}

/** Seconds of the benches that always take this long, because they wait for clocks. */
const fixed: Readonly<Record<string, number>> = {
  'http/console': 50,
  'http/fair': 65,
  'http/slowloris': 25,
  'http/stream': 25,
  'scale/capacity': 33,
  'scale/hosts': 42,
  'webhook/deliver': 25,
}

/** Benches that need minutes for any result, or answer a rare question. They run only when they are named. */
export const ownRuns: readonly string[] = [
  'executor/cores',
  'http/neighbour',
  'language/cost',
  'scale/evaluate',
]

/** Enough time to start and to run one round of few calls. */
const leastSeconds = 5

/**
 * Returns the seconds for the first of the remaining benches. Time that a bench does not use goes to the benches after it.
 * @param left seconds for all remaining benches.
 */
export function shareTime(benches: readonly string[], left: number): number {
  const [first = ''] = benches
  const weigh = (bench: string): number => (bench in fixed ? 0 : (weights[bench] ?? 1))
  const sum = (of: (bench: string) => number): number =>
    benches.reduce((total, bench) => total + of(bench), 0)
  const waited = sum((bench) => fixed[bench] ?? 0)
  const weight = sum(weigh)
  const takes = fixed[first] ?? 0
  // When only benches that wait for clocks remain, they share all of the remaining time.
  const share =
    weight === 0 ? (left * takes) / waited : takes + ((left - waited) * weigh(first)) / weight
  return Math.max(leastSeconds, takes, share)
}
