// The resident javac as an executor uses it: nothing that a source does to it decides a verdict, is seen by the next
// source, or is more than a moment's delay. same.slow.ts tests that it answers as javac does, and resident.slow.ts what
// happens where time or memory runs out.
import t from 'tap'
import { execute, findBoxProcesses } from '../../../helper/executor.ts'
import type { TextOutcome } from '../../../helper/executor.ts'
import {
  executeAlone,
  hello,
  startWithResident,
  waitForResident,
  wasResident,
} from './comparison.ts'

const executor = await startWithResident(t)

const main = 'public static void main(String[] a) { System.out.print("ok"); }'

t.test('no class of one source is known to the next', async (t) => {
  const library = `package p; public class Library { public static int x = 1; ${main} } class Hidden { }`
  for (const user of [
    `import p.Library; class Main { int y = Library.x; ${main} }`,
    `package p; class Main { Hidden y; Library z; ${main} }`,
    `class Main { p.Library x; Library y; ${main} }`,
  ]) {
    let account = ''
    let outcome: TextOutcome
    // On a slow machine a resident may be too late with its answer, which counts against the account.
    do {
      account += 'user '
      const compile = (code: string) => execute(executor, 'java', code, '', { cacheScope: account })
      t.match((await compile(library)).run, { stdout: 'ok' })
      outcome = await compile(user)
      t.match(outcome.compile, { ending: 'exited', exitCode: 1, stderr: /Library|Hidden/ })
    } while (!wasResident(outcome))
  }
})

t.test('when it is killed the submission does not notice', async (t) => {
  const residents = findBoxProcesses()
  const asked = executeAlone(executor, hello())
  for (const pid of residents) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // The process ended together with an earlier one.
    }
  }
  t.match((await asked).run, { exitCode: 0 })
  await waitForResident(executor)
})

t.test('many at once all come out right', async (t) => {
  const print = (text: string): string =>
    `class Main { public static void main(String[] a) { System.out.print("${text}"); } }`
  const texts = Array.from({ length: 16 }, (_, index) => `n${index}`)
  const all = await Promise.all(texts.map((text) => execute(executor, 'java', print(text))))
  t.same(all.map(({ run }) => run?.stdout), texts) // prettier-ignore
})

t.test('who ends a resident has his next sources compiled in boxes, and nobody else', async (t) => {
  let account = ''
  const hostile = (code: string) => execute(executor, 'java', code, '', { cacheScope: account })
  do account += 'hostile '
  while (!wasResident(await hostile(hello())))
  const deep = `class Main { static int x = ${'('.repeat(10_000)}2${')'.repeat(10_000)}; ${main} }`
  const died = await hostile(deep)
  t.match(died.compile, { ending: 'exited', exitCode: 3, stderr: /StackOverflowError/ })
  t.notOk(wasResident(died), 'a javac of its own answers')
  await waitForResident(executor)
  const after = await hostile(hello())
  t.notOk(wasResident(after))
  t.match(after.run, { exitCode: 0 })
  await waitForResident(executor)
})

t.test('the cache holds what the resident made', async (t) => {
  const code = hello()
  let account = ''
  const compile = () => execute(executor, 'java', code, '', { cacheScope: account })
  let first: TextOutcome
  do {
    account += 'own '
    first = await compile()
  } while (!wasResident(first))
  const second = await compile()
  t.ok(second.compileCached)
  t.same(second.compile, first.compile)
})
