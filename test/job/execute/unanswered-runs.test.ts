// Runs of which nobody knows whether they began are sought until a statement finds none of them.
import t from 'tap'
import { createUnansweredRuns } from '../../../src/job/execute/unanswered-runs.ts'
import { stopClock } from '../../helper/clock.ts'

t.test('a run that never began is sought for ten seconds, and once more', async (t) => {
  const turn = stopClock(t)
  const unanswered = createUnansweredRuns()
  unanswered.giveBack(new Map([['lost', Number.POSITIVE_INFINITY]]), false)
  turn(9000)
  const early = unanswered.takeAll()
  t.strictSame([...early.keys()], ['lost'])
  unanswered.giveBack(early, false)
  turn(9000)
  const late = unanswered.takeAll()
  t.strictSame([...late.keys()], ['lost'])
  unanswered.giveBack(late, false)
  t.notOk(unanswered.areAny)
})

t.test('where one of them had begun the others are sought on, however late', async (t) => {
  const turn = stopClock(t)
  const unanswered = createUnansweredRuns()
  const runs = ['first', 'second', 'third']
  unanswered.giveBack(new Map(runs.map((run) => [run, Number.POSITIVE_INFINITY])), false)
  // Each program takes a minute, and its slot asks for the next one then.
  for (const run of runs) {
    turn(60_000)
    const sought = unanswered.takeAll()
    t.ok(sought.delete(run), run)
    unanswered.giveBack(sought, true)
  }
  t.notOk(unanswered.areAny)
})
