// Runs benches, each in a process of its own and one after another; prints a table for all and one of the goals.
//   node bench/run.ts                  all of them (under ten minutes)
//   node bench/run.ts executor http    those whose path has one of these words
//   node bench/run.ts --quick          fewer calls: shows that they work, not how fast anything is
// The figures are also written to bench/results/, under the time of the start and as latest.json; a whole run that is not
// quick draws bench/goals.svg.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { formatGoals, judgeGoals } from './judge.ts'
import { describeDisturbance, describeMachine } from './machine.ts'
import { drawGoals } from './picture.ts'
import { isQuick, wordsAsked } from './options.ts'
import { findBenches, runBench } from './process.ts'
import { formatReports } from './report.ts'
import type { Report } from './report.ts'

const root = import.meta.dirname
const checkout = join(root, '..')
const benches = findBenches(checkout, wordsAsked)
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
for (const bench of benches) {
  const benchStartedAt = performance.now()
  process.stderr.write(`${bench} …\n`)
  const report = await runBench(checkout, bench, isQuick ? ['--quick'] : [])
  if (report === null) broken.push(bench)
  else reports.push(report)
  process.stderr.write(`${bench}: ${seconds(benchStartedAt)}\n`)
}

const goals = judgeGoals(reports)
print(`\nTimes in milliseconds.${isQuick ? ' A quick run: the figures are rough.' : ''}\n`)
process.stdout.write(`${formatReports(reports)}\n`)
for (const bench of broken) print(`FAILED ${bench}: it ended before it had figures`)
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
// The README's: only what a whole run found.
if (wordsAsked.length === 0 && !isQuick && broken.length === 0) {
  writeFileSync(join(root, 'goals.svg'), picture)
}
if (broken.length > 0 || reports.some(({ failures }) => failures.length > 0)) process.exitCode = 1

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
