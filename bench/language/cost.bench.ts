// What the box costs each language: its hello beside the same command lines without a box. Of compiled ones twice: from source
// to output, each source new so that no cache helps, and again from what was compiled before. `--markdown` prints the table
// of bench/language/README.md.
import { languages } from '#language'
import type { Language } from '#language'
import { createBareRunner } from '../bare.ts'
import { expectBoxed, startExecutor } from '../executor/box.ts'
import { measure } from '../measure.ts'
import type { Case, Row } from '../measure.ts'
import { deadline, isMarkdown, isQuick, roundsAsked, wordsAsked } from '../options.ts'
import { report } from '../report.ts'
import { formatGoals, goals } from './goal.ts'
import { describeHello } from './hello.ts'
import type { Hello } from './hello.ts'
import { formatMarkdown } from './markdown.ts'

/** A pair that takes longer is compared once. */
const slowMilliseconds = 4000
const roundsWanted = 5
const mostCallsARound = 20

const chosen = languages.filter((name) => wordsAsked.length === 0 || wordsAsked.includes(name))
using bare = await createBareRunner()
await using executor = await startExecutor(2, {}, { prepares: !isQuick, languages: chosen })
const found = Object.keys(executor.runtimes) as Language[]
const stages = found.length * 2
/** For the calls of all languages together, roughly: some take longer for their fewest calls. */
const budgetMilliseconds = isQuick ? 20_000 : deadline - performance.now()
const rows: Row[] = []
let sources = 0

const left: Language[] = []
for (const [index, language] of found.entries()) {
  if (!isQuick && performance.now() > deadline) {
    left.push(language)
    continue
  }
  process.stderr.write(`  ${language}, ${index + 1} of ${found.length}\n`)
  const hello = await describeHello(language, bare.directory)
  if (hello.compiles) rows.push(...(await compare(language, hello, 'cold')))
  rows.push(...(await compare(language, hello, 'again')))
}
if (isMarkdown) process.stdout.write(formatMarkdown(rows))
else {
  const { notes, figures } = formatGoals(rows, goals)
  const unseen = left.length === 0 ? [] : [`no time was left for ${left.join(', ')}`]
  report('language/cost', rows, { notes: [...notes, ...unseen], figures })
}

/** The pair's row: the box's, held against the bare one's. */
async function compare(language: Language, hello: Hello, stage: 'cold' | 'again'): Promise<Row[]> {
  const name = hello.compiles ? `${language}, ${stage}` : language
  const { source, stdout } = hello
  const batch = bare.prepare(stage === 'cold' ? hello.cold : hello.again)
  const run = (): Promise<void> => {
    if (stage === 'again') return expectBoxed(executor, language, source, stdout)
    sources += 1
    return expectBoxed(executor, language, hello.change(`${process.pid} ${sources}`), stdout)
  }
  const startedAt = performance.now()
  await batch(1)
  await run()
  const once = performance.now() - startedAt
  const calls = budgetMilliseconds / stages / once
  const fewest = once > slowMilliseconds || isQuick ? 1 : 2
  const rounds = Math.max(fewest, Math.min(roundsWanted, Math.floor(calls)))
  const iterations = Math.max(1, Math.min(mostCallsARound, Math.floor(calls / rounds)))
  const cases: Case[] = [
    { name: `bare ${name}`, iterations, batch },
    { name, floor: `bare ${name}`, iterations, run },
  ]
  const measured = await measure(cases, roundsAsked ?? rounds, true)
  return measured.filter(({ floor }) => floor !== null)
}
