// Where the queue begins, as one worker remembers it.
import t from 'tap'
import { createQueueFront } from '../../../src/job/queue/front.ts'
import type { QueueFront } from '../../../src/job/queue/front.ts'
import { stopClock } from '../../helper/clock.ts'

const at = (second: number): Date => new Date(Date.UTC(2026, 0, 1, 0, 0, second))

let pass: ReturnType<typeof stopClock>
t.beforeEach((t) => void (pass = stopClock(t)))

/** One that has looked from the start twice, with so much time between that what it missed is stored. */
function createSettled(first: Date, second: Date): QueueFront {
  const front = createQueueFront()
  front.note(null, first)
  pass(100)
  front.note(null, second)
  return front
}

t.test('it begins where the look before last from the start found the first', async (t) => {
  const fresh = createQueueFront()
  t.equal(fresh.since, null, 'nothing is known at first')
  fresh.note(null, at(5))
  pass(99)
  fresh.note(null, at(6))
  t.equal(fresh.since, null, 'what was being stored may still come before')
  const front = createSettled(at(5), at(7))
  t.strictSame(front.since, at(5))
  front.note(at(5), at(7))
  t.strictSame(front.since, at(5), 'one found from there on says nothing of those before it')
  front.note(at(5), at(3))
  t.strictSame(front.since, at(3), 'none was left there, and one was before')
  front.note(at(3), null)
  t.equal(front.since, null, 'none is left')
  t.strictSame(createSettled(at(5), at(4)).since, at(4), 'an earlier one has come')
})

t.test('after a moment it is looked for again', async (t) => {
  const front = createSettled(at(5), at(5))
  pass(124)
  t.strictSame(front.since, at(5))
  pass(1)
  t.equal(front.since, null)
  front.note(at(5), at(6))
  t.equal(front.since, null, 'an answer to an old question does not make it known anew')
})
