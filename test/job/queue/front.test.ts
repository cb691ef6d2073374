// Where the queue begins, as one worker remembers it.
import t from 'tap'
import { createQueueFront } from '../../../src/job/queue/front.ts'
import { stopClock } from '../../helper/clock.ts'

const at = (second: number): Date => new Date(Date.UTC(2026, 0, 1, 0, 0, second))

let pass: ReturnType<typeof stopClock>
t.beforeEach((t) => void (pass = stopClock(t)))

t.test('it begins where the first was found that was looked for from the start', async (t) => {
  const front = createQueueFront()
  t.equal(front.since, null, 'nothing is known at first')
  front.note(null, at(5))
  t.strictSame(front.since, at(5))
  front.note(at(5), at(7))
  t.strictSame(front.since, at(5), 'one found from there on says nothing of those before it')
  front.note(at(5), at(3))
  t.strictSame(front.since, at(3), 'none was left there, and one was before')
  front.note(at(3), null)
  t.equal(front.since, null, 'none is left')
})

t.test('after a moment it is looked for again', async (t) => {
  const front = createQueueFront()
  front.note(null, at(5))
  pass(249)
  t.strictSame(front.since, at(5))
  pass(1)
  t.equal(front.since, null)
  front.note(at(5), at(6))
  t.equal(front.since, null, 'an answer to an old question does not make it known anew')
})
