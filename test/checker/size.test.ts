// Large outputs that repeat a unit, the worst case for a checker that looks back or makes an object for each line or token.
// A checker that is not linear would not finish.
import t from 'tap'
import { check } from '#checker'
import type { BuiltInChecker } from '#checker'

const size = 1 << 20

const checkers: readonly BuiltInChecker[] = [
  { type: 'exact' },
  { type: 'lines' },
  { type: 'unordered_lines' },
  { type: 'tokens' },
  { type: 'floats', absolute: 0.5, relative: 0.5 },
]
const [, lines, unordered, tokens, floats] = checkers

/** Returns an output that repeats one unit. */
const fill = (unit: string): Buffer => Buffer.alloc(size, unit)
const around = (head: string, unit: string, tail: string): Buffer =>
  Buffer.concat([Buffer.from(head), fill(unit), Buffer.from(tail)])

t.test('one thing over and over is the same as itself, not as itself and one more', async (t) => {
  const units = [' ', '\n', ' \n', 'a', 'a ', 'a\n', '😀', '1e9 ', '.', '\t\v\f\r']
  for (const unit of [...units, `${'x'.repeat(4095)}\n`]) {
    const output = fill(unit)
    const [before, behind] = [around('x', unit, ''), around('', unit, 'x')]
    for (const checker of checkers) {
      const name = `${checker.type} ${JSON.stringify(unit.slice(0, 9))}`
      t.ok(check(checker, behind, Buffer.from(behind)).same, name)
      t.notOk(check(checker, before, output).same, `${name}, something before it too many`)
      t.notOk(check(checker, output, behind).same, `${name}, something behind it missing`)
    }
  }
})

t.test('a difference behind a million lines is found where it is', async (t) => {
  const [a, b] = [around('', '\n', 'a'), around('', '\n', 'b')]
  for (const checker of checkers) {
    const got = checker === unordered ? null : 'b'
    const difference = { line: size + 1, expected: 'a', got }
    t.strictSame(check(checker, b, a), { same: false, difference }, checker.type)
  }
})

t.test('blanks in one make no difference to the other', async (t) => {
  const blanks = ' \t\r'.repeat(1 << 18)
  const output = Buffer.from(`${blanks}1${blanks}\n${blanks}\n2${blanks}\n${blanks}`)
  t.ok(check(lines!, output, Buffer.from(`${blanks}1\n\n2`)).same)
  t.ok(check(unordered!, output, Buffer.from(`\n2\n${blanks}1`)).same)
  t.ok(check(tokens!, output, Buffer.from('1 2')).same)
  t.ok(check(floats!, output, Buffer.from('1.0 2.0')).same)
})

t.test('a number of a million digits is read in one go', async (t) => {
  const [zeros, nines] = ['0', '9'].map((digit) => digit.repeat(size))
  for (const [expected, output, same] of [
    ['1', `1.${zeros}1`, true],
    ['1', `${zeros}1`, true],
    ['1', `1e${zeros}`, true],
    ['1', `1e-${nines}`, false],
    [`1.${nines}`, '2', true],
    [`1.${nines}`, `1.${nines}x`, false],
    [`1e${nines}`, `2e${nines}`, false],
    [`${nines}`, `${nines}.`, false],
    [`.${zeros}1`, `-.${zeros}1`, true],
    [`${zeros}`, `${zeros}.e`, false],
  ] as const) {
    const name = `${expected.slice(0, 9)} ${output.slice(0, 9)}`
    t.equal(check(floats!, Buffer.from(output), Buffer.from(expected)).same, same, name)
  }
})

t.test('a quarter of a million different lines are paired, whatever their order', async (t) => {
  const [forwards, backwards] = [Buffer.alloc(size), Buffer.alloc(size)]
  for (let line = 0; line < size / 4; line += 1) {
    // Three bytes that are neither blanks nor newlines, and then a newline.
    const word = 0x40404000 + ((line & 0x7f) << 24) + (((line >> 7) & 0x7f) << 16)
    const bytes = word + (((line >> 14) & 0x7f) << 8) + 0x0a
    forwards.writeUInt32BE(bytes, line * 4)
    backwards.writeUInt32BE(bytes, size - 4 - line * 4)
  }
  t.ok(check(unordered!, backwards, forwards).same)
  forwards[size - 2] = 0xff
  const answer = check(unordered!, backwards, forwards)
  t.match(answer, { same: false, difference: { line: size / 4, got: null } })
})
