// An account's share of a resident compiler, by the test's own clock.
import t from 'tap'
import { createTurns } from '../../../src/executor/resident/turns.ts'

t.test('quick sources are free, however many', (t) => {
  const turns = createTurns(() => 0)
  for (let count = 0; count < 100_000; count += 1) turns.took('a', 0.05)
  t.ok(turns.may('a'))
  t.end()
})

t.test('of longer ones an account has two seconds at once, then a fifth of the time', (t) => {
  let now = 1000
  let used = 0
  const turns = createTurns(() => now)
  const use = (seconds: number): void => {
    for (const end = now + seconds; now < end; now += 0.1) {
      if (!turns.may('a')) continue
      turns.took('a', 0.1)
      used += 0.1
    }
  }
  use(1000)
  t.ok(used > 200 && used < 203, `${used} s of 1000`)
  t.ok(turns.may('b'), 'another account')
  now += 15
  t.ok(turns.may('a'), 'after a rest')
  t.end()
})

t.test('who ends one is away for minutes', (t) => {
  let now = 1000
  const turns = createTurns(() => now)
  turns.took('a', null)
  t.notOk(turns.may('a'))
  t.ok(turns.may('b'))
  now += 480
  t.notOk(turns.may('a'))
  now += 20
  t.ok(turns.may('a'))
  t.end()
})

t.test('quick sources are not charged, but counted', (t) => {
  let time = 100
  const turns = createTurns(() => time)
  for (let n = 0; n < 100; n += 1) turns.took('busy', 0.04)
  t.ok(turns.may('busy'))
  t.equal(turns.usedBy('busy').toFixed(3), '4.000')
  t.equal(turns.usedBy('other'), 0)
  time += 3
  t.equal(turns.usedBy('busy').toFixed(3), '1.000')
  time += 3
  t.equal(turns.usedBy('busy'), 0)
  t.end()
})
