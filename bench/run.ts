// Runs benches, each in a process of its own and one after another, and prints one table for all.
//   node bench/run.ts                  all of them (some eight minutes)
//   node bench/run.ts executor http    those whose path has one of these words
//   node bench/run.ts --quick          fewer calls: shows that they work, not how fast anything is
// The figures are also written to bench/results/latest.json.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { describeMachine } from './machine.ts'
import { formatReports, readReport } from './report.ts'
import type { Report } from './report.ts'

const { values, positionals: wanted } = parseArgs({
  options: { quick: { type: 'boolean', default: false } },
  allowPositionals: true,
})

/** A bench that takes longer hangs. */
const longestMinutes = 10

const root = import.meta.dirname
const benches = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.bench.ts'))
  .map((path) => path.replace(/\.bench\.ts$/, ''))
  .filter((bench) => wanted.length === 0 || wanted.some((word) => bench.includes(word)))
  .toSorted()
if (benches.length === 0) {
  process.stderr.write(`There is no bench with ${wanted.join(' or ')} in its path.\n`)
  process.exit(64) // EX_USAGE of sysexits
}

const machine = await describeMachine()
for (const [name, value] of Object.entries(machine)) print(`${name.padEnd(12)} ${value}`)
print('')

const directory = mkdtempSync(join(tmpdir(), 'runledger-bench-'))
const reports: Report[] = []
const broken: string[] = []
for (const bench of benches) {
  const result = join(directory, 'result.json')
  const startedAt = performance.now()
  process.stderr.write(`${bench} …\n`)
  const options = [`--result=${result}`, ...(values.quick ? ['--quick'] : [])]
  const child = spawn(
    'setpriv',
    // It ends with us, however we end.
    ['--pdeathsig', 'SIGTERM', '--', process.execPath, join(root, `${bench}.bench.ts`), ...options],
    {
      cwd: join(root, '..'),
      stdio: ['ignore', 'inherit', 'inherit'],
      timeout: longestMinutes * 60_000,
    },
  )
  await once(child, 'exit')
  const report = readReport(result)
  rmSync(result, { force: true })
  if (report === null) broken.push(bench)
  else reports.push(report)
  process.stderr.write(`${bench}: ${((performance.now() - startedAt) / 1000).toFixed(0)} s\n`)
}
rmSync(directory, { recursive: true })

const at = new Date().toISOString()
print(`\nTimes in milliseconds.${values.quick ? ' A quick run: the figures are rough.' : ''}\n`)
process.stdout.write(formatReports(reports))
for (const bench of broken) print(`FAILED ${bench}: it ended before it had figures`)
mkdirSync(join(root, 'results'), { recursive: true })
writeFileSync(
  join(root, 'results', 'latest.json'),
  `${JSON.stringify({ at, quick: values.quick, machine, reports, broken }, null, 2)}\n`,
)
if (broken.length > 0 || reports.some(({ failures }) => failures.length > 0)) process.exitCode = 1

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
