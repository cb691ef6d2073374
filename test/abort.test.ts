// Waits that a signal ends.
import { getEventListeners } from 'node:events'
import t from 'tap'
import { unlessAborted, untilAborted } from '#abort'

const reason = new Error('enough')
const never = new Promise<never>(() => {})

t.test('work that settles first keeps its value or its error, and no listener stays', async (t) => {
  const { signal } = new AbortController()
  t.equal(await untilAborted(Promise.resolve(7), signal), 7)
  await t.rejects(untilAborted(Promise.reject(new Error('own')), signal), { message: 'own' })
  t.equal(getEventListeners(signal, 'abort').length, 0)
  t.equal(await untilAborted(Promise.resolve(7), undefined), 7)
})

t.test('a signal ends the wait, and one that has fired already too', async (t) => {
  const controller = new AbortController()
  const waiting = untilAborted(never, controller.signal)
  controller.abort(reason)
  await t.rejects(waiting, reason)
  await t.rejects(untilAborted(never, controller.signal), reason)
})

t.test('work that fails when nobody waits for it any more does so unheard', async (t) => {
  const work = Promise.withResolvers<never>()
  await t.rejects(untilAborted(work.promise, AbortSignal.abort(reason)), reason)
  work.reject(new Error('late'))
  // An unhandled rejection would end the process.
  await new Promise(setImmediate)
})

t.test('who expects the end takes its reason for no error, and any other for one', async (t) => {
  const aborted = AbortSignal.abort(reason)
  const { signal } = new AbortController()
  t.equal(await unlessAborted(untilAborted(never, aborted), aborted), undefined)
  t.equal(await unlessAborted(Promise.resolve(7), aborted), 7)
  await t.rejects(unlessAborted(Promise.reject(new Error('own')), aborted), { message: 'own' })
  await t.rejects(unlessAborted(Promise.reject(reason), signal), reason)
  await t.rejects(unlessAborted(Promise.reject(reason), undefined), reason)
})
