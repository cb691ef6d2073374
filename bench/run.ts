// Runs benches one after another, each in a separate process. Prints the table of each bench when it is done, and at the end
// the table of the goals. The total time is fixed; the number of calls that each bench makes follows from it.
//   node bench/run.ts                  all benches, in nine minutes
//   node bench/run.ts --minutes=20     all benches, in twenty minutes
//   node bench/run.ts executor http    benches whose path has one of these words
//   node bench/run.ts executor --plain without accelerators, to see what they are worth
//   node bench/run.ts --quick          fewer calls: shows that the benches work, not how fast anything is
// The figures are also written to bench/results/, under the time of the start and as latest.json. A complete run that is not
// quick draws bench/goals.svg.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { formatGoals, judgeGoals } from './judge.ts'
import { describeDisturbance, describeMachine } from './machine.ts'
import { isPlain, isQuick, minutesAsked, wordsAsked } from './options.ts'
import { drawGoals } from './picture.ts'
import { findBenches, runBench } from './process.ts'
import { formatReports } from './report.ts'
import type { Report } from './report.ts'
import { ownRuns, shareTime } from './share.ts'

const root = import.meta.dirname
const checkout = join(root, '..')
const benches = findBenches(checkout, wordsAsked).filter(
  (bench) => wordsAsked.length > 0 || !ownRuns.includes(bench),
)
if (benches.length === 0) {
  process.stderr.write(`There is no bench with ${wordsAsked.join(' or ')} in its path.\n`)
  process.exit(64) // EX_USAGE of sysexits
}

const at = new Date().toISOString()
const disturbance = describeDisturbance()
const machine = await describeMachine()
for (const [name, value] of Object.entries(machine)) print(`${name.padEnd(12)} ${value}`)
if (disturbance !== null) print(disturbance)
print('')

const seconds = (since: number): string => `${((performance.now() - since) / 1000).toFixed(0)} s`
const startedAt = performance.now()
const reports: Report[] = []
const broken: string[] = []
for (const [index, bench] of benches.entries()) {
  const benchStartedAt = performance.now()
  const left = minutesAsked * 60 - (benchStartedAt - startedAt) / 1000
  const share = shareTime(benches.slice(index), left)
  process.stderr.write(`${bench}, ${share.toFixed(0)} s …\n`)
  const options = [
    `--seconds=${share}`,
    ...(isQuick ? ['--quick'] : []),
    ...(isPlain ? ['--plain'] : []),
  ]
  // A bench that hangs must not use up the time of all benches.
  const report = await runBench(checkout, bench, options, { seconds: 60 + 2 * share })
  if (report === null) broken.push(bench)
  else reports.push(report)
  process.stdout.write(`${report === null ? describeBroken(bench) : formatReports([report])}\n`)
  process.stderr.write(`${bench}: ${seconds(benchStartedAt)}\n`)
}

const goals = judgeGoals(reports)
print(`Times in milliseconds.${isQuick ? ' A quick run: the figures are rough.' : ''}\n`)
for (const bench of broken) process.stdout.write(describeBroken(bench))
process.stdout.write(formatGoals(goals))
print(`\n${benches.length} benches took ${seconds(startedAt)}.`)

const results = join(root, 'results')
mkdirSync(results, { recursive: true })
const whole = { at, quick: isQuick, machine, goals, reports, broken }
for (const name of [at.replaceAll(':', '-'), 'latest']) {
  writeFileSync(join(results, `${name}.json`), `${JSON.stringify(whole, null, 2)}\n`)
}
const picture = drawGoals(
  goals,
  `${machine['CPU']}, ${machine['cores']} cores, kernel ${machine['kernel']}, ${at.slice(0, 10)}; load before the start ${machine['load before']}`,
  disturbance,
)
writeFileSync(join(results, 'goals.svg'), picture)
// docs/performance.md shows this picture, so only a complete run updates it.
if (wordsAsked.length === 0 && !isQuick && broken.length === 0) {
  writeFileSync(join(root, 'goals.svg'), picture)
}
if (broken.length > 0 || reports.some(({ failures }) => failures.length > 0)) process.exitCode = 1

function describeBroken(bench: string): string {
  return `FAILED ${bench}: it ended before it had figures\n`
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
