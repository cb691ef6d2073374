// The checker `unordered_lines`: the lines in any order, each as often as it is expected.
import t from 'tap'
import { check } from '#checker'
import { bytesOf, holdDifferent, holdSame, judge } from './judge.ts'

const unordered = { type: 'unordered_lines' } as const

t.test('neither the order counts nor the white space that `lines` ignores', async (t) => {
  holdSame(t, unordered, [
    ['', ' \n\n'],
    ['a\nb', 'b\na'],
    ['a\nb\na\n', 'a\na \nb\n\n\n'],
    ['a\r\nb', 'b\t\v\f\na'],
    ['a\n\nb', '\nb\na'],
    ['\xff\n\xfe', '\xfe\n\xff'],
    ['\0\n\0\0', '\0\0\n\0'],
  ])
})

t.test('the first expected line without a partner is missing', async (t) => {
  holdDifferent(t, unordered, [
    ['a\nb\nc', 'c\nx\na', [2, 'b', null]],
    ['a\na\nb\na', 'b\na\na', [4, 'a', null]],
    ['a\nb', '', [1, 'a', null]],
    ['b\n\na', 'a\nb', [2, '', null]],
    [' a\na', 'a\na', [1, ' a', null]],
    ['a \nA', 'a\na', [2, 'A', null]],
    ['ab\nba', 'ba\nba', [1, 'ab', null]],
  ])
})

t.test('where none is missing, the first got line without a partner is too many', async (t) => {
  holdDifferent(t, unordered, [
    ['b\na', 'a\nc\nb\nd', [2, null, 'c']],
    ['b\na', 'a\nb\na\nb', [3, null, 'a']],
    ['b\na', 'a\n\nb', [2, null, '']],
    ['', '\n\nx', [1, null, '']],
  ])
})

t.test('lines of which each is another are each found once', async (t) => {
  const count = 100_000
  const numbers = Array.from({ length: count }, (_, index) => `${index}`)
  const forwards = numbers.join('\n')
  const backwards = numbers.toReversed().join('\n')
  t.strictSame(judge(unordered, backwards, forwards), { same: true })
  const last = { line: count, expected: `${count}`, got: null }
  const other = forwards.replace(/\d+$/, `${count}`)
  t.strictSame(judge(unordered, backwards, other), { same: false, difference: last })
})

t.test('an output that is a part of a larger buffer is judged alone', async (t) => {
  const whole = bytesOf('xb\nax')
  const output = new Uint8Array(whole.buffer, whole.byteOffset + 1, 3)
  t.strictSame(check(unordered, output, bytesOf('a\nb')), { same: true })
})
