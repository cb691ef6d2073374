// The SandboxFusion door through the whole service: statuses, files and errors as reward functions expect them.
import t from 'tap'
import { startFreshServer } from '../../helper/server.ts'
import type { Answer, Call } from '../../helper/server.ts'
import { startWorkerProcess } from '../../helper/worker.ts'

const { call, issue, url } = await startFreshServer(t)
await startWorkerProcess(t, url, { LANGUAGES: 'python,cpp' })

const run = (body: object, more: Call = {}): Promise<Answer> =>
  call('POST', '/run_code', { body, checked: false, ...more })
const encode = (text: string): string => Buffer.from(text).toString('base64')

t.test('a program gets input and files, and files come back', async (t) => {
  const { status, body } = await run({
    language: 'python',
    code: 'print(input(), open("given.txt").read())\nopen("left.txt", "w").write("back")',
    stdin: 'one',
    files: { './given.txt': encode('two'), 'none.txt': null },
    fetch_files: ['left.txt', 'missing.txt'],
    compile_timeout: 10,
    run_timeout: 10,
    memory_limit_MB: -1,
  })
  t.equal(status, 200)
  t.match(body, {
    status: 'Success',
    message: '',
    compile_result: null,
    run_result: { status: 'Finished', return_code: 0, stdout: 'one two\n', stderr: '' },
    files: { 'left.txt': encode('back') },
  })
  t.ok(body.run_result.execution_time > 0)
})

t.test('each way to end has its status', async (t) => {
  const python = (code: string, more: object = {}): object => ({
    language: 'python',
    code,
    ...more,
  })
  const rows: readonly [object, object][] = [
    [python('exit(3)'), { status: 'Failed', run_result: { status: 'Finished', return_code: 3 } }],
    [python('1/0'), { status: 'Failed', run_result: { stderr: /ZeroDivisionError/ } }],
    [python('import os; os.kill(os.getpid(), 11)'), { status: 'Failed', run_result: { return_code: -11 } }],
    [
      python('import time; time.sleep(9)', { run_timeout: 0.3 }),
      { status: 'Failed', run_result: { status: 'TimeLimitExceeded', return_code: null } },
    ],
    [python('x = b"1" * 500_000_000', { memory_limit_MB: 50 }), { status: 'Failed', run_result: { return_code: -9 } }],
    [
      { language: 'cpp', code: 'int main( {' },
      {
        status: 'Failed',
        compile_result: { status: 'Finished', return_code: 1, stderr: /error/ },
        run_result: null,
      },
    ],
    [
      { language: 'cpp', code: '#include <cstdio>\nint main() { puts("hello"); }' },
      { status: 'Success', compile_result: { return_code: 0 }, run_result: { stdout: 'hello\n' } },
    ],
  ] // prettier-ignore
  for (const [body, answer] of rows) {
    const got = await run(body)
    t.equal(got.status, 200)
    t.match(got.body, answer, JSON.stringify(body))
  }
})

t.test('a program may compute as long as its timeout says', async (t) => {
  const code = 'import time\nwhile time.process_time() < 6: pass\nprint("done")'
  const { body } = await run(
    { language: 'python', code, run_timeout: 250 },
    { key: await issue('unlimited') },
  )
  t.match(body, { status: 'Success', run_result: { stdout: 'done\n' } })
})

t.test('mistakes are 422, each with its place', async (t) => {
  const { status, body } = await run({ code: 1, run_timeout: 'soon' })
  t.equal(status, 422)
  t.match(body.detail, [
    { loc: ['body', 'code'] },
    { loc: ['body', 'language'], msg: 'is required' },
    { loc: ['body', 'run_timeout'] },
  ])
  for (const language of ['cuda', 'constructor']) {
    const unknown = await run({ code: '', language })
    t.match(unknown, { status: 422, body: { detail: [{ loc: ['body', 'language'] }] } })
  }
  const beyond = await run({
    code: '',
    language: 'python',
    run_timeout: 1e6,
    files: { '/etc/x': '' },
  })
  t.equal(beyond.status, 422)
  t.match(JSON.stringify(beyond.body.detail), /run_timeout.*files|files.*run_timeout/)
  t.match(await run({}, { key: null }), { status: 401, body: { detail: String, fault: 'caller' } })
})

t.test('a request with the same Idempotency-Key runs once', async (t) => {
  const body = { language: 'python', code: 'import uuid; print(uuid.uuid4())' }
  const headers = { 'Idempotency-Key': '3f1b9c52-7a0e-4d58-9a6c-0d6f2b8e4c11' }
  const first = await run(body, { headers })
  t.match(first.body, { status: 'Success', run_result: { stdout: /^\S{36}\n$/ } })
  t.strictSame((await run(body, { headers })).body, first.body)
})
