// Calls in company: what is executed together, and that each has its own answer, error and end.
import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import { createGather, hadNoEffect } from '#database'
import type { Gather, GatherBounds } from '#database'

/** What was executed, in order: one list an execution. */
interface Log {
  readonly gather: Gather<string, string>
  readonly executed: (readonly string[])[]
  /** Ends the execution that began first of those under way. */
  readonly end: (error?: Error) => Promise<void>
}

/** Calls, each in a turn of its own. */
async function callInTurns(
  gather: Gather<string, string>,
  calls: readonly string[],
): Promise<Promise<string>[]> {
  const answers: Promise<string>[] = []
  for (const call of calls) {
    const answer = gather(call, never)
    // Its caller looks later.
    answer.catch(() => {})
    answers.push(answer)
    await nextTurn()
  }
  return answers
}

const harmless = new Error('harmless')
const never = new AbortController().signal

/** Executes what it is given when it is told to. A call that begins with `own` is to be executed by itself. */
function createLog({
  mostWeight = 1000,
  ...bounds
}: GatherBounds & { readonly mostWeight?: number } = {}): Log {
  const executed: (readonly string[])[] = []
  const underWay: PromiseWithResolvers<void>[] = []
  const execute = async (calls: readonly string[]): Promise<void> => {
    executed.push(calls)
    const ended = Promise.withResolvers<void>()
    underWay.push(ended)
    await ended.promise
  }
  return {
    executed,
    gather: createGather<string, string>({
      async one(call) {
        await execute([call])
        if (call.endsWith('refused')) throw new Error(`${call} by itself`)
        return `${call} alone`
      },
      async several(calls) {
        await execute(calls)
        return calls.map((call) => (call.startsWith('own') ? undefined : `${call} in company`))
      },
      hadNoEffect: (error) => error === harmless,
      weigh: (call) => call.length,
      mostWeight,
      underWay: 1,
      // Here what is under way ends when it is told to.
      patienceMilliseconds: 5000,
      ...bounds,
    }),
    async end(error) {
      const ended = underWay.shift()
      if (error === undefined) ended?.resolve()
      else ended?.reject(error)
      await nextTurn()
    },
  }
}

t.test('a lone call is executed in the same turn, and by itself', async (t) => {
  const { gather, executed, end } = createLog()
  const answer = gather('a', never)
  await nextTurn()
  t.strictSame(executed, [['a']])
  await end()
  t.equal(await answer, 'a alone')
})

t.test('those that come in the same turn are executed together, in their order', async (t) => {
  const { gather, executed, end } = createLog({ underWay: 2 })
  const answers = Promise.all(['a', 'b', 'c'].map((call) => gather(call, never)))
  await nextTurn()
  t.strictSame(executed, [['a', 'b', 'c']])
  await end()
  t.strictSame(await answers, ['a in company', 'b in company', 'c in company'])
})

t.test('those that come meanwhile are executed together, in their order', async (t) => {
  const { gather, executed, end } = createLog()
  const answers = await callInTurns(gather, ['a', 'b', 'c'])
  t.strictSame(executed, [['a']])
  await end()
  t.strictSame(executed, [['a'], ['b', 'c']])
  await end()
  t.match(await Promise.allSettled(answers), [
    { value: 'a alone' },
    { value: 'b in company' },
    { value: 'c in company' },
  ])
})

t.test(
  'two clients do not wait for each other, and many have more than one statement',
  async (t) => {
    const { gather, executed, end } = createLog({ underWay: 2, mostUnderWay: 3 })
    const calls = 'abcdefghijklmnopqrst'.split('')
    await callInTurns(gather, calls)
    t.strictSame(executed, [['a'], ['b'], 'cdefghij'.split('')])
    await end()
    t.strictSame(executed[3], 'klmnopqrst'.split(''))
    void gather('u', never)
    await nextTurn()
    await end()
    t.equal(executed.length, 4, 'two are under way')
    await end()
    t.strictSame(executed[4], ['u'])
  },
)

t.test('no more than so many, nor more than so heavy', async (t) => {
  const many = createLog({ mostCalls: 2 })
  await callInTurns(many.gather, ['a', 'b', 'c', 'd'])
  for (let n = 0; n < 2; n += 1) await many.end()
  t.strictSame(many.executed, [['a'], ['b', 'c'], ['d']])

  const heavy = createLog({ mostWeight: 4 })
  await callInTurns(heavy.gather, ['a', 'bb', 'cc', 'ddddd', 'e'])
  for (let n = 0; n < 3; n += 1) await heavy.end()
  t.strictSame(heavy.executed, [['a'], ['bb', 'cc'], ['ddddd'], ['e']])
})

t.test('what cannot be done in company is done alone, and tells its own error', async (t) => {
  const { gather, executed, end } = createLog()
  const answers = await callInTurns(gather, ['a', 'b', 'own', 'own refused'])
  await end()
  await end()
  t.strictSame(executed.slice(2), [['own'], ['own refused']])
  await end()
  await end()
  t.match(await Promise.allSettled(answers), [
    { value: 'a alone' },
    { value: 'b in company' },
    { value: 'own alone' },
    { reason: { message: 'own refused by itself' } },
  ])
})

t.test('company that fails without effect is repeated one by one', async (t) => {
  const { gather, executed, end } = createLog()
  const answers = await callInTurns(gather, ['a', 'b', 'c refused', 'd'])
  await end()
  await end(harmless)
  t.strictSame(executed.slice(2), [['b'], ['c refused'], ['d']])
  for (let n = 0; n < 3; n += 1) await end()
  t.match(await Promise.allSettled(answers), [
    {},
    { value: 'b alone' },
    { reason: { message: 'c refused by itself' } },
    { value: 'd alone' },
  ])
})

t.test('company of which nobody knows what became is not repeated', async (t) => {
  const { gather, executed, end } = createLog()
  const lost = new Error('connection lost')
  const answers = await callInTurns(gather, ['a', 'b', 'c'])
  await end()
  await end(lost)
  t.match(await Promise.allSettled(answers), [{}, { reason: lost }, { reason: lost }])
  t.equal(executed.length, 2)
})

t.test('who has gone is not executed, and takes nobody along', async (t) => {
  const { gather, executed, end } = createLog()
  const gone = new AbortController()
  const first = gather('a', never)
  await nextTurn()
  const answers = Promise.allSettled([
    first,
    gather('b', gone.signal),
    gather('c', never),
    gather('d', never),
  ])
  gone.abort(new Error('gone'))
  await end()
  t.strictSame(executed, [['a'], ['c', 'd']])
  await end()
  t.match(await answers, [
    {},
    { reason: { message: 'gone' } },
    { value: 'c in company' },
    { value: 'd in company' },
  ])
})

t.test('what a caller withdraws who goes, the others do by themselves', async (t) => {
  const gone = new AbortController()
  const alone: string[] = []
  const gather = createGather<string, string>({
    one: (call) => {
      alone.push(call)
      return Promise.resolve(`${call} alone`)
    },
    several: (_calls, signals) =>
      new Promise((_resolve, reject) => {
        for (const signal of signals) signal.addEventListener('abort', () => reject(harmless))
        queueMicrotask(() => gone.abort(new Error('gone')))
      }),
    hadNoEffect: (error) => error === harmless,
    weigh: () => 0,
    mostWeight: 0,
    underWay: 1,
  })
  const first = gather('a', never)
  await nextTurn()
  const answers = await Promise.allSettled([first, gather('b', gone.signal), gather('c', never)])
  t.match(answers, [{}, { reason: { message: 'gone' } }, { value: 'c alone' }])
  t.strictSame(alone, ['a', 'c'])
})

t.test('nobody waits long for one that does not end', async (t) => {
  const { gather, executed, end } = createLog({ patienceMilliseconds: 25 })
  const stuck = gather('stuck', never)
  await nextTurn()
  const others = ['b', 'c'].map((call) => gather(call, never))
  t.equal(executed.length, 1)
  while (executed.length === 1) await nextTurn()
  t.strictSame(executed[1], ['b', 'c'])
  for (let n = 0; n < 2; n += 1) await end()
  await Promise.all([stuck, ...others])
  const last = gather('d', never)
  await nextTurn()
  t.strictSame(executed[2], ['d'], 'it counts once')
  await end()
  await last
})

t.test(
  'only what the server has called off, or was never sent, is known to have had no effect',
  (t) => {
    const fail = (properties: object): Error => Object.assign(new Error('failed'), properties)
    t.ok(hadNoEffect(fail({ severity: 'ERROR', code: '40P01' })))
    t.ok(hadNoEffect(fail({ code: '57014' })), 'withdrawn')
    t.notOk(hadNoEffect(fail({ severity: 'FATAL', code: '57P01' })))
    t.notOk(hadNoEffect(fail({ code: 'CONNECTION_CLOSED' })))
    t.notOk(hadNoEffect(fail({ code: 'ECONNRESET' })))
    t.notOk(hadNoEffect(new Error('ours')))
    t.notOk(hadNoEffect('text'))
    t.end()
  },
)
