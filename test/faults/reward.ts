// Programs of known reward, as a training run or an evaluation submits them: right ones, wrong ones of every kind, and ones
// that try to pass for right. Almost all are small, so that thousands of them fit in a run.
import type { Result, SubmissionRequest } from '#client'
import type { Random } from './random.ts'

/** The record that a program must get, without its measured figures. */
export interface Reward {
  readonly verdict: NonNullable<Result['verdict']>
  /** Null: not checked, because the output may be cut off anywhere or does not matter. */
  readonly stdout: string | null
  /** The verdicts of its tests; null when it has no tests. */
  readonly tests: readonly string[] | null
}

export interface Rewarded {
  readonly request: SubmissionRequest
  readonly reward: Reward
}

type Draft = (word: string, other: string) => Rewarded

const drafts: readonly { readonly weight: number; readonly draft: Draft }[] = [
  { weight: 300, draft: (word) => python('print(input())', word, word, 'AC', `${word}\n`) },
  {
    weight: 100,
    draft: (word) =>
      python('print(sum(map(int, input().split())))', `${word} 7`, String(Number(word) + 7), 'AC'),
  },
  // Both have the same source, which is compiled once; only the expected output differs.
  { weight: 150, draft: (word) => cpp(word, word, 'AC') },
  { weight: 50, draft: (word, other) => cpp(word, other, 'WA') },
  { weight: 130, draft: (word, other) => python('print(input())', word, other, 'WA', `${word}\n`) },
  // The first prints the verdict that it wants, the second only the start of the expected output.
  { weight: 30, draft: (word) => python('print("AC")', word, word, 'WA', 'AC\n') },
  { weight: 30, draft: (word) => python('print(input()[:-1])', word, word, 'WA') },
  { weight: 30, draft: (word) => python('import os; os._exit(0)', word, word, 'WA', '') },
  // The output is right, but the program ends with an error.
  { weight: 30, draft: (word) => python('print(input()); exit(3)', word, word, 'RE', `${word}\n`) },
  {
    weight: 30,
    draft: (word) => python('import os; os.write(1, input().encode()); os.abort()', word, word, 'RE', word), // prettier-ignore
  },
  { weight: 30, draft: (word) => python('print(int("no"))', word, word, 'RE', '') },
  { weight: 20, draft: (word) => python('print(input()', word, word, 'RE', '') },
  { weight: 40, draft: draftTested },
  { weight: 10, draft: draftOutput },
  { weight: 10, draft: (word) => limited('x = 0\nwhile True: x += 1', { cpu_time: 0.1 }, word, 'TLE') }, // prettier-ignore
  { weight: 5, draft: (word) => limited('import time; time.sleep(60)', { wall_time: 0.2 }, word, 'TLE') }, // prettier-ignore
  { weight: 5, draft: (word) => limited('print(len(b"x" * (1 << 28)))', { memory: 1 << 26 }, word, 'MLE') }, // prettier-ignore
  { weight: 3, draft: draftUncompiled },
]
const totalWeight = drafts.reduce((sum, { weight }) => sum + weight, 0)

/** Drafts a program. The same random numbers give the same program. */
export function draftRewarded(random: Random): Rewarded {
  const word = String(random.between(1e8, 1e9))
  const other = String(random.between(2e9, 3e9))
  let place = random.between(1, totalWeight)
  for (const { weight, draft } of drafts) {
    place -= weight
    if (place <= 0) return draft(word, other)
  }
  throw new Error('no program has this place')
}

/** Drafts a right program that runs for seconds. */
export function draftSlow(): Rewarded {
  return python('import time; time.sleep(4); print(input())', 'slow', 'slow', 'AC', 'slow\n')
}

function python(
  code: string,
  stdin: string,
  expected: string,
  verdict: Reward['verdict'],
  stdout: string | null = null,
): Rewarded {
  return {
    request: { language: 'python', code, stdin, expected_stdout: expected },
    reward: { verdict, stdout, tests: null },
  }
}

function limited(
  code: string,
  limits: NonNullable<SubmissionRequest['limits']>,
  word: string,
  verdict: Reward['verdict'],
): Rewarded {
  const { request, reward } = python(code, word, word, verdict)
  return { request: { ...request, limits }, reward }
}

function cpp(word: string, expected: string, verdict: Reward['verdict']): Rewarded {
  const code =
    '#include <cstdio>\nint main() { char w[99]; return scanf("%98s", w) == 1 && puts(w) >= 0 ? 0 : 1; }'
  return {
    request: { language: 'cpp', code, stdin: word, expected_stdout: expected },
    reward: { verdict, stdout: `${word}\n`, tests: null },
  }
}

function draftUncompiled(word: string): Rewarded {
  const code = `int main() { return ${word} }`
  return {
    request: { language: 'cpp', code, expected_stdout: '' },
    reward: { verdict: 'CE', stdout: '', tests: null },
  }
}

/** A program whose output starts with the expected output. */
function draftOutput(word: string): Rewarded {
  const code = 'print(input(), flush=True)\nwhile True: print("x" * 500)'
  return limited(code, { stdout: 1000 }, word, 'OLE')
}

/** A program that is right for all inputs except the last. */
function draftTested(word: string, other: string): Rewarded {
  const tests = [word, other, 'no'].map((stdin) => ({ stdin, expected_stdout: stdin }))
  return {
    request: { language: 'python', code: 'print(int(input()))', tests },
    reward: { verdict: 'RE', stdout: null, tests: ['AC', 'AC', 'RE'] },
  }
}
