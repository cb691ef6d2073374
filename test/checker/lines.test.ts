// The checkers `lines` and `exact`: line against line, in order.
import t from 'tap'
import { holdDifferent, holdSame } from './judge.ts'

const lines = { type: 'lines' } as const
const exact = { type: 'exact' } as const

t.test('lines: white space at line ends and empty lines at the end do not count', async (t) => {
  holdSame(t, lines, [
    ['', ''],
    ['1\n', '1'],
    ['1', '1\n\n\n'],
    ['1 \t\r\f\v\n2', '1\n2\r\n'],
    ['', '\n \n\t'],
    ['a\n\nb\n', 'a\n \nb'],
    [' a', ' a '],
    ['\xff\n', '\xff'],
    ['a\0', 'a\0\r\n\v'],
  ])
})

t.test('lines: everything else does, and is told from where on', async (t) => {
  holdDifferent(t, lines, [
    ['1', '2', [1, '1', '2']],
    ['1', ' 1', [1, '1', ' 1']],
    ['1  2', '1 2', [1, '1  2', '1 2']],
    ['1', '\n1', [1, '1', '']],
    ['1\n\n2', '1\n2', [2, '', '2']],
    ['1\n2', '1\n\n2', [2, '2', '']],
    ['a', 'A', [1, 'a', 'A']],
    ['1', '1\0', [1, '1', '1\0']],
    ['1\n\x1c', '1\n', [2, '\x1c', null]],
    ['1\n\xa0', '1', [2, '\ufffd', null]],
    ['a\r\nb\r\nc\r\n', 'a \nb\nd \n', [3, 'c', 'd']],
    ['\xff', '\xef\xbf\xbd', [1, '\ufffd', '\ufffd']],
  ])
})

t.test('lines: what one of them does not have is null', async (t) => {
  holdDifferent(t, lines, [
    ['1', '', [1, '1', null]],
    ['', '1', [1, null, '1']],
    ['1', ' \n\n', [1, '1', null]],
    [' \n\n', '\n1', [1, null, '']],
    ['1\n2\n3\n', '1\n2\n\n', [3, '3', null]],
    ['1\n2\n', '1\n2\n3 \n', [3, null, '3']],
  ])
})

t.test('exact: the same bytes and no others', async (t) => {
  holdSame(t, exact, [
    ['', ''],
    ['\n', '\n'],
    ['a \r\n\0\xff', 'a \r\n\0\xff'],
  ])
  holdDifferent(t, exact, [
    ['a', 'b', [1, 'a', 'b']],
    ['a\nb ', 'a\nb', [2, 'b ', 'b']],
    ['a\r\nb', 'a\nb', [1, 'a\r', 'a']],
    ['a\n\nb', 'a\nb', [2, '', 'b']],
    ['a\nb', 'a\nbc\nd', [2, 'b', 'bc']],
  ])
})

t.test('exact: a newline at the end begins one more line', async (t) => {
  holdDifferent(t, exact, [
    ['a\n', 'a', [2, '', null]],
    ['a', 'a\n', [2, null, '']],
    ['', '\n', [2, null, '']],
    ['a', '', [1, 'a', '']],
    ['a\nb', 'a\n', [2, 'b', '']],
    ['a\nb', 'a', [2, 'b', null]],
  ])
})
