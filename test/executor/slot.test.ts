// The slots alone, without boxes: who waits, who is served first, what happens when none is left.
import t from 'tap'
import { createSlotPool } from '../../src/executor/slot.ts'
import { failsAt } from '../helper/executor.ts'

t.test('slots have uids of their own', async (t) => {
  const pool = createSlotPool(3, 60_000)
  t.same(
    [await pool.acquire(), await pool.acquire(), await pool.acquire()],
    [
      { index: 0, uid: 60_000 },
      { index: 1, uid: 60_001 },
      { index: 2, uid: 60_002 },
    ],
  )
  t.same(await createSlotPool(1, null).acquire(), { index: 0, uid: null })
})

t.test('who waits first is served first', async (t) => {
  const pool = createSlotPool(1, null)
  const slot = await pool.acquire()
  const served: string[] = []
  const first = pool.acquire().then(() => served.push('first'))
  const second = pool.acquire().then(() => served.push('second'))
  pool.release(slot)
  await first
  t.same(served, ['first'])
  pool.release(slot)
  await second
  t.same(served, ['first', 'second'])
})

t.test('who lost his slot by no fault of his is served before all who wait', async (t) => {
  const pool = createSlotPool(1, null)
  const slot = await pool.acquire()
  const served: string[] = []
  const waiting = pool.acquire().then(() => served.push('waiting'))
  const ahead = pool.acquire(undefined, true).then(() => served.push('ahead'))
  pool.release(slot)
  await ahead
  t.same(served, ['ahead'])
  pool.release(slot)
  await waiting
})

t.test('who gives up waiting takes no slot', async (t) => {
  const pool = createSlotPool(1, null)
  const slot = await pool.acquire()
  const controller = new AbortController()
  const waiting = pool.acquire(controller.signal)
  controller.abort(new Error('enough'))
  await t.rejects(waiting, { message: 'enough' })
  pool.release(slot)
  t.equal((await pool.acquire()).index, 0)
  await t.rejects(pool.acquire(controller.signal), { message: 'enough' })
})

t.test('a quarantined slot never comes back, and without any nobody waits', async (t) => {
  const pool = createSlotPool(2, null)
  const one = await pool.acquire()
  const two = await pool.acquire()
  pool.quarantine(one)
  t.equal(pool.count(), 1)
  const waiting = pool.acquire()
  pool.quarantine(two)
  await t.rejects(waiting, failsAt('slot.acquire'))
  await t.rejects(pool.acquire(), failsAt('slot.acquire'))
  t.equal(pool.count(), 0)
})
