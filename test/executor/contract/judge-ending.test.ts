// Which of several known facts about a phase decides its ending.
import t from 'tap'
import { judgeEnding } from '../../../src/executor/contract/judge-ending.ts'
import type { Captured, Evidence } from '../../../src/executor/contract/judge-ending.ts'
import type { Ending } from '../../../src/executor/contract/outcome.ts'
import { usualRun } from '../../../src/language/limits.ts'

const little: Captured = { bytes: Buffer.from('text'), truncated: false, exceeded: false }
const flood: Captured = { bytes: Buffer.from('text'), truncated: true, exceeded: true }
const calm: Evidence = {
  reason: null,
  outOfMemoryKills: 0,
  usage: { cpuSeconds: 0.5, wallSeconds: 1, memoryPeakBytes: 1 },
  stdout: little,
  stderr: little,
  exit: { code: 0, signal: null },
}
const busy = { ...calm.usage, cpuSeconds: 1.01 }
const segfault = { code: 139, signal: 'SIGSEGV' }

const limits = { ...usualRun, cpuSeconds: 1 }

const rows: readonly [string, Partial<Evidence>, Ending][] = [
  ['it came to its end', {}, 'exited'],
  ['a signal ended it', { exit: segfault }, 'signaled'],
  ['we stopped it', { reason: 'wall_limit', exit: null }, 'wall_limit'],
  ['it exited after more CPU time than it may use', { usage: busy }, 'cpu_limit'],
  ['a signal ended it after more CPU time than that', { usage: busy, exit: segfault }, 'cpu_limit'],
  ['it exited after more output than is kept', { stdout: flood }, 'output_limit'],
  ['the same on stderr', { stderr: flood }, 'output_limit'],
  ['the kernel killed one of its processes for memory', { outOfMemoryKills: 1 }, 'memory_limit'],
  [
    'memory comes before what we stopped it for',
    { reason: 'wall_limit', outOfMemoryKills: 1 },
    'memory_limit',
  ],
  [
    'what we stopped it for comes before time',
    { reason: 'output_limit', usage: busy },
    'output_limit',
  ],
  ['time comes before output', { usage: busy, stdout: flood }, 'cpu_limit'],
]
for (const [name, evidence, ending] of rows)
  t.test(name, async (t) => {
    const phase = { limits, ranOutOfMemory: () => false }
    t.equal(judgeEnding(phase, { ...calm, ...evidence }).ending, ending)
  })

t.test('a runtime that says it is out of memory is believed before all else', async (t) => {
  const phase = { limits, ranOutOfMemory: (code: number) => code === 3 }
  const evidence: Evidence = { ...calm, reason: 'cpu_limit', exit: { code: 3, signal: null } }
  t.equal(judgeEnding(phase, evidence).ending, 'memory_limit')
})

t.test('what was killed with its box has the status of a kill', async (t) => {
  const phase = { limits, ranOutOfMemory: () => false }
  const { exitCode, signal } = judgeEnding(phase, { ...calm, reason: 'wall_limit', exit: null })
  t.strictSame({ exitCode, signal }, { exitCode: 137, signal: 'SIGKILL' })
})
