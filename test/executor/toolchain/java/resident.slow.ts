// The resident javac where time or memory runs out, and how it starts and stops. Each of these tests starts a JVM anew;
// resident.test.ts tests that strangers' sources do nothing to each other in it.
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import {
  execute,
  findBoxProcesses,
  patientLimits,
  scaleLimits,
  startExecutor,
} from '../../../helper/executor.ts'
import type { TextOutcome } from '../../../helper/executor.ts'
import {
  executeAlone,
  hello,
  startWithResident,
  waitForResident,
  wasResident,
} from './comparison.ts'

const executor = await startWithResident(t)

/** javac looks for the common type of all of these, for many seconds and in little memory. */
const endless = `import java.util.*; class Main { static Object x = Arrays.asList(${Array.from(
  { length: 2000 },
  (_, i) =>
    i % 2 === 1 ? `Map.of(1, "a", ${i}, List.of(${i})),` : `List.of(Set.of(${i}, ${i}L)),`,
).join('')} 1); }`

const main = 'public static void main(String[] a) { System.out.print("ok"); }'

t.test(
  'a source whose javac needs too long is judged in a box, and the resident is back',
  async (t) => {
    const short = await startWithResident(t, { limits: scaleLimits({}, { cpuSeconds: 3 }) })
    const outcome = await executeAlone(short, endless)
    // The machine decides which limit is passed first. A resident's timeout never gives such an ending, so a box gave this one.
    t.match(outcome.compile, { ending: /^(?:cpu|wall)_limit$/ })
    t.equal(outcome.run, null)
    // The resident is not back yet, and a javac of its own may need more than the three seconds.
    const roomy = { limits: patientLimits.java }
    const next = await execute(short, 'java', hello(), '', roomy)
    t.match(next.compile, { exitCode: 0 })
    await waitForResident(short)
  },
)

t.test('a source that fills the memory is answered by a javac of its own', async (t) => {
  const doubling = Array.from(
    { length: 40 },
    (_, i) => `static final String S${i + 1} = S${i} + S${i};`,
  )
  const outcome = await executeAlone(
    executor,
    `class Main { static final String S0 = "xxxxxxxxxxxxxxxx"; ${doubling.join(' ')} ${main} }`,
  )
  t.not(outcome.compile?.ending, 'exited')
  t.equal(outcome.run, null)
  await waitForResident(executor)
})

t.test('a source that is stopped costs its account the resident, and no slot', async (t) => {
  let next: TextOutcome
  // On a slow machine the source may be stopped before the resident has it, which costs nothing.
  for (let pause = 300; ; pause *= 2) {
    const stopping = new AbortController()
    const stopped = execute(executor, 'java', endless, '', {
      signal: stopping.signal,
      cacheScope: 'who stops',
    })
    setTimeout(() => stopping.abort(new Error('enough')), pause)
    await t.rejects(stopped, { message: 'enough' })
    await waitForResident(executor)
    next = await execute(executor, 'java', hello(), '', { cacheScope: 'who stops' })
    t.match(next.run, { exitCode: 0 }, 'the slot is free')
    if (!wasResident(next) || pause > 1000) break
  }
  t.notOk(wasResident(next))
})

t.test('switched off, every source has a javac of its own', async (t) => {
  const without = await startExecutor(t, { languages: ['java'] })
  for (let round = 0; round < 3; round += 1)
    t.notOk(wasResident(await execute(without, 'java', hello())))
})

t.test(
  'where its memory does not suffice it does not start, and sources compile as they can',
  async (t) => {
    const failures: string[] = []
    const small = await startExecutor(t, {
      languages: ['java'],
      accelerators: ['resident-compiler'],
      limits: scaleLimits({}, { memoryBytes: 48 << 20 }),
      onFallback: (reason) => failures.push(reason),
    })
    const outcome = await execute(small, 'java', hello())
    t.match(outcome.compile, { ending: /exited|memory_limit/ })
    while (failures.length === 0) await delay(100)
    t.match(failures[0], /^resident\.start/)
  },
)

t.test('a closed executor leaves none behind, ready or not', async (t) => {
  const before = findBoxProcesses()
  const starting = await startExecutor(t, {
    languages: ['java'],
    accelerators: ['resident-compiler'],
  })
  await starting.close()
  const ready = await startWithResident(t)
  await ready.close()
  t.same(
    findBoxProcesses().filter((pid) => !before.includes(pid)),
    [],
  )
})
