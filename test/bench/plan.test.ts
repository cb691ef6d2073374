// How a bench divides its time. The tests check numbers, not speed.
import t from 'tap'
import { measure } from '../../bench/measure.ts'
import type { Case } from '../../bench/measure.ts'
import { planRound } from '../../bench/plan.ts'
import { shareTime } from '../../bench/share.ts'

const each = (name: string, iterations: number, atOnce = 1): Case => ({
  name,
  iterations,
  atOnce,
  run: () => Promise.resolve(),
})
const cases = [each('fast', 100), each('slow', 10), each('many', 64, 16)]
const costs = new Map([
  ['fast', 1],
  ['slow', 100],
  ['many', 10],
])
const callsOf = (round: number, left: number): number[] | null =>
  planRound({ cases, costs, round, rounds: 5, left })?.map(({ calls }) => calls) ?? null

t.test('with time enough every call is made, with half of it half of them', (t) => {
  // A round costs 100 + 1000 + 640.
  t.same(callsOf(0, 5 * 1740), [100, 10, 64])
  t.same(callsOf(0, 1e9), [100, 10, 64])
  t.same(callsOf(0, (5 * 1740) / 2), [50, 5, 32])
  t.same(callsOf(3, 1740), [50, 5, 32], 'two rounds are to come')
  t.end()
})

t.test('no case has fewer calls than are under way, or none when those do not fit', (t) => {
  t.same(callsOf(1, 400), [5, 1, 16])
  t.equal(callsOf(1, 260), null)
  t.same(callsOf(0, -1), [1, 1, 16], 'there is always one round')
  t.end()
})

t.test('what nobody has timed yet is called as often as it says', (t) => {
  const plan = planRound({ cases, costs: new Map(), round: 0, rounds: 5, left: 1 })
  t.same(
    plan?.map(({ calls }) => calls),
    [100, 10, 64],
  )
  t.end()
})

t.test('rounds that were asked for are had, with all their calls', async (t) => {
  let called = 0
  const counted: Case = { ...each('one', 7), run: () => Promise.resolve(void (called += 1)) }
  const [row] = await measure([counted], 3)
  t.equal(row?.n, 21)
  t.equal(called, 22, 'once before anything is timed')
})

t.test('what one bench did not use goes to those after it', (t) => {
  t.equal(shareTime(['a', 'b', 'c'], 90), 30)
  t.equal(shareTime(['c'], 80), 80)
  t.equal(shareTime(['executor/compile', 'a'], 40), 30, 'some need more')
  t.equal(shareTime(['a', 'b'], -20), 5, 'a late one has enough for a look')
  t.equal(shareTime(['scale/hosts', 'a'], 60), 42, 'what waits for clocks gets what that takes')
  t.equal(shareTime(['a', 'scale/hosts'], 60), 18, 'and the others what is left')
  t.equal(shareTime(['scale/hosts'], 300), 300, 'or all there is')
  t.end()
})
