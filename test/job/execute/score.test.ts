// The points of tests, and which tests are skipped because of earlier results.
import t from 'tap'
import type { Verdict } from '#event'
import { isSkipped, scoreTests } from '../../../src/job/execute/score.ts'

const verdicts = (text: string): (Verdict | null)[] =>
  Array.from(text, (letter) => (letter === 'A' ? 'AC' : letter === 'W' ? 'WA' : null))
const inGroups = (text: string): { group?: string }[] =>
  Array.from(text, (letter) => (letter === '-' ? {} : { group: letter }))

t.test('points of passed tests are summed, to millionths', async (t) => {
  const tests = [{ points: 0.1 }, { points: 0.2 }, { points: 4 }, {}]
  const score = (text: string): unknown => scoreTests({ tests, groups: undefined }, verdicts(text))
  t.strictSame(score('AAWA'), { score: 0.3, max_score: 4.3, groups: null })
  t.strictSame(score('W   '), { score: 0, max_score: 4.3, groups: null })
  t.equal(scoreTests({ tests: [{}, {}], groups: undefined }, verdicts('AA')), null)
})

t.test('a group has its points when all of its tests pass', async (t) => {
  const tests = inGroups('-aabb')
  const groups = [
    { name: 'a', points: 30 },
    { name: 'b', points: 70 },
  ]
  const score = (text: string): unknown => {
    const told = scoreTests({ tests, groups }, verdicts(text))
    return [told?.score, told?.max_score, told?.groups?.map(({ passed }) => passed)]
  }
  t.strictSame(score('AAAAA'), [100, 100, [true, true]])
  t.strictSame(score('WAAAW'), [30, 100, [true, false]])
  t.strictSame(score('AAWAA'), [70, 100, [false, true]])
  t.strictSame(score('     '), [0, 100, [false, false]])
})

t.test('a group is skipped unless those that it requires have passed', async (t) => {
  const tests = inGroups('abc-')
  const groups = [
    { name: 'a', points: 1 },
    { name: 'b', points: 1, require_pass: ['a'] },
    { name: 'c', points: 1, require_pass: ['b'] },
  ]
  const skipped = (text: string, index: number): boolean =>
    isSkipped({ tests, groups }, index, verdicts(text), false)
  t.equal(skipped('A   ', 1), false)
  t.equal(skipped('W   ', 1), true)
  t.equal(skipped('W   ', 2), true, 'what was skipped has not passed')
  t.equal(skipped('AA  ', 2), false)
  t.equal(skipped('W   ', 3), false)
})

t.test('with stop_on_failure a group stops by itself', async (t) => {
  const plan = {
    tests: inGroups('ab-ab-'),
    groups: ['a', 'b'].map((name) => ({ name, points: 1 })),
  }
  const skipped = (text: string): boolean[] =>
    [3, 4, 5].map((index) => isSkipped(plan, index, verdicts(text), true))
  t.strictSame(skipped('AAA   '), [false, false, false])
  t.strictSame(skipped('WAA   '), [true, false, false])
  t.strictSame(skipped('AWA   '), [false, true, false])
  t.strictSame(skipped('AAW   '), [false, false, true])
})
