// How a bench was called: by hand, by run.ts or by compare.ts.
import { parseArgs } from 'node:util'

const { values, positionals } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    plain: { type: 'boolean', default: false },
    markdown: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    seconds: { type: 'string', default: '60' },
    minutes: { type: 'string', default: '9' },
    result: { type: 'string' },
    pairs: { type: 'string', default: '5' },
  },
  // Some take words of their own.
  allowPositionals: true,
})

/** What was given beside the options. */
export const wordsAsked: readonly string[] = positionals

/** True when figures need only show that the bench works. */
export const isQuick = values.quick

/** True when executors and workers are to do without accelerators. */
export const isPlain = values.plain

/** True when a bench shall print the table that stands in a text, where it has one. */
export const isMarkdown = values.markdown

/** Rounds that were asked for; undefined leaves it to the time there is. */
export const roundsAsked = values.rounds === undefined ? undefined : Number(values.rounds)

/** When a bench should be done: milliseconds of `performance.now()`, which begins with its process. */
export const deadline = Number(values.seconds) * 1000

/** For all benches of a run together. */
export const minutesAsked = Number(values.minutes)

/** Where the report is to be left; undefined when it is to be printed. */
export const resultPath = values.result

/** Pairs of runs, where two revisions are compared. */
export const pairsAsked = Number(values.pairs)

/** So many calls in a full run, a quarter of them in a quick one. */
export function scaleIterations(full: number, least = 3): number {
  return isQuick ? Math.max(least, Math.ceil(full / 4)) : full
}
