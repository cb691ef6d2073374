// Time limits end with their work and follow a parent signal.
import { getEventListeners } from 'node:events'

import t from 'tap'

import { untilAborted } from '#abort'
import { DeadlineError, within } from '../../src/webhook/connect.ts'

const forEver = (signal: AbortSignal): Promise<never> => untilAborted(new Promise(() => {}), signal)

t.test('a deadline fires with an error that names the step and the limit', async (t) => {
  await t.rejects(within('dns', 0.01, undefined, forEver), new DeadlineError('dns', 0.01))
  await t.rejects(within('dns', 0.01, undefined, forEver), {
    message: 'dns: no answer within 0.01 s',
  })
})

t.test('a deadline follows its parent, one that has fired already too', async (t) => {
  const reason = new Error('shutting down')
  const parent = new AbortController()
  const waiting = within('dns', 60, parent.signal, (signal) => {
    t.equal(signal.aborted, false)
    return forEver(signal)
  })
  parent.abort(reason)
  await t.rejects(waiting, reason)
  await t.rejects(within('dns', 60, parent.signal, forEver), reason)
})

t.test('a deadline whose work is over neither fires nor listens', async (t) => {
  const parent = new AbortController()
  const signal = await within('dns', 0.01, parent.signal, async (given) => given)
  t.equal(getEventListeners(parent.signal, 'abort').length, 0)
  await new Promise((resolve) => setTimeout(resolve, 50))
  t.equal(signal.aborted, false)
})
