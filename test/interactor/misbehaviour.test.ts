// Interactors: programs that talk to the solution in each test. Whatever either program does, the test ends with the
// verdict of the program that broke off first, nothing is left behind, and neither reaches the other's box.
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t from 'tap'
import { findBroken } from '../helper/ledger.ts'
import { startFreshServer, untilAvailable } from '../helper/server.ts'
import type { Answer } from '../helper/server.ts'
import { startWorkerProcess } from '../helper/worker.ts'
import { halve, halveC, judge, judgeC, python, ways } from './ways.ts'
import type { Program } from './ways.ts'

const server = await startFreshServer(t, { syncWaitSeconds: 300 })
const { sql, url } = server
await startWorkerProcess(t, url)
const call: typeof server.call = (...asked) => untilAvailable(() => server.call(...asked))

interface Asked {
  readonly program: Program
  readonly interactor: Program
  readonly tests?: readonly object[]
  readonly more?: object
}
async function run({
  program,
  interactor,
  tests = [{ stdin: '700' }],
  more,
}: Asked): Promise<Answer['body']> {
  const [[language, code], [its, other]] = [program, interactor]
  const body = { language, code, interactor: { language: its, code: other }, tests, ...more }
  const answer = await call('POST', '/api/submit?wait=true', { body })
  t.equal(answer.status, 200, JSON.stringify(answer.body).slice(0, 500))
  return answer.body
}
t.test('a game is won, in either language, with several tests', async (t) => {
  for (const program of [halve, halveC])
    for (const interactor of [judge, judgeC]) {
      const tests = [{ stdin: '1' }, { stdin: '700' }, { stdin: '1000' }]
      const record = await run({ program, interactor, tests })
      t.match(record, { verdict: 'AC', fault: null, exit_code: 0 }, JSON.stringify(record.tests))
      t.strictSame(record.tests.map(({ message }: { message: string }) => message.trim()), ['found', 'found', 'found']) // prettier-ignore
      t.match(record.tests[0].stdout, /^500\n250\n/)
    }
})

t.test('the answer is a file of the interactor’s', async (t) => {
  const interactor = python('import sys\nsys.exit(0 if input() == open(sys.argv[3]).read() else 1)')
  const tests = [{ expected_stdout: 'x' }, { expected_stdout: 'y' }]
  const record = await run({ program: python('print("x")'), interactor, tests })
  const told = record.tests.map(({ verdict }: { verdict: string }) => verdict)
  t.strictSame(told, ['AC', 'WA'])
})

for (const { name, program, interactor, expected, limits } of ways)
  t.test(name, async (t) => {
    const record = await run({ program, interactor, more: { limits } })
    const pattern = { status: 'completed', fault: record.verdict === 'IE' ? 'checker' : 'program', ...expected } // prettier-ignore
    t.match(record, pattern, JSON.stringify(record.tests))
    if ('stdout' in limits) t.equal(record.stdout.length, limits.stdout)
  })

t.test('neither sees the other: not its files, not its processes', async (t) => {
  const spy = python(`
import os, sys
found = [name for name in os.listdir('/proc') if name.isdigit()]
files = [os.path.join(d, f) for d, _, names in os.walk('/box') for f in names]
try: os.kill(-1, 9)
except OSError: pass
print(len(found), [f for f in files if f.endswith(('input', 'answer'))], flush=True)`)
  const interactor = python('import sys\nline = input()\nprint(line, file=sys.stderr)\nsys.exit(0 if line.endswith("[]") and int(line.split()[0]) <= 3 else 1)') // prettier-ignore
  const record = await run({ program: spy, interactor })
  t.match(record, { verdict: 'AC' }, JSON.stringify(record.tests))
})

const header =
  process.env['TESTLIB'] ?? resolve(import.meta.dirname, '../../../shared/data/testlib')

t.test(
  'testlib’s own interactors judge as elsewhere, and points are none',
  { skip: existsSync(join(header, 'testlib.h')) ? false : `${header} has no testlib.h` },
  async (t) => {
    const files = [{ name: 'testlib.h', content: readFileSync(join(header, 'testlib.h'), 'utf8') }]
    const code = `#include "testlib.h"
int main(int argc, char **argv) {
  registerInteraction(argc, argv);
  int number = inf.readInt(), asked = 0;
  for (; asked < 10; asked++) {
    int guess = ouf.readInt(1, 1000);
    tout << guess << std::endl;
    std::cout << (guess == number ? "=" : number < guess ? "<" : ">") << std::endl;
    if (guess == number) break;
  }
  if (asked == 10) quitf(_wa, "too many questions");
  if (number == 500) quitp(0.5, "lucky");
  quitf(_ok, "%d questions", asked + 1);
}`
    const tests = [{ stdin: '700' }, { stdin: '500' }, { stdin: '1' }]
    const body = { language: 'python', interactor: { language: 'cpp', code, files }, tests }
    const submit = async (source: string): Promise<Answer['body']> =>
      (await call('POST', '/api/submit?wait=true', { body: { ...body, code: source } })).body
    t.match((await submit(halve[1])).tests, [
      { verdict: 'AC', message: /ok \d+ questions/ },
      { verdict: 'IE', message: /interactor exited with 7: .*0.5.*lucky/ },
      { verdict: 'AC' },
    ])
    t.match(await submit('while True: print(1, flush=True); input()'), { verdict: 'WA', tests: [{ message: /too many/ }] })
    t.match(await submit('print("x")'), { verdict: 'WA', tests: [{ message: /[Ee]xpected integer/ }] })
    t.match(await submit(''), { verdict: 'WA', tests: [{ message: /[Uu]nexpected end of file/ }] })
  },
) // prettier-ignore

t.test('a cancelled one ends, and the next is as before', async (t) => {
  const body = { language: 'python', code: 'input()', interactor: { language: 'python', code: 'input()' }, tests: [{}], limits: { wall_time: 60 } } // prettier-ignore
  const { id } = (await call('POST', '/api/submit', { body })).body
  await call('POST', `/api/result/${id}/cancel`)
  const ended = await call('GET', `/api/result/${id}?wait=true`)
  t.equal(ended.body.status, 'cancelled')
  t.match(await run({ program: halve, interactor: judge }), { verdict: 'AC' })
  t.strictSame(await findBroken(sql), [])
})

t.test('what is wrong with a request is told', async (t) => {
  const interactor = { language: 'python', code: '' }
  for (const [more, path, message = /./] of [
    [{}, 'interactor'],
    [{ tests: [{}], checker: { type: 'lines' } }, 'checker', /interactor, whose exit status is the verdict: leave one of the two out$/],
    [{ tests: [{}], interactor: { ...interactor, compile_args: ['-O2'] } }, 'interactor.compile_args'],
    [{ tests: [{}], interactor: { ...interactor, files: [{ name: 'input', content: '' }] } }, 'interactor.files.0.name'],
    [{ tests: [{}], interactor: { code: '' } }, 'interactor.language'],
    [{ tests: [{}], interactor: { ...interactor, type: 'lines' } }, 'interactor.type'],
  ] as const) {
    const body = { language: 'python', code: '', interactor, ...more }
    const answer = await call('POST', '/api/submit', { body })
    t.equal(answer.status, 400)
    t.match(answer.body.issues, [{ path, message }])
  } // prettier-ignore
})
