// Group commit: which calls share a statement, and that each call gets its own answer, error and abort.
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createBatch } from '#database'
import type { Batch } from '#database'
import { hadNoEffect } from '../../src/database/sql-state.ts'

/** A batch whose statements the test ends, with the calls of each statement in the order of sending. */
interface Log {
  readonly batch: Batch<string, string>
  readonly sent: (readonly string[])[]
  /** Ends the oldest of the statements under way. */
  readonly end: (error?: Error) => Promise<void>
}

const refused = Object.assign(new Error('refused'), { severity: 'ERROR', code: '22P05' })
const tooLong = Object.assign(new Error('too long'), { severity: 'ERROR', code: '57014' })
const withdrawn = Object.assign(new Error('withdrawn'), { code: '57014' })
const lost = Object.assign(new Error('lost'), { code: 'CONNECTION_CLOSED' })

/** Creates a batch whose statements wait for `end`, and then answer at most `most` of their calls. */
function createLog({
  statements = 1,
  items = 10,
  most = 10,
  // Longer than any of these tests takes.
  slowMilliseconds = 600_000,
} = {}): Log {
  const sent: (readonly string[])[] = []
  const underWay: PromiseWithResolvers<void>[] = []
  return {
    sent,
    batch: createBatch<string, string>({
      async run(calls) {
        sent.push(calls)
        const ended = Promise.withResolvers<void>()
        underWay.push(ended)
        await ended.promise
        if (calls.includes('bad')) throw refused
        return calls.slice(0, most).map((call) => `${call} done`)
      },
      statements,
      items,
      slowMilliseconds,
    }),
    async end(error) {
      const ended = underWay.shift()
      if (error === undefined) ended?.resolve()
      else ended?.reject(error)
      await nextTurn()
    },
  }
}

/** Makes each call in a separate turn of the event loop. */
async function callInTurns(
  batch: Batch<string, string>,
  calls: readonly string[],
): Promise<Promise<string>[]> {
  const answers: Promise<string>[] = []
  for (const call of calls) {
    const answer = batch(call)
    // The test awaits the answer later, so a rejection must not count as unhandled.
    answer.catch(() => {})
    answers.push(answer)
    await nextTurn()
  }
  return answers
}

t.test('a lone call is sent in the same turn', async (t) => {
  const { batch, sent, end } = createLog()
  const answer = batch('a')
  await nextTurn()
  t.strictSame(sent, [['a']])
  await end()
  t.equal(await answer, 'a done')
})

t.test('those of one turn go together, in their order', async (t) => {
  const { batch, sent, end } = createLog({ statements: 2 })
  const answers = Promise.all(['a', 'b', 'c'].map((call) => batch(call)))
  await nextTurn()
  t.strictSame(sent, [['a', 'b', 'c']])
  await end()
  t.strictSame(await answers, ['a done', 'b done', 'c done'])
})

t.test('those that come while enough are under way go together next', async (t) => {
  const { batch, sent, end } = createLog({ statements: 2, items: 3 })
  const answers = await callInTurns(batch, 'abcdefg'.split(''))
  t.strictSame(sent, [['a'], ['b']])
  await end()
  t.strictSame(sent[2], ['c', 'd', 'e'], 'no more than so many')
  await end()
  t.strictSame(sent[3], ['f', 'g'])
  for (let n = 0; n < 2; n += 1) await end()
  t.strictSame(
    await Promise.all(answers),
    'abcdefg'.split('').map((call) => `${call} done`),
  )
})

t.test('one that is slow keeps nobody back', async (t) => {
  const { batch, sent, end } = createLog({ slowMilliseconds: 20 })
  const slow = batch('a')
  await nextTurn()
  const next = batch('b')
  while (sent.length < 2) await sleep(5)
  t.strictSame(sent, [['a'], ['b']])
  for (let n = 0; n < 2; n += 1) await end()
  t.strictSame(await Promise.all([slow, next]), ['a done', 'b done'])
})

t.test('those without an answer go with the next statement, before all others', async (t) => {
  const { batch, sent, end } = createLog({ most: 2 })
  const answers = await callInTurns(batch, ['a', 'b', 'c', 'd', 'e'])
  await end()
  const last = batch('f')
  await end()
  t.strictSame(sent, [['a'], ['b', 'c', 'd', 'e'], ['d', 'e', 'f']])
  await end()
  await end()
  t.strictSame(
    await Promise.all([...answers, last]),
    'abcdef'.split('').map((call) => `${call} done`),
  )
})

t.test('several that fail without effect are sent singly: the bad one fails alone', async (t) => {
  for (const error of [refused, withdrawn]) {
    const { batch, sent, end } = createLog()
    const answers = await callInTurns(batch, ['a', 'b', 'bad', 'c'])
    await end()
    await end(error)
    t.strictSame(sent.slice(2), [['b'], ['bad'], ['c']])
    for (let n = 0; n < 3; n += 1) await end()
    t.match(await Promise.allSettled(answers), [
      { value: 'a done' },
      { value: 'b done' },
      { reason: refused },
      { value: 'c done' },
    ])
  }
})

t.test('several whose fate is unknown, or that took too long, are not repeated', async (t) => {
  for (const error of [lost, tooLong]) {
    const { batch, sent, end } = createLog()
    const answers = await callInTurns(batch, ['a', 'b', 'c'])
    await end()
    await end(error)
    t.match(await Promise.allSettled(answers), [{}, { reason: error }, { reason: error }])
    t.equal(sent.length, 2)
    void batch('d')
    await nextTurn()
    t.strictSame(sent[2], ['d'], 'it goes on')
    await end()
  }
})

t.test('who has gone is not sent, and takes nobody along', async (t) => {
  const { batch, sent, end } = createLog()
  const gone = new AbortController()
  const first = batch('a')
  await nextTurn()
  const answers = Promise.allSettled([first, batch('b', gone.signal), batch('c'), batch('d')])
  gone.abort(new Error('gone'))
  await end()
  t.strictSame(sent, [['a'], ['c', 'd']])
  await end()
  t.match(await answers, [
    {},
    { reason: { message: 'gone' } },
    { value: 'c done' },
    { value: 'd done' },
  ])
})

t.test('what a caller withdraws who goes, the others send by themselves', async (t) => {
  const gone = new AbortController()
  const alone: string[] = []
  const batch = createBatch<string, string>({
    run: (calls, signals) =>
      new Promise((resolve, reject) => {
        if (calls.length === 1) {
          alone.push(...calls)
          resolve(calls)
          return
        }
        for (const signal of signals) signal.addEventListener('abort', () => reject(withdrawn))
        queueMicrotask(() => gone.abort(new Error('gone')))
      }),
    statements: 1,
    items: 10,
  })
  const answers = await Promise.allSettled([batch('b', gone.signal), batch('c'), batch('d')])
  t.match(answers, [{ reason: { message: 'gone' } }, { value: 'c' }, { value: 'd' }])
  t.strictSame(alone, ['c', 'd'])
})

t.test('only what the server called off, or was never sent, surely had no effect', (t) => {
  const fail = (properties: object): Error => Object.assign(new Error('failed'), properties)
  t.ok(hadNoEffect(fail({ severity: 'ERROR', code: '40P01' })))
  t.ok(hadNoEffect(fail({ code: '57014' })), 'withdrawn')
  t.notOk(hadNoEffect(fail({ severity: 'FATAL', code: '57P01' })))
  t.notOk(hadNoEffect(fail({ code: 'CONNECTION_CLOSED' })))
  t.notOk(hadNoEffect(fail({ code: 'ECONNRESET' })))
  t.notOk(hadNoEffect(new Error('ours')))
  t.notOk(hadNoEffect('text'))
  t.end()
})

t.test('a large item has a statement of its own, at once', async (t) => {
  const sent: (readonly number[])[] = []
  const batch = createBatch<number, number>({
    async run(items) {
      sent.push(items)
      return items
    },
    statements: 1,
    items: 8,
    countBytes: (item) => item,
  })
  t.strictSame(await Promise.all([1, 200_000, 2].map((item) => batch(item))), [1, 200_000, 2])
  t.strictSame(sent, [[200_000], [1, 2]])
})
