// From HTTP to the sandbox and back: every language and verdict through the whole service.
import t from 'tap'
import { accelerated } from '../helper/executor.ts'
import { copy, hello } from '../helper/program.ts'
import { startFreshServer } from '../helper/server.ts'
import type { Answer } from '../helper/server.ts'
import { startWorkerProcess } from '../helper/worker.ts'

const { call, url } = await startFreshServer(t, { syncWaitSeconds: 300 })
await startWorkerProcess(t, url, {
  LANGUAGES: accelerated.join(),
  PYTHON_RUN_CPU_SECONDS: '2',
  JAVA_COMPILE_CPU_SECONDS: '100',
  JAVA_COMPILE_WALL_SECONDS: '200',
})

const run = (body: object): Promise<Answer> => call('POST', '/api/submit?wait=true', { body })

t.test('each language runs and answers its record', async (t) => {
  for (const language of accelerated) {
    const { status, body } = await run({
      language,
      code: hello[language],
      expected_stdout: 'hello',
    })
    t.equal(status, 200)
    t.match(body, {
      status: 'completed',
      verdict: 'AC',
      stdout: 'hello\n',
      stderr: '',
      language,
      runtime: String,
    })
    t.ok(body.wall_time > 0 && body.memory_peak > 0)
    t.equal(body.compile_output, language === 'python' ? null : '')
  }
})

t.test('every byte of stdin comes back from the program', async (t) => {
  const stdin = '\0\x01é\u2028\ufeff😀\r\n\uffff'.repeat(500)
  const { body } = await run({ language: 'cxx', code: copy.cpp, stdin })
  t.equal(body.stdout, stdin)
})

t.test('each fate has its verdict', async (t) => {
  const rows: [string, object][] = [
    ['AC', { language: 'py', code: 'print("1 \\n\\n")', expected_stdout: '1' }],
    ['WA', { language: 'py', code: 'print(1)', expected_stdout: '2' }],
    ['RE', { language: 'py', code: '1/0' }],
    ['RE', { language: 'py', code: 'syntax error' }],
    ['CE', { language: 'cpp', code: 'int main( {' }],
    ['TLE', { language: 'py', code: 'while True: pass' }],
    ['MLE', { language: 'py', code: 'x = []\nwhile True: x.append(bytearray(1 << 20))' }],
    ['OLE', { language: 'py', code: 'while True: print("x" * 1000)' }],
  ]
  for (const [verdict, submission] of rows) {
    const { status, body } = await run(submission)
    t.equal(status, 200)
    t.equal(body.verdict, verdict, JSON.stringify(submission))
  }
})

t.test('a batch runs, and the events say what happened', async (t) => {
  const python = { language: 'py', code: 'print(1)' }
  const { body } = await call('POST', '/api/submit/batch', {
    body: { submissions: [python, python] },
  })
  for (const { id } of body.submissions) {
    t.equal((await call('GET', `/api/result/${id}?wait=true`)).body.verdict, 'AC')
    const { body: life } = await call('GET', `/api/result/${id}/events`)
    t.match(life.events[1].data, { runtime: /^Python/, limits: { run: { cpu_time: Number } } })
    t.equal(life.events.at(-1).type, 'execution.completed')
  }
})

t.test('the languages are those that the worker announces', async (t) => {
  const { body } = await call('GET', '/api/languages')
  const told = body.languages.map(({ name }: { name: string }) => name)
  t.strictSame(told, ['cpp', 'java', 'python'])
  const python = body.languages[2]
  t.match(python, { runtime: /^Python 3/, compile: null, run: Array })
  t.equal(python.limits.run.cpu_time, 2)
})
