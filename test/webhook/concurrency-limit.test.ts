// Which attempts enter, which wait, and which are sent away for how long, by a clock that the test moves.
import t from 'tap'
import { createConcurrencyLimit } from '../../src/webhook/concurrency-limit.ts'
import type { Bound, Enter, Entry } from '../../src/webhook/concurrency-limit.ts'

let now = 1000
const newLimit = (patienceSeconds = 0): Enter =>
  createConcurrencyLimit({ patienceSeconds, clock: () => now, random: () => 0.5 })
const host = (name: string, limit = 2): Bound => ({ key: name, limit, weight: 1 })
const bytes = (weight: number): Bound => ({ key: 'bytes', limit: 10, weight })

function leave(entry: Entry): void {
  if (entry.kind !== 'entered') throw new Error('never got in')
  entry.leave()
}

t.test('no more than the limit are in, and a place that is left is free', async (t) => {
  const enter = newLimit()
  const first = await enter([host('a')])
  t.match(first, { kind: 'entered' })
  t.match(await enter([host('a')]), { kind: 'entered' })
  const refused = await enter([host('a')])
  t.ok(refused.kind === 'full' && refused.comeBackSeconds >= 1)
  leave(first)
  t.match(await enter([host('a')]), { kind: 'entered' })
})

t.test('one key that is full holds nobody else up', async (t) => {
  const enter = newLimit()
  for (let n = 0; n < 5; n += 1) await enter([host('a')])
  t.match(await enter([host('b')]), { kind: 'entered' })
})

t.test('who is refused under one bound takes no place under another', async (t) => {
  const enter = newLimit()
  await enter([host('account', 1)])
  for (let n = 0; n < 5; n += 1)
    t.match(await enter([host('a'), host('account', 1)]), { kind: 'full' })
  t.match(await enter([host('a')]), { kind: 'entered' })
  t.match(await enter([host('a')]), { kind: 'entered' })
})

t.test('leaving twice frees one place', async (t) => {
  const enter = newLimit()
  const first = await enter([host('a')])
  await enter([host('a')])
  leave(first)
  leave(first)
  t.match(await enter([host('a')]), { kind: 'entered' })
  t.match(await enter([host('a')]), { kind: 'full' })
})

t.test('weights count, and one that is heavier than the limit gets in alone', async (t) => {
  const enter = newLimit()
  const heavy = await enter([bytes(20)])
  t.match(heavy, { kind: 'entered' })
  t.match(await enter([bytes(1)]), { kind: 'full' })
  leave(heavy)
  t.match(await enter([bytes(6)]), { kind: 'entered' })
  t.match(await enter([bytes(5)]), { kind: 'full' })
  t.match(await enter([bytes(0)]), { kind: 'entered' })
  t.match(await enter([bytes(4)]), { kind: 'entered' })
})

t.test('behind a quick receiver one waits in line, and first come is first in', async (t) => {
  const enter = newLimit(60)
  const first = await enter([host('a', 1)])
  const order: number[] = []
  const waiting = [1, 2, 3].map(async (n) => {
    const entry = await enter([host('a', 1)])
    order.push(n)
    leave(entry)
  })
  await Promise.resolve()
  t.strictSame(order, [])
  leave(first)
  await Promise.all(waiting)
  t.strictSame(order, [1, 2, 3])
})

t.test('who waited in vain is sent away, and is counted no longer', async (t) => {
  const enter = newLimit(0.11)
  const first = await enter([host('a', 1)])
  t.match(await enter([host('a', 1)]), { kind: 'full' })
  leave(first)
  const second = await enter([host('a', 1)])
  t.match(second, { kind: 'entered' })
  leave(second)
  t.match(await enter([host('a', 1)]), { kind: 'entered' })
})

t.test('nobody waits for a receiver that is slow already', async (t) => {
  const enter = newLimit(60)
  now = 1000
  await enter([host('a', 1)])
  now += 61
  t.match(await enter([host('a', 1)]), { kind: 'full' })
})

t.test('five hundred that wait for a host that hangs ask seldom', async (t) => {
  const enter = newLimit()
  now = 1000
  for (let n = 0; n < 10; n += 1) await enter([host('a', 10)])
  let asked = 0
  let due = Array.from({ length: 490 }, () => now)
  // No attempt ends during this minute.
  for (; now < 1060; now += 0.1) {
    for (const at of due.filter((time) => time <= now)) {
      asked += 1
      due.splice(due.indexOf(at), 1)
      const entry = await enter([host('a', 10)])
      if (entry.kind === 'full') due.push(now + entry.comeBackSeconds)
    }
  }
  t.equal(due.length, 490)
  t.ok(asked < 490 * 5, `${asked} times in a minute`)
})

t.test('those that are sent away by a quick host come back within seconds', async (t) => {
  const enter = newLimit()
  const waits: number[] = []
  for (let n = 0; n < 110; n += 1) {
    const entry = await enter([host('a', 10)])
    if (entry.kind === 'full') waits.push(entry.comeBackSeconds)
  }
  t.equal(waits.length, 100)
  t.ok(
    waits.every((seconds) => seconds >= 1 && seconds < 5),
    `at most ${Math.max(...waits)} s`,
  )
})

t.test('nobody is sent away for more than five minutes, however long the line', async (t) => {
  const enter = newLimit()
  now = 1000
  await enter([host('a', 1)])
  now += 15
  for (let n = 0; n < 10_000; n += 1) {
    const entry = await enter([host('a', 1)])
    if (entry.kind !== 'full' || entry.comeBackSeconds < 1 || entry.comeBackSeconds > 300)
      t.fail(JSON.stringify(entry))
  }
})
