// The thread that checks large outputs: it answers what `check` answers, and gives no answer when it fails.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { check, openCheckThread } from '#checker'
import type { BuiltInChecker, CheckThreadOptions, Judgement } from '#checker'
import { makeDirectory } from '../helper/directory.ts'

const checkers: readonly BuiltInChecker[] = [
  { type: 'exact' },
  { type: 'lines' },
  { type: 'unordered_lines' },
  { type: 'tokens' },
  { type: 'floats', absolute: 0.5 },
]
const lines = { type: 'lines' } as const
const bytesOf = (text: string): Buffer => Buffer.from(text)

t.test('it says what the checker says, of outputs that stay as they are', async (t) => {
  const thread = openCheckThread()
  const forwards = Array.from({ length: 20_000 }, (_, line) => `${line}\n`)
  const output = bytesOf(forwards.toReversed().join(''))
  // Both buffers are parts of larger ones.
  for (const expected of ['1', forwards.join(''), `${output.toString()} \n`].map(bytesOf)) {
    const before = [output.toString(), expected.toString()]
    const judgements = checkers.map((checker) => thread.check(checker, output, expected))
    t.strictSame(
      await Promise.all(judgements),
      checkers.map((checker) => check(checker, output, expected)),
    )
    t.strictSame([output.toString(), expected.toString()], before)
  }
})

t.test('whoever asks goes on meanwhile', async (t) => {
  let isAnswered = false
  const answer = openCheckThread().check(lines, bytesOf('1'), bytesOf('2'))
  void answer.then(() => (isAnswered = true))
  let turns = 0
  for (; !isAnswered; turns += 1) await nextTurn()
  t.ok(turns > 1, `${turns} turns`)
})

/** A stand-in for the thread: does what the output says, and answers with its thread number as the line. */
const standIn = `
import { parentPort, threadId } from 'node:worker_threads'
parentPort.on('message', ({ output }) => {
  const order = Buffer.from(output).toString()
  if (order === 'throw') throw new Error('broken')
  if (order === 'leave') process.exit(3)
  if (order === 'hang') for (;;);
  parentPort.postMessage({ same: false, difference: { line: threadId, expected: null, got: order } })
})`
const directory = makeDirectory(t)
const file = join(directory, 'thread.mjs')
writeFileSync(file, standIn)

function openStandIn(options: CheckThreadOptions = {}): (order: string) => Promise<Judgement> {
  const thread = openCheckThread({ file, ...options })
  return (order) => thread.check(lines, bytesOf(order), bytesOf(''))
}

const threadOf = (judgement: Judgement): number => (judgement.same ? 0 : judgement.difference.line)

t.test('one thread answers everything, in order', async (t) => {
  const ask = openStandIn()
  const answers = await Promise.all(['a', 'b', 'c'].map(ask))
  t.equal(new Set(answers.map(threadOf)).size, 1)
  t.match(answers, [
    { difference: { got: 'a' } },
    { difference: { got: 'b' } },
    { difference: { got: 'c' } },
  ])
})

for (const [order, message, patience] of [
  ['throw', /broken/, {}],
  ['leave', /ended with 3/, {}],
  ['hang', /does not answer/, { patienceMilliseconds: 5000 }],
] as const) {
  t.test(`a thread that is to ${order} says nothing, and another one goes on`, async (t) => {
    const ask = openStandIn(patience)
    const first = await ask('before')
    const [failed, next] = await Promise.allSettled([ask(order), ask('next')])
    t.match(failed, { status: 'rejected', reason: { message } })
    t.match(next, { status: 'fulfilled', value: { difference: { got: 'next' } } })
    t.not(threadOf(await ask('after')), threadOf(first))
  })
}

t.test('a signal ends the wait and the thread; another answers who waits behind it', async (t) => {
  const thread = openCheckThread({ file })
  const ask = (order: string, signal?: AbortSignal): Promise<Judgement> =>
    thread.check(lines, bytesOf(order), bytesOf(''), signal)
  const first = threadOf(await ask('before'))
  const end = new AbortController()
  const answers = [ask('hang', end.signal), ask('behind', end.signal), ask('next')]
  await nextTurn()
  end.abort(new Error('enough'))
  const [hung, behind, next] = await Promise.allSettled(answers)
  t.match(hung, { status: 'rejected', reason: { message: 'enough' } })
  t.match(behind, { status: 'rejected', reason: { message: 'enough' } })
  t.match(next, { status: 'fulfilled', value: { difference: { got: 'next' } } })
  t.not(threadOf(await ask('after')), first)
})

t.test('a thread that cannot be started says nothing', async (t) => {
  const ask = openStandIn({ file: join(directory, 'absent.mjs') })
  await t.rejects(ask('x'), /absent/)
})

t.test('one that is idle ends', async (t) => {
  const ask = openStandIn({ idleMilliseconds: 1 })
  const first = threadOf(await ask('x'))
  // The thread has ended when another one answers. A question that comes too early keeps the thread running.
  for (let pause = 1; threadOf(await ask('x')) === first; pause *= 2) await delay(pause)
  t.pass('it ended')
})
