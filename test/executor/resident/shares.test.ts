// An account's share of a resident compiler, by the test's own clock.
import t from 'tap'
import { createShares } from '../../../src/executor/resident/shares.ts'

t.test('quick sources are free, however many', (t) => {
  const shares = createShares(() => 0)
  for (let count = 0; count < 100_000; count += 1) shares.charge('a', 0.05)
  t.ok(shares.mayUse('a'))
  t.end()
})

t.test('of longer ones an account has two seconds at once, then a fifth of the time', (t) => {
  let now = 1000
  let used = 0
  const shares = createShares(() => now)
  const use = (seconds: number): void => {
    for (const end = now + seconds; now < end; now += 0.1) {
      if (!shares.mayUse('a')) continue
      shares.charge('a', 0.1)
      used += 0.1
    }
  }
  use(1000)
  t.ok(used > 200 && used < 203, `${used} s of 1000`)
  t.ok(shares.mayUse('b'), 'another account')
  now += 15
  t.ok(shares.mayUse('a'), 'after a rest')
  t.end()
})

t.test('who ends one is away for minutes', (t) => {
  let now = 1000
  const shares = createShares(() => now)
  shares.charge('a', null)
  t.notOk(shares.mayUse('a'))
  t.ok(shares.mayUse('b'))
  now += 480
  t.notOk(shares.mayUse('a'))
  now += 20
  t.ok(shares.mayUse('a'))
  t.end()
})

t.test('quick sources are not charged, but counted', (t) => {
  let time = 100
  const shares = createShares(() => time)
  for (let n = 0; n < 100; n += 1) shares.charge('busy', 0.04)
  t.ok(shares.mayUse('busy'))
  t.equal(shares.usedBy('busy').toFixed(3), '4.000')
  t.equal(shares.usedBy('other'), 0)
  time += 3
  t.equal(shares.usedBy('busy').toFixed(3), '1.000')
  time += 3
  t.equal(shares.usedBy('busy'), 0)
  t.end()
})
