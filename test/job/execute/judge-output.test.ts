// A worker judges large outputs in a thread, and a failure of the thread is never a verdict.
import t from 'tap'
import type { CheckThread } from '#checker'
import { judgeOutput } from '../../../src/job/execute/verdict.ts'
import { failsAt } from '../../helper/executor.ts'

const lines = { type: 'lines' } as const
const half = 128 * 1024
const broken: CheckThread = { check: () => Promise.reject(new Error('it has gone')) }

t.test('a small output needs no thread', async (t) => {
  const [output, expected] = [Buffer.alloc(half, 'x'), Buffer.alloc(half, 'y')]
  t.match(await judgeOutput(lines, output, expected, undefined, broken), { same: false })
  t.strictSame(await judgeOutput(lines, output, Buffer.from(output), undefined, broken), {
    same: true,
  })
})

t.test('nor does a large one that is what was expected', async (t) => {
  const output = Buffer.alloc(16 * half, 'x')
  t.strictSame(await judgeOutput(lines, output, Buffer.from(output), undefined, broken), {
    same: true,
  })
})

t.test('any other is judged by the thread, whose failure is ours', async (t) => {
  const [output, expected] = [Buffer.alloc(half, 'x'), Buffer.alloc(half + 1, 'x')]
  await t.rejects(
    judgeOutput(lines, output, expected, undefined, broken),
    failsAt('checker.thread', /gone/),
  )
  t.match(await judgeOutput(lines, output, expected), { same: false })
  const [spaced, plain] = [Buffer.from('x \n'.repeat(half)), Buffer.from('x\n'.repeat(half))]
  t.strictSame(await judgeOutput(lines, spaced, plain), { same: true })
})

t.test('who may wait no longer is told why, whatever becomes of the thread', async (t) => {
  const [output, expected] = [Buffer.alloc(half, 'x'), Buffer.alloc(half + 1, 'x')]
  const reason = new Error('the worker ends')
  const waiting: CheckThread = {
    check: (_checker, _output, _expected, signal) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(new Error('it was ended')))
        end.abort(reason)
      }),
  }
  const end = new AbortController()
  await t.rejects(judgeOutput(lines, output, expected, end.signal, waiting), reason)
})
