// How a bench was called: by hand, by run.ts or by compare.ts.
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    result: { type: 'string' },
  },
  // Some take words of their own.
  allowPositionals: true,
})

/** True when figures need only show that the bench works. */
export const isQuick = values.quick

/** Rounds that were asked for; undefined leaves it to the bench. */
export const roundsAsked = values.rounds === undefined ? undefined : Number(values.rounds)

/** Where the report is to be left; undefined when it is to be printed. */
export const resultPath = values.result

/** So many calls in a full run, a quarter of them in a quick one. */
export function scaleIterations(full: number, least = 3): number {
  return isQuick ? Math.max(least, Math.ceil(full / 4)) : full
}
