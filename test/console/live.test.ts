// What the console's page keeps of a stream, and how it compares a rerun with the first run.
import * as fc from 'fast-check'
import t from 'tap'
import type { Result, StreamEvent, TestResult } from '#client'
import { compare, findDifference } from '../../src/console/page/compare.ts'
import { advance, keptCharacters, nothingYet } from '../../src/console/page/live.ts'
import type { Live } from '../../src/console/page/live.ts'
import { seed } from '../helper/seed.ts'

const after = (events: readonly object[], from: Live = nothingYet): Live =>
  events.reduce<Live>((live, one) => advance(live, { position: '', ...one } as StreamEvent), from)
const running = { event: 'status', data: { status: 'running' } }
const wrote = (text: string, event = 'stdout') => ({ event, data: { offset: 0, text } })

t.test('what is written is put together, each output by itself', async (t) => {
  const live = after([
    running,
    { event: 'compile', data: { output: 'careful' } },
    wrote('a'),
    wrote('!', 'stderr'),
    wrote('b'),
    { event: 'stdout', data: { offset: 2, base64: btoa('c') } },
    { event: 'test', data: { index: 0, verdict: 'AC' } },
    { event: 'later', data: {} },
  ])
  t.match(live, { status: 'running', compile: 'careful' })
  t.strictSame(
    [live.stdout, live.stderr],
    [
      { text: 'abc', dropped: 0 },
      { text: '!', dropped: 0 },
    ],
  )
  t.match(live.tests, [{ index: 0, verdict: 'AC' }])
})

t.test('what a lost attempt told is forgotten', async (t) => {
  const before = after([running, wrote('a'), { event: 'test', data: { index: 0 } }])
  t.strictSame(after([{ event: 'status', data: { status: 'queued' } }], before), nothingYet)
  t.strictSame(after([{ event: 'submitted', data: { id: 'x' } }], before), nothingYet)
})

t.test('of what never ends the end is kept, whole characters of it', async (t) => {
  const short = fc.string({ unit: 'binary', maxLength: 9 })
  fc.assert(
    fc.property(fc.array(short, { maxLength: 9 }), (texts) => {
      const large = texts.map((text) => text.repeat(2000))
      const { text, dropped } = after(large.map((one) => wrote(one))).stdout
      const whole = large.join('')
      if (!whole.endsWith(text) || dropped + text.length !== whole.length) return false
      if (text.length < Math.min(whole.length, keptCharacters)) return false
      // One more, so that no half of a character is left.
      return text.length <= keptCharacters + 1 && text.isWellFormed()
    }),
    { seed },
  )
  t.ok(after([wrote('😀'.repeat(keptCharacters)), wrote('x')]).stdout.text.isWellFormed())
})

t.test('the first line that is another one is found', async (t) => {
  const rows = [
    ['a', 'a', null],
    ['a', 'b', [1, 'a', 'b']],
    ['a\nb\n', 'a\nc\n', [2, 'b', 'c']],
    ['a', 'a\n', [2, null, '']],
    ['a\nb', 'a', [2, 'b', null]],
    ['', 'x', [1, '', 'x']],
    [`${'x'.repeat(1000)}1`, `${'x'.repeat(1000)}2`, [1, `…${'x'.repeat(40)}1`, `…${'x'.repeat(40)}2`]],
    ['y'.repeat(1000), 'z', [1, 'y'.repeat(200), 'z']],
  ] as const // prettier-ignore
  for (const [first, now, found] of rows) {
    const difference = findDifference(first, now)
    t.strictSame(difference && [difference.line, difference.expected, difference.got], found)
  }
})

const ended = (part: Partial<Result>): Result =>
  ({
    status: 'completed',
    verdict: 'AC',
    exit_code: 0,
    signal: null,
    runtime: 'Python 3.11',
    cpu_time: 0.1,
    wall_time: 0.2,
    memory_peak: 1024,
    stdout: 'x\n',
    stderr: '',
    compile_output: null,
    tests: null,
    files: null,
    purged_at: null,
    ...part,
  }) as Result

t.test('a rerun is held against the first: verdict, times, memory, output', async (t) => {
  const same = compare(ended({}), ended({ cpu_time: 0.15, memory_peak: 512 }))
  t.notOk(
    same.pairs.some(({ differs }) => differs),
    'times and memory never are the same',
  )
  t.match(
    same.pairs.map(({ label, change }) => [label, change]),
    [['Outcome', null], ['Ended with', null], ['Runtime', null], ['CPU time', '+50 %'], ['Time', '0 %'], ['Memory', '−50 %']],
  ) // prettier-ignore
  t.strictSame(same.outputs, [])
  const now = ended({ verdict: 'RE', exit_code: 139, signal: 'SIGSEGV', runtime: 'Python 3.12', stdout: 'y\n', stderr: 'oh' }) // prettier-ignore
  const other = compare(ended({}), now)
  t.strictSame(
    other.pairs.flatMap(({ label, first, now, differs }) => (differs ? [[label, first, now]] : [])),
    [
      ['Outcome', 'Accepted', 'Runtime error'],
      ['Ended with', 'exit code 0', 'SIGSEGV'],
      ['Runtime', 'Python 3.11', 'Python 3.12'],
    ],
  )
  const labels = other.outputs.map(({ label }) => label)
  t.strictSame(labels, ['stdout', 'stderr'])
})

t.test('so are its tests and the files that it left', async (t) => {
  const test = (verdict: string | null, stdout: string | null): TestResult =>
    ({ name: null, verdict, stdout }) as TestResult
  const file = (name: string, sha256: string) => ({ name, size: 1, sha256, content: null })
  const { pairs, outputs } = compare(
    ended({ tests: [test('AC', 'a'), test('AC', 'b'), test(null, null)], files: [file('a', '1'), file('b', '2')] }),
    ended({ tests: [test('AC', 'a'), test('WA', 'c'), test('AC', 'd')], files: [file('a', '1'), file('c', '2')] }),
  ) // prettier-ignore
  t.strictSame(
    pairs.flatMap(({ label, first, now, differs }) => (differs ? [[label, first, now]] : [])),
    [
      ['Test 2', 'Accepted', 'Wrong answer'],
      ['Test 3', 'Not run', 'Accepted'],
      ['File b', '1 B, 2', 'not there'],
      ['File c', 'not there', '1 B, 2'],
    ],
  )
  const labels = outputs.map(({ label }) => label)
  t.strictSame(labels, ['stdout of Test 2', 'stdout of Test 3'])
})

t.test('of outputs that are gone nothing is said', async (t) => {
  const purged = ended({ stdout: null, stderr: null, purged_at: '2030-01-01T00:00:00Z' })
  const { outputs, isPurged, pairs } = compare(purged, ended({ files: [] }))
  t.strictSame([outputs, isPurged], [[], true])
  t.notOk(pairs.some(({ differs }) => differs))
})
