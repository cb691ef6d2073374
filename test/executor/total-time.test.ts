// The time that all phases of a request may take together.
import t from 'tap'
import type { Phase } from '#contract'
import { createTotalTime } from '../../src/executor/total-time.ts'
import { usualRun } from '../../src/language/limits.ts'
import { describePhase } from '../helper/executor.ts'

const limits = { ...usualRun, wallSeconds: 10 }

const phaseOf = (wallSeconds: number, ending: Phase['ending'] = 'exited'): Phase =>
  describePhase({ ending, usage: { cpuSeconds: 0, wallSeconds, memoryPeakBytes: 0 } })

t.test('a phase gets its own limit, and no more than is left', async (t) => {
  const total = createTotalTime(15)
  t.equal(total.narrow(limits), limits)
  total.spend(phaseOf(4))
  t.equal(total.narrow(limits), limits)
  total.spend(phaseOf(4))
  t.strictSame(total.narrow(limits), { ...limits, wallSeconds: 7 })
  total.spend(phaseOf(8))
  t.strictSame(total.narrow(limits), { ...limits, wallSeconds: 0.001 })
  const boundless = createTotalTime()
  boundless.spend(phaseOf(1e9))
  t.equal(boundless.narrow(limits), limits)
})

t.test('only what the narrowed limit ended has passed the whole', async (t) => {
  const total = createTotalTime(5)
  const given = total.narrow(limits)
  t.equal(total.judge(phaseOf(5, 'wall_limit'), given, limits).ending, 'total_limit')
  for (const ending of ['exited', 'cpu_limit', 'memory_limit', 'cancelled'] as const)
    t.equal(total.judge(phaseOf(5, ending), given, limits).ending, ending)
  t.equal(total.judge(phaseOf(5, 'wall_limit'), limits, limits).ending, 'wall_limit')
})
