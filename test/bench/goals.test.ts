// How goals are judged, drawn and printed. The tests check numbers, not speed.
import { execFileSync } from 'node:child_process'
import { readlinkSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createBareRunner } from '../../bench/bare.ts'
import { goals } from '../../bench/goals.ts'
import { formatGoals, judgeGoals } from '../../bench/judge.ts'
import { describeDisturbance } from '../../bench/machine.ts'
import type { Row } from '../../bench/measure.ts'
import { drawGoals } from '../../bench/picture.ts'
import type { Report } from '../../bench/report.ts'
import { makeDirectory } from '../helper/directory.ts'

const row = (name: string, floor: string | null, given: Partial<Row>): Row => ({
  name,
  floor,
  atOnce: 1,
  n: 1,
  p50: 1,
  p95: 1,
  p99: 1,
  max: 1,
  perSecond: null,
  ratio: null,
  ratioP95: null,
  overP50: null,
  overP95: null,
  ...given,
})
const reportOf = (bench: string, rows: readonly Row[], figures = {}): Report => ({
  bench,
  rows,
  figures,
  notes: [],
  failures: [],
})

t.test('a difference, a ratio and a rate each become time over the floor', (t) => {
  const box = (name: string): Row[] => [
    row(`cloned ${name}`, null, { p50: 0.5, p95: 1 }),
    row(`boxed ${name}`, `cloned ${name}`, { p50: 0.6, p95: 6, ratio: 1.2, ratioP95: 6 }),
  ]
  const outcomes = judgeGoals([
    reportOf('executor/box', [...box('static binary'), ...box('static binary, after 100 ms')]),
    reportOf('executor/python', [
      row('bare', null, { perSecond: 100 }),
      row('boxed python hello, 2 at once', 'bare', { perSecond: 400, ratio: 4, atOnce: 2 }),
    ]),
    reportOf('executor/tests', [
      row('bare', null, { p50: 0.5 }),
      row('python, a test of 100', 'bare', { p50: 0.1, ratio: 0.2 }),
      row('C++, a test of 100', 'bare', { p50: 1.25, overP50: 0.75 }),
    ]),
  ])
  t.equal(outcomes.length, 7, 'goals of benches that did not run are left out')
  t.match(outcomes[0], { id: 'G1', ratio: '×1.20', wanted: '≤ ×1.25', met: true })
  t.match(outcomes[0]?.cost, { measured: 1.2, wanted: 1.25, peer: null })
  t.match(outcomes[1], { measured: '6.00 ms', ratio: '×6.00', wanted: '≤ ×1.5', met: false })
  t.match(outcomes[1]?.cost, { measured: 6, wanted: 1.5 })
  t.match(outcomes[4], { id: 'G2', floor: '100/s', measured: '400/s', met: true })
  t.match(outcomes[4]?.cost, { measured: 0.25, wanted: 0.25 })
  t.match(outcomes[6], { id: 'G11', ratio: '+0.75 ms', wanted: '≤ +0.8 ms', met: true })
  t.match(outcomes[6]?.cost, { measured: 2.5, wanted: 2.6 })
  t.match(formatGoals(outcomes), /G2 .*×4\.00 rate {2}≥ ×4 rate {2}yes[^]*5 of 7 goals are met/)
  t.end()
})

t.test('a figure is held against its floor of the same run', (t) => {
  const figures = {
    "4 workers, PostgreSQL's CPU ms": 1.2,
    "one row inserted, PostgreSQL's CPU ms": 0.25,
  }
  const [outcome] = judgeGoals([reportOf('scale/capacity', [], figures)])
  t.match(outcome, { ratio: '×4.80', wanted: '≤ ×4', met: false, floor: '0.25 ms' })
  t.match(outcome?.cost, { measured: 4.8, wanted: 4 })
  t.end()
})

t.test('memory is judged by what it grew', (t) => {
  const figures = {
    'worker MB after 100': 80,
    'worker MB at the end': 90.5,
    'web MB after 100': 70,
    'web MB at the end': 69,
  }
  const outcomes = judgeGoals([reportOf('http/leak', [], figures)])
  t.match(outcomes[0], { ratio: '+10.5 MB', met: false, cost: null })
  t.match(outcomes[1], { ratio: '-1.00 MB', met: true })
  t.end()
})

t.test('a goal whose row was renamed stops the run', (t) => {
  t.throws(() => judgeGoals([reportOf('executor/box', [])]), /no row boxed static binary/)
  t.throws(() => judgeGoals([reportOf('http/leak', [])]), /no figure worker MB/)
  t.throws(() => judgeGoals([reportOf('scale/capacity', [])]), /no figure 4 workers/)
  t.end()
})

t.test('the picture has a bar for each goal about time and is a document in itself', (t) => {
  const reports = [...new Set(goals.map(({ bench }) => bench))].map((bench) => {
    const rows = goals.filter((goal) => goal.bench === bench).map((goal) => goal.row)
    const given = {
      p50: 3,
      p95: 9,
      perSecond: 10,
      ratio: 0.3,
      ratioP95: 0.4,
      overP50: 0.1,
      overP95: 0.1,
    }
    return reportOf(bench, [
      row('bare', null, { p50: 2, p95: 8, perSecond: 30 }),
      ...[...new Set(rows)].map((name) => row(name, 'bare', given)),
    ])
  })
  const picture = drawGoals(judgeGoals(reports), 'a <machine> & a "day"')
  t.equal(picture.match(/class="goal" d="M\d/g)?.length, goals.length + 1, 'one is in the legend')
  t.match(picture, /prefers-color-scheme: dark/)
  t.match(picture, /C\+\+ &lt;iostream&gt;/)
  t.match(picture, /a &lt;machine&gt; &amp; a &quot;day&quot;/)
  t.notMatch(picture, /NaN|Infinity|undefined|null/)
  t.notMatch(picture, /Not on a quiet machine/)
  const disturbance = describeDisturbance([0.71, 0.1, 0.1])
  t.match(drawGoals(judgeGoals(reports), '', disturbance), />Not on a quiet machine: load 0\.71/)
  t.equal(describeDisturbance([0.7, 9, 9]), null)
  t.end()
})

t.test('the floor times what it is told to, in order, and refuses what is wrong', async (t) => {
  using bare = await createBareRunner()
  const files = { 'in.txt': 'hello\n' }
  const copy = ['cp', 'in.txt', 'out.txt']
  const twice = bare.prepare({
    commands: [copy, ['cat', 'out.txt']],
    files,
    stdout: 'hello\n',
    atOnce: 2,
  })
  const { durations, elapsedSeconds } = await twice(7)
  t.equal(durations.length, 7)
  t.ok(durations.every((milliseconds) => milliseconds > 0 && milliseconds <= elapsedSeconds * 1000))
  const other = bare.prepare({ commands: [['cat', 'in.txt']], files, stdout: 'hallo\n' })
  await t.rejects(other(1), /printed: hello/)
  const failing = bare.prepare({ commands: [['false']], stdout: '' })
  await t.rejects(failing(1), /false ended with wait status/)
})

const needsRoot = process.getuid?.() === 0 ? {} : { skip: 'needs root' }
t.test('the floor of boxes has namespaces of its own', needsRoot, async () => {
  using bare = await createBareRunner()
  const isFirst = ['sh', '-c', 'readlink /proc/self/ns/uts | grep -vq "$1" && echo $$', 'sh']
  const commands = [[...isFirst, readlinkSync('/proc/self/ns/uts')]]
  // It throws unless each command prints 1, which is the pid of a first process.
  await bare.prepare({ commands, stdout: '1\n', clones: true })(3)
})

t.test('programs of the floor are not found by our own path', async (t) => {
  const directory = makeDirectory(t)
  using bare = await createBareRunner()
  execFileSync('ln', ['-s', '/bin/false', join(directory, 'true')])
  const before = process.env['PATH']
  t.teardown(() => (process.env['PATH'] = before))
  process.env['PATH'] = `${directory}:${before}`
  const { durations } = await bare.prepare({ commands: [['true']], stdout: '' })(1)
  t.equal(durations.length, 1)
})
