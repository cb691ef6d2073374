// Compares two revisions. Each bench runs alternately on the base, which is checked out into a temporary worktree, and on
// this checkout in its present state. Each revision runs the benches that it contains. Rows and figures are matched by name.
//   node bench/compare.ts main                        every bench: takes an hour
//   node bench/compare.ts HEAD~3 executor/box submit   benches whose path has one of these words
// A ratio is this checkout over the base, from one pair of runs within seconds. For times, below 1 is faster; for rates,
// above 1 is faster. The row of a floor shows the noise: its ratio should be 1.
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describeMachine } from './machine.ts'
import { median } from './measure.ts'
import type { Row } from './measure.ts'
import { isQuick, pairsAsked, wordsAsked } from './options.ts'
import { findBenches, runBench } from './process.ts'
import { digits, formatTable } from './table.ts'
import { findClosedDirectory, makeWorktree } from './worktree.ts'

const [base = '', ...words] = wordsAsked
const pairs = pairsAsked
const head = resolve(import.meta.dirname, '..')

const commit = readCommit(base)
if (commit === null || !Number.isSafeInteger(pairs) || pairs < 1) {
  process.stderr.write('usage: node bench/compare.ts BASE [WORD …] [--pairs=5] [--quick]\n')
  process.exit(64) // EX_USAGE of sysexits
}

/** The figure of one row in each pair, or a figure that belongs to no row (`figure` is then empty). */
interface Compared {
  readonly figure: 'per second' | 'p50 ms' | ''
  readonly base: number[]
  readonly head: number[]
  /** The ratios to the floor, where there is one. */
  readonly baseOverFloor: number[]
  readonly headOverFloor: number[]
}

const interrupted = new AbortController()
for (const name of ['SIGINT', 'SIGTERM'] as const) {
  process.once(name, () => interrupted.abort(new Error(name)))
}

const machine = await describeMachine()
for (const [name, value] of Object.entries(machine)) print(`${name.padEnd(12)} ${value}`)
print(`base         ${commit}\n`)

const closed = findClosedDirectory(head)
if (closed !== null) print(`Slots' users cannot pass ${closed}: no worker starts there.\n`)

try {
  using worktree = makeWorktree(head, commit)
  await compare(worktree.path)
} catch (error) {
  if (!interrupted.signal.aborted) throw error
  process.exitCode = 130 // A shell's status for an interrupted program.
}

async function compare(worktree: string): Promise<void> {
  const known = new Set(findBenches(worktree, []))
  const wanted = findBenches(head, words)
  const benches = wanted.filter((bench) => known.has(bench))
  for (const bench of wanted) if (!known.has(bench)) print(`${bench}: the base has none`)
  for (const bench of benches) {
    const compared = new Map<string, Compared>()
    for (let pair = 0; pair < pairs; pair += 1) {
      process.stderr.write(`${bench}, pair ${pair + 1} of ${pairs}\n`)
      // The order alternates, so that neither revision always runs second.
      for (const side of pair % 2 === 0
        ? (['base', 'head'] as const)
        : (['head', 'base'] as const)) {
        const checkout = side === 'base' ? worktree : head
        const report = await runBench(checkout, bench, optionsFor(checkout), {
          signal: interrupted.signal,
        })
        if (report === null) throw new Error(`${bench} of the ${side} ended before it had figures`)
        for (const row of report.rows) noteRow(compared, side, row)
        for (const [name, value] of Object.entries(report.figures))
          find(compared, name, '')[side].push(value)
      }
    }
    print(`\n${bench}\n\n${format(compared)}`)
  }
}

/** Asks for one round, because whole benches are repeated. A revision without options.ts chooses the number of its rounds. */
function optionsFor(checkout: string): string[] {
  const knowsRounds = existsSync(join(checkout, 'bench', 'options.ts'))
  return [...(knowsRounds ? ['--rounds=1'] : []), ...(isQuick ? ['--quick'] : [])]
}

function noteRow(compared: Map<string, Compared>, side: 'base' | 'head', row: Row): void {
  const isRate = row.atOnce > 1 && row.perSecond !== null
  const known = find(compared, row.name, isRate ? 'per second' : 'p50 ms')
  known[side].push((isRate ? row.perSecond : row.p50) ?? Number.NaN)
  if (row.ratio !== null) known[`${side}OverFloor`].push(row.ratio)
}

function find(compared: Map<string, Compared>, name: string, figure: Compared['figure']): Compared {
  const known = compared.get(name) ?? {
    figure,
    base: [],
    head: [],
    baseOverFloor: [],
    headOverFloor: [],
  }
  compared.set(name, known)
  return known
}

function format(compared: ReadonlyMap<string, Compared>): string {
  const lines = [...compared]
    .filter(([, row]) => row.base.length === pairs && row.head.length === pairs)
    .map(([name, { figure, base: before, head: after, baseOverFloor, headOverFloor }]) => {
      const ratios = divide(after, before)
      const overFloor = divide(headOverFloor, baseOverFloor)
      return [
        name,
        figure,
        digits(median(before)),
        digits(median(after)),
        median(ratios).toFixed(2),
        `${Math.min(...ratios).toFixed(2)} … ${Math.max(...ratios).toFixed(2)}`,
        overFloor.length === 0 ? '' : median(overFloor).toFixed(2),
      ]
    })
  const heads = ['name', 'figure', 'base', 'here', 'ratio', 'spread', 'of ratios to floor']
  const unmatched = [...compared].filter(([, row]) => row.base.length * row.head.length === 0)
  return `${formatTable(heads, lines, [0, 1])}${unmatched.map(([name]) => `${name}: only one has it\n`).join('')}`
}

function divide(over: readonly number[], under: readonly number[]): number[] {
  return over.flatMap((value, pair) => {
    const other = under[pair]
    return other === undefined ? [] : [value / other]
  })
}

function readCommit(revision: string): string | null {
  if (revision === '') return null
  try {
    return git(
      'rev-parse',
      '--verify',
      '--quiet',
      '--end-of-options',
      `${revision}^{commit}`,
    ).trim()
  } catch {
    return null
  }
}

function git(...parameters: readonly string[]): string {
  return execFileSync('git', ['-C', head, ...parameters], { encoding: 'utf8' })
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
