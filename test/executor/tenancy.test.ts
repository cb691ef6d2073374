// What happens to a request and to the slots when boxes fail before a program has started. The boxes are stand-ins.
import t from 'tap'
import type { Boxes, Phase, Slot } from '#contract'
import { NotStartedError, SandboxError } from '#executor'
import { createSlotPool } from '../../src/executor/slot.ts'
import type { SlotPool } from '../../src/executor/slot.ts'
import { withSlot } from '../../src/executor/tenancy.ts'
import { failsAt } from '../helper/executor.ts'
import { request } from './box/keeper/lone-keeper.ts'

const { signal } = new AbortController()
const asked = request(['/bin/true'])
const refusal = (): NotStartedError =>
  new NotStartedError('keeper.failed', 'what the last run left')

/** Makes boxes whose runs fail with the error of `fail`, in slots that are clear when `clearing` has resolved. */
function openBoxes(
  fail: (slot: Slot, runs: number) => Error | null,
  clearing: Boxes['clearing'] = () => null,
): { readonly boxes: Boxes; readonly ran: number[] } {
  const ran: number[] = []
  const boxes: Boxes = {
    async run(slot) {
      ran.push(slot.index)
      const error = fail(slot, ran.length)
      if (error !== null) throw error
      // No test here reads the phase.
      return { exitCode: 0 } as Phase
    },
    clearing,
    renew() {},
    settled: async () => {},
    close: async () => {},
  }
  return { boxes, ran }
}

const runIn = (pool: SlotPool, boxes: Boxes): Promise<Phase> =>
  withSlot(pool, boxes, signal, (runPhase) => runPhase(asked))

t.test('a phase that could not begin begins in another slot', async (t) => {
  const pool = createSlotPool(3, null)
  const { boxes, ran } = openBoxes((_, runs) => (runs < 3 ? refusal() : null))
  t.match(await runIn(pool, boxes), { exitCode: 0 })
  t.same(ran, [0, 1, 2])
})

t.test('or in the same one, when it is the only one and clear', async (t) => {
  const pool = createSlotPool(1, null)
  const clear = Promise.withResolvers<void>()
  const { boxes, ran } = openBoxes(
    (_, runs) => (runs === 1 ? refusal() : null),
    () => (ran.length === 1 ? clear.promise : null),
  )
  const running = runIn(pool, boxes)
  // This later request is behind the run in the queue.
  const later = pool.acquire()
  await new Promise(setImmediate)
  t.same(ran, [0], 'nobody has the slot before it is clear')
  clear.resolve()
  t.match(await running, { exitCode: 0 })
  t.same(ran, [0, 0])
  t.match(await later, { index: 0 })
})

t.test('between two phases a slot is given back and another one taken', async (t) => {
  const pool = createSlotPool(1, null, 1)
  const { boxes, ran } = openBoxes(() => null)
  const resumed = Promise.withResolvers<void>()
  const running = withSlot(pool, boxes, signal, async (runPhase, pause) => {
    await runPhase(asked)
    await pause(resumed.promise)
    await runPhase(asked)
  })
  const other = await pool.acquire()
  resumed.resolve()
  await new Promise(setImmediate)
  t.same(ran, [0], 'it waits for a slot like anybody')
  void pool.release(other, null)
  await running
  t.same(ran, [0, 0])
  await pool.acquire()
})

t.test('whoever ends it meanwhile leaves no slot behind', async (t) => {
  const pool = createSlotPool(1, null)
  const { boxes } = openBoxes(() => null)
  for (const isResumed of [false, true]) {
    const stop = new AbortController()
    const ended = withSlot(
      pool,
      boxes,
      signal,
      async (_runPhase, pause) => pause(isResumed ? Promise.resolve() : new Promise(() => {})),
      stop.signal,
    )
    const other = await pool.acquire()
    await new Promise(setImmediate)
    stop.abort(new Error('enough'))
    await t.rejects(ended, { message: 'enough' })
    void pool.release(other, null)
  }
  await pool.acquire()
})

t.test('phases take turns in slots that are free', async (t) => {
  const pool = createSlotPool(3, null)
  const { boxes, ran } = openBoxes(() => null)
  const busy = await pool.acquire()
  await withSlot(pool, boxes, signal, async (runPhase) => {
    for (let phase = 0; phase < 4; phase += 1) await runPhase(asked)
    void pool.release(busy, null)
    for (let phase = 0; phase < 3; phase += 1) await runPhase(asked)
  })
  t.same(ran, [1, 2, 1, 2, 1, 0, 2])
  const free = await Promise.all([pool.acquire(), pool.acquire(), pool.acquire()])
  t.equal(new Set(free).size, 3, 'each is lent once')
})

t.test(
  'and stay where they are while no other slot is free, or their own is not clear',
  async (t) => {
    const alone = openBoxes(() => null)
    const twice = async (runPhase: (phase: typeof asked) => Promise<Phase>): Promise<void> => {
      await runPhase(asked)
      await runPhase(asked)
    }
    await withSlot(createSlotPool(1, null), alone.boxes, signal, twice)
    t.same(alone.ran, [0, 0])
    const unclear = openBoxes(
      () => null,
      () => Promise.resolve(),
    )
    await withSlot(createSlotPool(2, null), unclear.boxes, signal, twice)
    t.same(unclear.ran, [0, 0])
  },
)

t.test('what begins nowhere is given up after three slots', async (t) => {
  const pool = createSlotPool(4, null)
  const { boxes, ran } = openBoxes(refusal)
  await t.rejects(runIn(pool, boxes), failsAt('keeper.failed'))
  t.equal(ran.length, 3)
  t.equal(pool.count(), 4)
  for (let slots = 0; slots < 4; slots += 1) await pool.acquire()
  t.pass('and all slots are free again')
})

t.test('what may have begun is run once', async (t) => {
  const pool = createSlotPool(3, null)
  const { boxes, ran } = openBoxes(() => new SandboxError('keeper.gone', 'nobody knows'))
  await t.rejects(runIn(pool, boxes), failsAt('keeper.gone'))
  t.same(ran, [0])
})

t.test('a slot that cannot be cleared is quarantined; the run is made elsewhere', async (t) => {
  const pool = createSlotPool(2, null)
  const { boxes, ran } = openBoxes(
    ({ index }) => (index === 0 ? refusal() : null),
    ({ index }) => (index === 0 ? Promise.reject(new Error('it stays')) : null),
  )
  t.match(await runIn(pool, boxes), { exitCode: 0 })
  t.same(ran, [0, 1])
  t.equal(pool.count(), 1)
})

t.test('who can have no other slot does not wait for one for ever', async (t) => {
  const pool = createSlotPool(2, null)
  const { boxes } = openBoxes(refusal, ({ index }) =>
    index === 0 ? new Promise((_, reject) => setTimeout(reject, 10, new Error('it stays'))) : null,
  )
  const running = runIn(pool, boxes)
  // The other slot's holder waits for what the first request must compile.
  const other = await pool.acquire()
  await t.rejects(running, failsAt('keeper.failed'))
  t.equal(pool.count(), 1)
  void pool.release(other, null)
  t.match(await pool.acquire(), { index: 1 }, 'the refused one does not wait any more')
})

t.test(
  'a slot in which a result came but something is left is withheld until it has gone',
  async (t) => {
    const pool = createSlotPool(1, null)
    const clear = Promise.withResolvers<void>()
    const { boxes } = openBoxes(
      () => null,
      () => clear.promise,
    )
    t.match(await runIn(pool, boxes), { exitCode: 0 })
    const next = pool.acquire()
    let isServed = false
    void next.then(() => (isServed = true))
    await new Promise(setImmediate)
    t.equal(isServed, false)
    clear.resolve()
    await next
  },
)
