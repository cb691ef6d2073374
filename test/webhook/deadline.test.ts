// Time limits that can be taken back and that follow a parent.
import { getEventListeners } from 'node:events'

import t from 'tap'

import { untilAborted } from '#abort'
import { createDeadline, DeadlineError } from '../../src/webhook/deadline.ts'

t.test('a deadline fires with an error that names the step and the limit', async (t) => {
  const { signal } = createDeadline('dns', 0.01)
  await t.rejects(untilAborted(new Promise(() => {}), signal), new DeadlineError('dns', 0.01))
  t.match(signal.reason, { message: 'dns: no answer within 0.01 s' })
})

t.test('a deadline follows its parent, one that has fired already too', async (t) => {
  const reason = new Error('shutting down')
  const parent = new AbortController()
  const deadline = createDeadline('dns', 60, parent.signal)
  t.equal(deadline.signal.aborted, false)
  parent.abort(reason)
  t.equal(deadline.signal.reason, reason)
  deadline.clear()
  const late = createDeadline('dns', 60, parent.signal)
  t.equal(late.signal.reason, reason)
  await t.rejects(untilAborted(new Promise(() => {}), late.signal), reason)
  late.clear()
})

t.test('a cleared deadline neither fires nor listens', async (t) => {
  const parent = new AbortController()
  const deadline = createDeadline('dns', 0.01, parent.signal)
  deadline.clear()
  t.equal(getEventListeners(parent.signal, 'abort').length, 0)
  await new Promise((resolve) => setTimeout(resolve, 50))
  t.equal(deadline.signal.aborted, false)
})
