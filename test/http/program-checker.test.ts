// Checkers that are programs of the submission: what they see, what their end means, and testlib's standard checkers. Those
// are read from a directory beside the project (TESTLIB names another one). The test is skipped where it is missing.
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t from 'tap'
import { checkMistakes, startFreshServer } from '../helper/server.ts'
import type { Answer } from '../helper/server.ts'
import { startWorkerProcess } from '../helper/worker.ts'

const { call, url } = await startFreshServer(t, { syncWaitSeconds: 300 })
// Compiling testlib takes seconds, even on an idle machine.
const worker = await startWorkerProcess(t, url, {
  CPP_COMPILE_CPU_SECONDS: '100',
  CPP_COMPILE_WALL_SECONDS: '200',
  PYTHON_RUN_CPU_SECONDS: '3',
})

const run = (body: object): Promise<Answer> => call('POST', '/api/submit?wait=true', { body })
const program = (code: string): object => ({ type: 'program', language: 'python', code })
const judged = (checker: object, tests: object[] = [{ stdin: '1', expected_stdout: 'a' }]) =>
  run({ language: 'python', code: 'print(input())', tests, checker })

t.test('a checker sees input, output and answer, and its exit status decides', async (t) => {
  const checker = program(`import sys
i, o, a = (open(name).read() for name in sys.argv[1:])
print("hidden")
print(i, o.strip(), a, file=sys.stderr)
sys.exit(0 if o.strip() == i and a == "yes" else 1)`)
  const { body } = await judged(checker, [
    { stdin: '1', expected_stdout: 'yes' },
    { stdin: '2', expected_stdout: 'no' },
    { stdin: '3' },
  ])
  const tests = body.tests as { verdict: string; message: string }[]
  const told = tests.map(({ verdict, message }) => [verdict, message])
  t.strictSame(told, [
    ['AC', '1 1 yes\n'],
    ['WA', '2 2 no\n'],
    ['WA', '3 3 \n'],
  ])
  t.equal(body.verdict, 'WA')
})

t.test('a checker that fails is IE with its reason, and never AC', async (t) => {
  const rows: [string, RegExp][] = [
    ['import sys\nsys.exit(3)', /exited with 3/],
    ['import sys\nsys.exit(7)', /exited with 7/],
    ['while True: pass', /exceeded its limit cpu_time$/],
    ['import os\nos.kill(os.getpid(), 9)', /was ended by SIGKILL$/],
    ['print("x" * 3_000_000)', /limit stdout/],
    ['x = []\nwhile True: x.append(bytearray(1 << 20))', /limit memory/],
    ['import os, time\nwhile True:\n  try: os.fork()\n  except OSError: time.sleep(9)', /limit/],
  ]
  for (const [code, message] of rows) {
    const { body } = await judged(program(code))
    t.match(body, { status: 'completed', verdict: 'IE', tests: [{ verdict: 'IE', message }] }, code.slice(0, 40)) // prettier-ignore
  }
  const { body } = await judged({ type: 'program', language: 'cpp', code: 'int main( {' })
  t.match(body, { verdict: 'IE', tests: [{ verdict: 'IE', message: /does not compile/ }] })
  t.equal(worker.child.exitCode, null)
  t.notOk(worker.logged.includes('worker.suspended'))
})

t.test('a checker is not asked where the program’s end has decided', async (t) => {
  const { body } = await run({
    language: 'python',
    code: '1 / 0',
    tests: [{}],
    checker: program('raise SystemExit(0)'),
  })
  t.match(body, { verdict: 'RE', tests: [{ verdict: 'RE', message: null }] })
})

t.test('a checker leaves nothing to the next run, nor a run to its checker', async (t) => {
  const look = 'import os, sys\nseen = [p for p in ("/tmp/f", "/box/f") if os.path.exists(p)]\nfor p in ("/tmp/f", "/box/f"): open(p, "w").close()\n' // prettier-ignore
  const { body } = await run({
    language: 'python',
    code: `${look}print(seen, os.path.exists("answer"))`,
    tests: [{ expected_stdout: 'secret' }, { expected_stdout: 'secret' }],
    checker: program(`${look}print(seen, file=sys.stderr)`),
  })
  const tests = body.tests as { stdout: string; message: string }[]
  const told = tests.map(({ stdout, message }) => [stdout, message])
  t.strictSame(told, [
    ['[] False\n', '[]\n'],
    ['[] False\n', '[]\n'],
  ])
})

t.test('what is wrong with a checker is refused', async (t) => {
  const base = { type: 'program', language: 'python', code: '' }
  const rows: [object, ...string[]][] = [
    [{ type: 'program' }, 'checker.language', 'checker.code'],
    [{ ...base, language: 'klingon' }, 'checker.language'],
    [{ ...base, code: 'x'.repeat(65_537) }, 'checker.code'],
    [{ ...base, compile_args: ['x'] }, 'checker.compile_args'],
    [{ ...base, files: [{ name: 'main.py', content: '' }] }, 'checker.files.0.name'],
    [{ ...base, files: [{ name: 'answer', content: '' }] }, 'checker.files.0.name'],
    [{ ...base, files: [{ name: '../x', content: '' }] }, 'checker.files.0.name'],
    [{ ...base, files: [{ name: 'x', content: '', mode: 1 }] }, 'checker.files.0.mode'],
    [{ ...base, absolute: 1 }, 'checker.absolute'],
    [{ type: 'lines', code: '' }, 'checker.code'],
  ]
  await checkMistakes(t, rows, (checker) =>
    call('POST', '/api/submit', { body: { language: 'python', code: '', tests: [{}], checker } }),
  )
  for (const expected of [{ expected_stdout: '' }, {}]) {
    const { body } = await call('POST', '/api/submit', {
      body: { language: 'python', code: '', ...expected, checker: base },
    })
    t.strictSame(body.issues, [
      { path: 'checker', message: 'needs tests, because it is a program' },
    ])
  }
})

const testlib =
  process.env['TESTLIB'] ?? resolve(import.meta.dirname, '../../../shared/data/testlib')
const header = join(testlib, 'testlib.h')
const standard: [name: string, output: string, expected: string, verdict: string][] = [
  ['wcmp', 'a b\nc', 'a  b c', 'AC'],
  ['wcmp', 'a b', 'a c', 'WA'],
  ['lcmp', 'a b\n', 'a b', 'AC'],
  ['fcmp', 'a  b', 'a b', 'WA'],
  ['hcmp', '12345678901234567890', '12345678901234567890', 'AC'],
  ['ncmp', '1 2 3', '1 2 4', 'WA'],
  ['rcmp6', '1.0000001', '1', 'AC'],
  ['rcmp9', '1.0000001', '1', 'WA'],
  ['yesno', 'YES', 'yes', 'AC'],
  ['nyesno', 'yes no', 'YES YES', 'WA'],
  ['ncmp', 'x', '1', 'WA'],
]

// Each checker takes some seconds to compile, so only two are tested by default.
const chosen = process.env['EVERY_LANGUAGE'] === '1' ? standard : standard.slice(0, 2)

t.test(
  'testlib’s standard checkers judge as they do elsewhere',
  { skip: existsSync(header) ? false : `${header} is not here` },
  async (t) => {
    for (const [name, output, expected, verdict] of chosen) {
      const { body } = await run({
        language: 'python',
        code: `print(${JSON.stringify(output)})`,
        tests: [{ expected_stdout: expected }],
        checker: {
          type: 'program',
          language: 'cpp',
          code: readFileSync(join(testlib, `${name}.cpp`), 'utf8'),
          files: [{ name: 'testlib.h', content: readFileSync(header, 'utf8') }],
        },
      })
      t.equal(body.verdict, verdict, JSON.stringify([name, output, expected, body.tests]))
    }
  },
)
