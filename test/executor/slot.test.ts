// The slots alone, without boxes: which requests wait, which is served first, and what happens when no slot is left.
import t from 'tap'
import { createSlotPool } from '../../src/executor/slot.ts'
import { failsAt } from '../helper/executor.ts'

t.test('slots have uids of their own', async (t) => {
  const pool = createSlotPool(3, 60_000)
  t.same(
    [await pool.acquire(), await pool.acquire(), await pool.acquire()],
    [
      { index: 0, uid: 60_000, interactorUid: 60_003 },
      { index: 1, uid: 60_001, interactorUid: 60_004 },
      { index: 2, uid: 60_002, interactorUid: 60_005 },
    ],
  )
  t.same(await createSlotPool(1, null).acquire(), { index: 0, uid: null, interactorUid: null })
})

t.test('who waits first is served first', async (t) => {
  const pool = createSlotPool(1, null)
  const slot = await pool.acquire()
  const served: string[] = []
  const first = pool.acquire().then(() => served.push('first'))
  const second = pool.acquire().then(() => served.push('second'))
  void pool.release(slot, null)
  await first
  t.same(served, ['first'])
  void pool.release(slot, null)
  await second
  t.same(served, ['first', 'second'])
})

t.test('who lost his slot by no fault of his is served before all who wait', async (t) => {
  const pool = createSlotPool(1, null)
  const slot = await pool.acquire()
  const served: string[] = []
  const waiting = pool.acquire().then(() => served.push('waiting'))
  const ahead = pool.acquire(undefined, true).then(() => served.push('ahead'))
  void pool.release(slot, null)
  await ahead
  t.same(served, ['ahead'])
  void pool.release(slot, null)
  await waiting
})

t.test('who gives up waiting takes no slot', async (t) => {
  const pool = createSlotPool(1, null)
  const slot = await pool.acquire()
  const controller = new AbortController()
  const waiting = pool.acquire(controller.signal)
  controller.abort(new Error('enough'))
  await t.rejects(waiting, { message: 'enough' })
  void pool.release(slot, null)
  t.equal((await pool.acquire()).index, 0)
  await t.rejects(pool.acquire(controller.signal), { message: 'enough' })
})

t.test('spare slots run programs while another is cleared, never more at once', async (t) => {
  const pool = createSlotPool(2, 60_000, 1)
  t.equal(pool.all.length, 3)
  const [one, two] = [await pool.acquire(), await pool.acquire()]
  const served: number[] = []
  const acquire = async (): Promise<number> => {
    const { index } = await pool.acquire()
    served.push(index)
    return index
  }
  const waiting = acquire()
  const behind = acquire()
  await new Promise(setImmediate)
  t.same(served, [], 'two are lent')
  const cleared = Promise.withResolvers<void>()
  const given = pool.release(one, cleared.promise)
  t.equal(await waiting, 2)
  await pool.release(two, null)
  t.equal(await behind, 1)
  const last = acquire()
  cleared.resolve()
  await given
  t.same(served, [2, 1], 'two are lent again')
  await pool.release(two, null)
  t.equal(await last, 0, 'the one that has been free for longest')
  t.equal(pool.exchange(one).index, 1)
})

t.test('a spare slot replaces a quarantined one, and without any nobody waits', async (t) => {
  const pool = createSlotPool(1, null, 1)
  const one = await pool.acquire()
  await t.rejects(pool.release(one, Promise.reject(new Error('it stays'))))
  t.equal(pool.count(), 1)
  const two = await pool.acquire()
  const waiting = pool.acquire()
  await t.rejects(pool.release(two, Promise.reject(new Error('it stays'))))
  await t.rejects(waiting, failsAt('slot.acquire'))
  await t.rejects(pool.acquire(), failsAt('slot.acquire'))
  t.equal(pool.count(), 0)
})
