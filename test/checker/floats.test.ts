// The checker `floats`: compares tokens, and accepts numbers that are a little apart.
import t from 'tap'
import type { Test } from 'tap'
import type { BuiltInChecker } from '#checker'
import { holdDifferent, holdSame, judge } from './judge.ts'

const equal = { type: 'floats', absolute: 0 } as const
const absolute = (tolerance: number): BuiltInChecker => ({ type: 'floats', absolute: tolerance })
const relative = (tolerance: number): BuiltInChecker => ({ type: 'floats', relative: tolerance })

/** Checks rows of an expected token, the actual token, and whether the two match. Each token is a whole line. */
function hold(t: Test, checker: BuiltInChecker, rows: readonly [string, string, boolean][]) {
  for (const [expected, got, matches] of rows) {
    if (matches) t.strictSame(judge(checker, got, expected), { same: true }, `${expected} ${got}`)
    else holdDifferent(t, checker, [[expected, got, [1, expected, got]]])
  }
}

t.test('the same number in another form is the same', async (t) => {
  holdSame(t, equal, [
    ['1', '1.0'],
    ['1', '+1.'],
    ['.5', '0.5'],
    ['-.5', '-5e-1'],
    ['0', '-0'],
    ['1E3', '1000'],
    ['1e+3', '1000.000'],
    ['007', '7'],
    ['123456789012345', '123456789012345.0'],
    ['0.1', '0.1000000000000000000000000000'],
    ['1e-999', '0'],
    [`1${'0'.repeat(300)}`, '1e300'],
    ['1e0000000000000000000002', '100'],
    ['4.35', '435e-2'],
    ['9007199254740993', '9007199254740992'],
  ])
})

t.test('what is no decimal number is a text', async (t) => {
  const rows = ['0x1', '1e', '1e+', '.', '+', '-', 'e1', '.e1', '--1', '+-1', '1.0.0', '1,0', '1_0']
  hold(
    t,
    absolute(10),
    [...rows, '1e1.0', '1f', '1a', 'a1', '\0', '1\0'].map((text) => [text, '1', false]),
  )
  hold(t, absolute(10), [
    ['yes', 'yes', true],
    ['yes', 'YES', false],
    ['1', 'yes', false],
    ['0x10', '0x10', true],
    ['0x10', '0x11', false],
    ['1e', '1e', true],
  ])
})

t.test('the absolute tolerance is of the distance, its bound included', async (t) => {
  hold(t, absolute(0.5), [
    ['1', '1.5', true],
    ['1', '0.5', true],
    ['1', '1.5000001', false],
    ['1', '0.4999999', false],
    ['0.25', '-0.25', true],
    ['1e9', '1000000000.5', true],
    ['1e9', '1000000001', false],
  ])
})

t.test('the relative one is of the expected number', async (t) => {
  hold(t, relative(0.5), [
    ['2', '3', true],
    ['3', '2', true],
    ['2', '1', true],
    ['1', '2', false],
    ['-2', '-3', true],
    ['-2', '-3.001', false],
    ['0', '0.0', true],
    ['0', '1e-9', false],
    ['1e-300', '1.25e-300', true],
  ])
})

t.test('either tolerance is enough', async (t) => {
  hold(t, { type: 'floats', absolute: 1, relative: 0.1 }, [
    ['0', '1', true],
    ['100', '110', true],
    ['0', '1.1', false],
    ['100', '111', false],
    ['2', '3', true],
  ])
})

t.test('nan is nan, and an infinity is itself', async (t) => {
  const widest = { type: 'floats', absolute: Number.MAX_VALUE, relative: Number.MAX_VALUE } as const
  hold(t, widest, [
    ['nan', 'NaN', true],
    ['nan', '-NAN', true],
    ['nan', '0', false],
    ['0', 'nan', false],
    ['nan', 'inf', false],
    ['inf', 'nan', false],
    ['inf', 'Infinity', true],
    ['inf', '+INF', true],
    ['-inf', '-INFINITY', true],
    ['inf', '-inf', false],
    ['-inf', 'inf', false],
    ['inf', '1e308', false],
    ['1e308', 'inf', false],
    ['-1e308', '-inf', false],
    ['inf', 'infin', false],
    ['nan', 'nan(1)', false],
    ['nan', 'nano', false],
  ])
})

t.test('a number that is too large for a double is a text, not infinite', async (t) => {
  hold(t, { type: 'floats', absolute: 1e300, relative: 1 }, [
    ['1e309', '1e309', true],
    ['1e309', '1e310', false],
    ['1e309', 'inf', false],
    ['inf', '1e309', false],
    [`1${'0'.repeat(190)}e200`, `2${'0'.repeat(190)}e200`, false],
  ])
})

t.test('a distance beyond the largest double is still held against the tolerance', async (t) => {
  hold(t, relative(2), [['1e308', '-1e308', true]])
  hold(t, relative(1.9), [['1e308', '-1e308', false]])
  hold(t, relative(1e300), [['1e308', '-1e308', true]])
})

t.test('one difference of tokens is told as `tokens` does', async (t) => {
  holdDifferent(t, absolute(0.1), [
    ['1 2\nx 3.5', '1.05\n2 x 3.7', [2, 'x 3.5', '2 x 3.7']],
    ['1 2', '1', [1, '1 2', null]],
    ['1', '1\n2', [2, null, '2']],
  ])
})
