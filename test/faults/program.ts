// What the clients submit: programs whose outcome is known beforehand. Most print their input; some have tests, some have
// files and arguments.
import type { Random } from './random.ts'

/** The record that a program must have once it has completed. */
export interface Known {
  readonly verdict: string
  readonly stdout: string
  /** The verdicts of its tests, null for a test that does not run; null when the program has no tests. */
  readonly tests: readonly (string | null)[] | null
}

interface Draft {
  /** Fields of the request. */
  readonly program: object
  readonly expected: Known
}

const testedShare = 1 / 10
const furnishedShare = 1 / 10

/** Drafts a program. The same random numbers give the same program. */
export function draftProgram(random: Random): Draft {
  const milliseconds = random.pick([0, 0, 0, 50, 100, 200, 300])
  const sleeps = milliseconds === 0 ? '' : `import time; time.sleep(${milliseconds / 1000}); `
  const word = String(random.between(0, 1e9))
  const kind = random.number()
  if (kind < testedShare) return draftTested(random, sleeps)
  return kind < testedShare + furnishedShare
    ? draftFurnished(sleeps, word, String(random.between(0, 1e9)))
    : draftPlain(sleeps, word)
}

function draftPlain(sleeps: string, word: string): Draft {
  return {
    program: {
      language: 'python',
      code: `${sleeps}print(input())`,
      stdin: word,
      expected_stdout: word,
    },
    expected: { verdict: 'AC', stdout: `${word}\n`, tests: null },
  }
}

/** A program that prints the content of a file beside it, and its argument. */
function draftFurnished(sleeps: string, word: string, argument: string): Draft {
  return {
    program: {
      language: 'python',
      code: `${sleeps}import sys; from lib.part import word; print(word, sys.argv[1])`,
      files: [{ name: 'lib/part.py', content: `word = "${word}"\n` }],
      args: [argument],
      expected_stdout: `${word} ${argument}`,
    },
    expected: { verdict: 'AC', stdout: `${word} ${argument}\n`, tests: null },
  }
}

/** A program with two to four tests, each accepted, wrong or a runtime error, depending on its input. */
function draftTested(random: Random, sleeps: string): Draft {
  const verdicts = Array.from({ length: random.between(2, 4) }, () =>
    random.pick(['AC', 'AC', 'AC', 'WA', 'RE']),
  )
  const tests = verdicts.map((verdict, index) => {
    const number = random.between(0, 1e9)
    return {
      name: `${index}`,
      stdin: verdict === 'RE' ? `no ${number}` : String(number),
      expected_stdout: String(verdict === 'WA' ? number + 1 : number),
    }
  })
  const firstFailed = verdicts.findIndex((verdict) => verdict !== 'AC')
  const stops = random.number() < 0.5
  const last = stops && firstFailed >= 0 ? firstFailed : verdicts.length - 1
  const decisive = Math.max(firstFailed, 0)
  const verdict = verdicts[decisive] ?? 'AC'
  return {
    program: {
      language: 'python',
      code: `${sleeps}print(int(input()))`,
      tests,
      stop_on_failure: stops,
    },
    expected: {
      verdict,
      stdout: verdict === 'RE' ? '' : `${tests[decisive]?.stdin}\n`,
      tests: verdicts.map((each, index) => (index <= last ? each : null)),
    },
  }
}
