// The checker `tokens`: the runs without white space, in order.
import t from 'tap'
import { holdDifferent, holdSame } from './judge.ts'

const tokens = { type: 'tokens' } as const

t.test('how much white space of which kind stands where does not count', async (t) => {
  holdSame(t, tokens, [
    ['', ''],
    ['', ' \t\n\v\f\r'],
    ['1 2', '1\n2'],
    ['1 2', ' 1\t\v\f\r 2\n\n'],
    ['a\r\nb', 'a b'],
    ['\xa0 \0', '\xa0\n\0\n'],
  ])
})

t.test('the tokens do, and all that is no white space belongs to one', async (t) => {
  holdDifferent(t, tokens, [
    ['1', '1.0', [1, '1', '1.0']],
    ['ab', 'a b', [1, 'ab', 'a b']],
    ['a b', 'ab', [1, 'a b', 'ab']],
    ['a b', 'a\0b', [1, 'a b', 'a\0b']],
    ['a b', 'a\x1cb', [1, 'a b', 'a\x1cb']],
    ['a b', 'a\x85b', [1, 'a b', 'a\ufffdb']],
    ['a', 'A', [1, 'a', 'A']],
  ])
})

t.test('the lines are those in which the two tokens stand', async (t) => {
  holdDifferent(t, tokens, [
    ['1 2\n3 4 \n5', '1\n2\n3\n\n 9 8\t\n', [2, '3 4', ' 9 8']],
    ['1 2\n\n\n3', '1 2 4', [4, '3', '1 2 4']],
    ['1\n2\r\n', '1 3 \r\n', [2, '2', '1 3']],
  ])
})

t.test('where one has no more tokens, its line is null, the number the other’s', async (t) => {
  holdDifferent(t, tokens, [
    ['1\n2 3\n', '1\n2\n\n', [2, '2 3', null]],
    ['1\n', '1\n\n\n2 3', [4, null, '2 3']],
    ['', ' x', [1, null, ' x']],
    ['\n x \n', '\n', [2, ' x', null]],
  ])
})
