// What an event says of tests is bounded, as events are kept for ever: of the first ones all, of the others the verdict. The
// rest is in the report, a body that goes with its age.
import type { TestFacts } from '#event'

/** With what else an event says it is 8 KB at the most. */
const testsBytesMost = 6000

/** @returns as many, in their order. */
export function shortenFacts(facts: readonly TestFacts[]): readonly TestFacts[] {
  const short = facts.map(({ verdict }): TestFacts => ({ verdict }))
  let left = testsBytesMost - short.reduce((sum, test) => sum + countBytes(test), 0)
  return facts.map((test, index) => {
    const part = short[index] ?? test
    const more = countBytes(test) - countBytes(part)
    const fits = more <= left
    // One that is shorter does not overtake it.
    left = fits ? left - more : 0
    return fits ? test : part
  })
}

/** As the database spells it, with a space behind each comma and colon. */
function countBytes(test: TestFacts): number {
  const text = JSON.stringify(test)
  return Buffer.byteLength(text) + (text.match(/[,:]/g)?.length ?? 0) + 2
}
