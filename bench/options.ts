// The command line of a bench, which may come from a person, run.ts or compare.ts.
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
  // Some benches take words as well.
  allowPositionals: true,
})

/** The words of the command line that are not options. */
export const wordsAsked: readonly string[] = positionals

/** True when the run need only show that the bench works. */
export const isQuick = values.quick

/** True when executors and workers run without accelerators. */
export const isPlain = values.plain

/** True when a bench prints the table for a document, if it has one. */
export const isMarkdown = values.markdown

/** The requested number of rounds; when undefined, it depends on the available time. */
export const roundsAsked = values.rounds === undefined ? undefined : Number(values.rounds)

/** When a bench should be done, in milliseconds of `performance.now()`, which starts with the process. */
export const deadline = Number(values.seconds) * 1000

/** Minutes for all benches of a run together. */
export const minutesAsked = Number(values.minutes)

/** The file to write the report to; undefined when the report is printed. */
export const resultPath = values.result

/** Pairs of runs, when two revisions are compared. */
export const pairsAsked = Number(values.pairs)

/** Returns `full` calls for a full run and a quarter of them for a quick one, `least` at least. */
export function scaleIterations(full: number, least = 3): number {
  return isQuick ? Math.max(least, Math.ceil(full / 4)) : full
}
