// Summarizes an evaluation: the number of samples with each verdict, and pass@k. A sample that was not judged is no failure
// and is counted apart.
import type { Evaluated } from './run.ts'

export interface Report {
  readonly tasks: number
  readonly samples: number
  /** Samples with the verdict AC. */
  readonly passed: number
  /** Samples that were refused or cancelled, or failed by a fault of the service or the checker. */
  readonly not_judged: number
  /**
   * For each k, the mean over tasks of the chance that one of k samples passes. A k is left out when a task has fewer judged
   * samples.
   */
  readonly pass_at: Readonly<Record<string, number>>
  readonly verdicts: Readonly<Record<string, number>>
  readonly results: readonly ReportedSample[]
}

interface ReportedSample {
  readonly line: number
  readonly task: string
  readonly sample: number
  readonly id: string | null
  /** Null when the sample was not judged. */
  readonly verdict: string | null
  readonly limit: string | null
  readonly fault: string | null
  readonly message: string | null
}

const ks = [1, 5, 10, 100]

export function report(evaluated: readonly Evaluated[]): Report {
  const results = evaluated.map(describe)
  // A task without a judged sample counts, too: without it, the mean would be over other tasks than the caller's.
  const byTask = [...Map.groupBy(results, ({ task }) => task).values()].map((samples) =>
    samples.filter(({ verdict }) => verdict !== null),
  )
  const least = Math.min(...byTask.map(({ length }) => length))
  const passAt = ks
    .filter((k) => k <= least)
    .map((k) => {
      const sum = byTask.reduce((shares, samples) => shares + estimatePass(samples, k), 0)
      return [k, Number((sum / byTask.length).toFixed(4))] as const
    })
  return {
    tasks: byTask.length,
    samples: results.length,
    passed: countPassed(results),
    not_judged: results.filter(({ verdict }) => verdict === null).length,
    pass_at: Object.fromEntries(passAt),
    verdicts: Object.fromEntries(
      [...Map.groupBy(results, ({ verdict }) => verdict ?? 'not judged')]
        .map(([verdict, some]) => [verdict, some.length] as const)
        .toSorted(([, one], [, other]) => other - one),
    ),
    results,
  }
}

function describe({ sample, end }: Evaluated): ReportedSample {
  const { line, task, number } = sample
  const known = { line, task, sample: number }
  if ('error' in end)
    return { ...known, id: null, verdict: null, limit: null, fault: 'caller', message: end.message }
  const hasVerdict =
    end.status === 'completed' && end.fault !== 'platform' && end.fault !== 'checker'
  return {
    ...known,
    id: end.id,
    verdict: hasVerdict ? end.verdict : null,
    limit: end.limit,
    fault: end.fault,
    message:
      end.message ?? (end.verdict === 'CE' ? firstLine(end.compile_output) : lastLine(end.stderr)),
  }
}

function countPassed(samples: readonly ReportedSample[]): number {
  return samples.filter(({ verdict }) => verdict === 'AC').length
}

/**
 * Estimates pass@k without bias (Chen et al., "Evaluating Large Language Models Trained on Code", 2021):
 * 1 - C(n - c, k) / C(n, k).
 */
function estimatePass(samples: readonly ReportedSample[], k: number): number {
  const n = samples.length
  const c = countPassed(samples)
  let none = 1
  for (let i = n - c + 1; i <= n; i += 1) none *= Math.max(0, 1 - k / i)
  return 1 - none
}

function firstLine(text: string | null): string | null {
  return text?.split('\n').find((line) => line.trim() !== '') ?? null
}

function lastLine(text: string | null): string | null {
  return text?.trimEnd().split('\n').at(-1) ?? null
}
