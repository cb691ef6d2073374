// Who gets in and who is sent away for how long, by a clock that the test moves.
import t from 'tap'
// Inside the folder's door there is no name for it: the gate is the task's own.
import { createGate } from '../../src/job/gate.ts'
import type { Bound, Entry } from '../../src/job/gate.ts'

let now = 1000
const newGate = () =>
  createGate(
    () => now,
    () => 0.5,
  )

const host = (name: string, limit = 2): Bound => ({ key: name, limit })

function leave(entry: Entry): void {
  if (entry.kind !== 'entered') throw new Error('never got in')
  entry.leave()
}

t.test('no more than the limit are in, and a place that is left is free', async (t) => {
  const gate = newGate()
  const first = gate.enter([host('a')])
  t.equal(first.kind, 'entered')
  t.equal(gate.enter([host('a')]).kind, 'entered')
  t.match(gate.enter([host('a')]), { kind: 'full', comeBackSeconds: (n: number) => n >= 1 })
  leave(first)
  t.equal(gate.enter([host('a')]).kind, 'entered')
})

t.test('one key that is full holds nobody else up', async (t) => {
  const gate = newGate()
  for (let n = 0; n < 5; n += 1) gate.enter([host('a')])
  t.equal(gate.enter([host('b')]).kind, 'entered')
})

t.test('who is refused under one bound takes no place under another', async (t) => {
  const gate = newGate()
  gate.enter([host('account', 1)])
  for (let n = 0; n < 5; n += 1) t.equal(gate.enter([host('a'), host('account', 1)]).kind, 'full')
  t.equal(gate.enter([host('a')]).kind, 'entered')
  t.equal(gate.enter([host('a')]).kind, 'entered')
})

t.test('leaving twice frees one place', async (t) => {
  const gate = newGate()
  const first = gate.enter([host('a')])
  gate.enter([host('a')])
  leave(first)
  leave(first)
  t.equal(gate.enter([host('a')]).kind, 'entered')
  t.equal(gate.enter([host('a')]).kind, 'full')
})

t.test('weights count, and one that is heavier than the limit gets in alone', async (t) => {
  const gate = newGate()
  const bytes = (weight: number): Bound => ({ key: 'bytes', limit: 10, weight })
  const heavy = gate.enter([bytes(20)])
  t.equal(heavy.kind, 'entered')
  t.equal(gate.enter([bytes(1)]).kind, 'full')
  leave(heavy)
  t.equal(gate.enter([bytes(6)]).kind, 'entered')
  t.equal(gate.enter([bytes(5)]).kind, 'full')
  t.equal(gate.enter([bytes(0)]).kind, 'entered')
  t.equal(gate.enter([bytes(4)]).kind, 'entered')
})

t.test('five hundred that wait for a host that hangs ask seldom', async (t) => {
  const gate = newGate()
  now = 1000
  for (let n = 0; n < 10; n += 1) gate.enter([host('a', 10)])
  let asked = 0
  let due = Array.from({ length: 490 }, () => now)
  // A minute in which nothing ends.
  for (; now < 1060; now += 0.1) {
    const [ready, later] = [due.filter((at) => at <= now), due.filter((at) => at > now)]
    asked += ready.length
    due = later.concat(
      ready.map(() => {
        const entry = gate.enter([host('a', 10)])
        return entry.kind === 'full' ? now + entry.comeBackSeconds : Infinity
      }),
    )
  }
  t.ok(asked < 490 * 5, `${asked} times in a minute`)
})

t.test('those that wait for a quick host come back within seconds', async (t) => {
  const gate = newGate()
  const waits: number[] = []
  for (let n = 0; n < 10; n += 1) gate.enter([host('a', 10)])
  for (let n = 0; n < 100; n += 1) {
    const entry = gate.enter([host('a', 10)])
    if (entry.kind === 'full') waits.push(entry.comeBackSeconds)
  }
  t.equal(waits.length, 100)
  t.ok(
    waits.every((seconds) => seconds >= 1 && seconds < 5),
    `at most ${Math.max(...waits)} s`,
  )
})

t.test('nobody waits for more than a minute, however long the line', async (t) => {
  const gate = newGate()
  now = 1000
  gate.enter([host('a', 1)])
  now += 15
  const waits = Array.from({ length: 10_000 }, () => {
    const entry = gate.enter([host('a', 1)])
    return entry.kind === 'full' ? entry.comeBackSeconds : 0
  })
  t.ok(waits.every((seconds) => seconds >= 1 && seconds <= 60))
})
