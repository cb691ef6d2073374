// How outputs are judged by a worker: what is large goes elsewhere, and a failure there is never a verdict.
import t from 'tap'
import type { CheckThread } from '#checker'
import { judgeOutput } from '../../../src/job/execute/judge-output.ts'
import { failsAt } from '../../helper/executor.ts'

const lines = { type: 'lines' } as const
const half = 128 * 1024
const broken: CheckThread = { check: () => Promise.reject(new Error('it has gone')) }

t.test('a small output needs no thread', async (t) => {
  const [output, expected] = [Buffer.alloc(half, 'x'), Buffer.alloc(half, 'y')]
  t.match(await judgeOutput(lines, output, expected, broken), { same: false })
  t.strictSame(await judgeOutput(lines, output, Buffer.from(output), broken), { same: true })
})

t.test('nor does a large one that is what was expected', async (t) => {
  const output = Buffer.alloc(16 * half, 'x')
  t.strictSame(await judgeOutput(lines, output, Buffer.from(output), broken), { same: true })
})

t.test('any other is judged by the thread, whose failure is ours', async (t) => {
  const [output, expected] = [Buffer.alloc(half, 'x'), Buffer.alloc(half + 1, 'x')]
  await t.rejects(judgeOutput(lines, output, expected, broken), failsAt('checker.thread', /gone/))
  t.match(await judgeOutput(lines, output, expected), { same: false })
  const [spaced, plain] = [Buffer.from('x \n'.repeat(half)), Buffer.from('x\n'.repeat(half))]
  t.strictSame(await judgeOutput(lines, spaced, plain), { same: true })
})
