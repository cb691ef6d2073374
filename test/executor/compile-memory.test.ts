// A compiler with too little memory is reported as such, whichever limit it met first.
import t from 'tap'
import type { Phase } from '#executor'
import { blameMemory } from '../../src/executor/compile.ts'
import {
  describePhase,
  execute,
  patientLimits,
  scaleLimits,
  startExecutor,
} from '../helper/executor.ts'

const mebibyte = 1024 * 1024

t.test('a clock that runs out while the memory is full is its fault', (t) => {
  const limits = { ...patientLimits.cpp.run, memoryBytes: 64 * mebibyte }
  const phase = (ending: Phase['ending'], memoryPeakBytes: number): Phase =>
    describePhase({ ending, usage: { cpuSeconds: 1, wallSeconds: 1, memoryPeakBytes } })
  const full = 64 * mebibyte - 4096
  for (const [ending, peak, expected] of [
    ['wall_limit', full, 'memory_limit'],
    ['cpu_limit', full, 'memory_limit'],
    ['wall_limit', 60 * mebibyte, 'wall_limit'],
    ['cpu_limit', 60 * mebibyte, 'cpu_limit'],
    ['exited', full, 'exited'],
    ['output_limit', full, 'output_limit'],
    ['cancelled', full, 'cancelled'],
  ] as const)
    t.equal(blameMemory(phase(ending, peak), limits).ending, expected, `${ending} at ${peak}`)
  t.end()
})

t.test('each compiler says so, and it is not remembered as the fault of the code', async (t) => {
  const executor = await startExecutor(t, {
    languages: ['cpp', 'java'],
    accelerators: [],
    limits: scaleLimits({}, { memoryBytes: 24 * mebibyte }),
  })
  for (const [language, code] of [
    ['cpp', '#include <bits/stdc++.h>\nint main() {}'],
    ['java', 'class Main { public static void main(String[] a) { } }'],
  ] as const)
    for (let round = 0; round < 3; round += 1) {
      const outcome = await execute(executor, language, code)
      t.equal(outcome.compile?.ending, 'memory_limit', `${language}: ${outcome.compile?.stderr}`)
      t.match(outcome, { compileCached: false, run: null })
    }
})
