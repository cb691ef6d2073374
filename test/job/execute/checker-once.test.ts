// A checker that does not compile is tried for one test, not for each, because a compilation that a limit ended is not cached.
import t from 'tap'
import type { Execute, Outcome, Phase } from '#executor'
import { judgeTests } from '../../../src/job/execute/tests.ts'
import { describePhase } from '../../helper/executor.ts'

const phase = (part: Partial<Phase>): Phase =>
  describePhase({ stderr: Buffer.from('endless'), ...part })

/** Judges three tests. @returns what the checker said of each, and how often it was executed. */
async function judgeThree(outcome: Outcome): Promise<{ told: unknown[]; executions: number }> {
  let executions = 0
  const execute: Execute = () => {
    executions += 1
    return Promise.resolve(outcome)
  }
  const never = new AbortController().signal
  const tests = judgeTests([{}, {}, {}], {
    options: { checker: { type: 'program', language: 'cpp', code: '' } },
    scope: '',
    readBlob: (given) => Promise.resolve(given),
    stop: never,
    signal: never,
  })
  let index = 0
  for await (const _ of tests.inputs) {
    await tests.onRun(phase({}), index, execute)
    index += 1
  }
  return { told: tests.reports.map(({ verdict, message }) => [verdict, message]), executions }
}

t.test('one that a limit ended in its compilation is not compiled for the next test', async (t) => {
  const compile = phase({ ending: 'cpu_limit', exitCode: 137 })
  const { told, executions } = await judgeThree({ compile, compileCached: false, run: null })
  t.equal(executions, 1)
  t.strictSame(
    told,
    Array.from({ length: 3 }, () => ['IE', 'The checker does not compile: endless']),
  )
})

t.test('one that compiles judges each, also where it fails', async (t) => {
  const silent = { stderr: new Uint8Array() }
  const rows: [Partial<Phase>, string][] = [
    [{ exitCode: 3 }, 'exited with 3: endless'],
    [{ exitCode: 7, ...silent }, 'exited with 7'],
    [{ exitCode: 139, ending: 'signaled', signal: 'SIGSEGV' }, 'was ended by SIGSEGV: endless'],
    [{ exitCode: 137, ending: 'cpu_limit', signal: 'SIGKILL', ...silent }, 'exceeded its limit cpu_time'],
  ] // prettier-ignore
  for (const [how, words] of rows) {
    const outcome = { compile: phase({}), compileCached: true, run: phase(how) }
    const { told, executions } = await judgeThree(outcome)
    t.equal(executions, 3)
    t.strictSame(
      told,
      Array.from({ length: 3 }, () => ['IE', `The checker ${words}`]),
    )
  }
})
