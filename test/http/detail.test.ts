// The fields of a submission beyond code and input: what each does, through the whole service, and which values are refused.
import t from 'tap'
import { checkMistakes, startFreshServer } from '../helper/server.ts'
import type { Answer } from '../helper/server.ts'
import { startWorkerProcess } from '../helper/worker.ts'

const { call, issue, sql, url } = await startFreshServer(t, { syncWaitSeconds: 300 })
await startWorkerProcess(t, url, { LANGUAGES: 'python,cpp,java' })

const mebibyte = 1024 * 1024
const run = (body: object): Promise<Answer> => call('POST', '/api/submit?wait=true', { body })
const base64 = (...bytes: number[]): string => Buffer.from(bytes).toString('base64')

t.test('arguments, files and words for the compiler reach the program', async (t) => {
  const python = await run({
    language: 'python',
    code: 'import sys, helper\nprint(sys.argv[1:], helper.x, open("data/b.bin", "rb").read())',
    args: ['a b', 'é'],
    files: [
      { name: 'helper.py', content: 'x = 7' },
      { name: 'data/b.bin', content: base64(0, 255), encoding: 'base64' },
    ],
  })
  t.equal(python.body.stdout, "['a b', 'é'] 7 b'\\x00\\xff'\n", python.body.stderr)
  const cpp = await run({
    language: 'cpp',
    code: '#include "f.h"\n#include <cstdio>\nint main() { printf("%d", f()); }',
    files: [
      { name: 'f.h', content: 'int f();' },
      { name: 'f.cpp', content: '#include "f.h"\nint f() { return N; }' },
    ],
    compile_args: ['-DN=5'],
  })
  t.equal(cpp.body.stdout, '5', cpp.body.compile_output)
  t.match(cpp.body.compile, { exit_code: 0, cached: false, cpu_time: Number, memory_peak: Number })
  t.equal(python.body.compile, null)
})

t.test('variables reach the program alone, in a rerun too, and are not in the log', async (t) => {
  const { body } = await run({
    language: 'cpp',
    code: '#include <cstdio>\n#include <cstdlib>\nint main() { puts(getenv("TOKEN")); }',
    env: { TOKEN: 'not to be told' },
  })
  t.equal(body.stdout, 'not to be told\n')
  const again = await call('POST', `/api/result/${body.id}/rerun`)
  const { body: second } = await call('GET', `/api/result/${again.body.id}?wait=true`)
  t.equal(second.stdout, 'not to be told\n')
  const [row] = await sql`
      select count(*) filter (where data::text ~ 'TOKEN|not to be told')::int as telling, count(data -> 'detail')::int as hashes
      from runledger.event where stream_id in (${body.id}, ${second.id})`
  t.strictSame({ ...row }, { telling: 0, hashes: 2 })
})

t.test('limits of its own end a run, and the record says which', async (t) => {
  const rows = [
    ['cpu_time', 'TLE', { code: 'while True: pass', limits: { cpu_time: 0.2 } }],
    ['wall_time', 'TLE', { code: 'import time\ntime.sleep(9)', limits: { wall_time: 0.3 } }],
    ['memory', 'MLE', { code: 'x = bytearray(100 << 20)', limits: { memory: 32 * mebibyte } }],
    ['stdout', 'OLE', { code: 'print("x" * 99)', limits: { stdout: 10 } }],
    ['stderr', 'OLE', { code: 'import sys\nprint("x" * 99, file=sys.stderr)', limits: { stderr: 10 } }], // prettier-ignore
    [null, 'AC', { code: 'print("x" * 2000000)', limits: { stdout: 3_000_000 } }],
    [null, 'RE', { code: 'open("f", "w").write("x" * 3000000)', limits: { disk: mebibyte } }],
    [null, 'RE', { code: 'import os\nos.fork()', limits: { processes: 1 } }],
  ] as const
  for (const [limit, verdict, submission] of rows) {
    const { body } = await run({ language: 'python', ...submission })
    t.strictSame([body.limit, body.verdict], [limit, verdict], JSON.stringify(submission))
  }
  const { body } = await run({
    language: 'cpp',
    code: '#include <bits/stdc++.h>\nint main() {}',
    compile_limits: { memory: 32 * mebibyte },
  })
  t.equal(body.verdict, 'CE')
  t.match(body.compile_output, 'passed its memory limit')
})

t.test('the log tells the limits of an attempt as they were', async (t) => {
  const { body } = await run({
    language: 'cpp',
    code: 'int main() {}',
    limits: { cpu_time: 1.5 },
    compile_limits: { processes: 99 },
    tag: 'exercise 7',
  })
  const { body: told } = await call('GET', `/api/result/${body.id}/events`)
  const [received, started] = told.events
  t.equal(received.data.tag, 'exercise 7')
  t.match(started.data.limits, {
    run: { cpu_time: 1.5, wall_time: 10 },
    compile: { processes: 99, cpu_time: 15 },
  })
})

t.test('the least that may be asked for is a program’s end, and never ours', async (t) => {
  const limits = { cpu_time: 0.001, wall_time: 0.001, memory: 16 * mebibyte, stdout: 1, stderr: 1, disk: mebibyte, processes: 1 } // prettier-ignore
  const codes = {
    python: 'print(1)',
    cpp: 'int main() {}',
    java: 'class Main { public static void main(String[] a) {} }',
  }
  for (const [language, code] of Object.entries(codes)) {
    for (const [name, value] of Object.entries(limits)) {
      const own = { [name]: value }
      const forCompiler = language === 'python' ? {} : { compile_limits: own }
      const { body } = await run({ language, code, limits: own })
      t.equal(body.status, 'completed', `${language} with ${name} ${value}`)
      const { body: compiled } = await run({ language, code: `${code}\n`, ...forCompiler })
      t.equal(compiled.status, 'completed', `${language}’s compiler with ${name} ${value}`)
    }
  }
})

t.test('bytes go in and come out as base64', async (t) => {
  const { body } = await run({
    language: 'python',
    code: 'import sys\nb = sys.stdin.buffer.read()\nsys.stdout.buffer.write(b)\nsys.stderr.buffer.write(b[:1])',
    stdin: base64(0, 1, 254, 255),
    stdin_encoding: 'base64',
    output_encoding: 'base64',
  })
  t.strictSame([body.stdout, body.stderr], [base64(0, 1, 254, 255), base64(0)])
})

t.test('a tag comes back, and filters lists', async (t) => {
  const { body } = await run({ language: 'python', code: '', tag: 'täg' })
  t.equal(body.tag, 'täg')
  const { body: list } = await call('GET', `/api/submissions?tag=${encodeURIComponent('täg')}`)
  const told = list.submissions.map(({ id }: { id: string }) => id)
  t.strictSame(told, [body.id])
})

t.test('a priority is in the log', async (t) => {
  for (const priority of ['normal', 'low']) {
    const { body } = await call('POST', '/api/submit', {
      body: { language: 'python', code: '', priority },
    })
    const { body: log } = await call('GET', `/api/result/${body.id}/events`)
    t.equal(log.events[0].data.priority ?? 'normal', priority)
    const [row] = await sql`select priority from audit.submission where id = ${body.id}`
    t.equal(row?.['priority'], priority)
  }
})

// The mistakes that a field can have by itself are in mistakes.test.ts.
t.test('what is wrong is refused, all of it at once', async (t) => {
  const name = (text: unknown): object => ({ files: [{ name: text, content: '' }] })
  const names = (...list: string[]): object => ({
    files: list.map((one) => ({ name: one, content: '' })),
  })
  const rows: [object, ...string[]][] = [
    [{ args: ['a', 1, '\0', '\ud800'] }, 'args.1', 'args.2', 'args.3'],
    [{ args: ['x'.repeat(16_385)] }, 'args'],
    [{ compile_args: ['x'] }, 'compile_args'],
    [{ files: [[]] }, 'files.0'],
    [{ args: Array.from({ length: 64 }, () => 0) }, ...Array.from({ length: 64 }, (_, n) => `args.${n}`)],
    [{ compile_limits: {} }, 'compile_limits'],
    [name('main.py'), 'files.0.name'],
    [name('MAIN.py'), 'files.0.name'],
    [names('a', 'a'), 'files.1.name'],
    [names('a', 'a/b'), 'files.1.name'],
    [names('a/b', 'a'), 'files.1.name'],
    [names('main.py/a'), 'files.0.name'],
    [{ files: [{ name: 'a' }] }, 'files.0.content'],
    [{ files: [{ name: 'a', content: 'x', encoding: 'hex' }] }, 'files.0.encoding'],
    [{ files: [{ name: 'a', content: '=', encoding: 'base64' }] }, 'files.0.content'],
    [{ files: [{ name: 'a', content: 'x'.repeat(mebibyte + 1) }] }, 'files'],
    [{ limits: { cpu_time: -1, memory: 0.5, processes: 0 } }, 'limits.cpu_time', 'limits.memory', 'limits.memory', 'limits.processes'], // prettier-ignore
    [{ limits: { wall_time: 1e-9 } }, 'limits.wall_time'],
    [{ limits: { wall_time: 1e308 } }, 'limits.wall_time'],
    [{ limits: { wall_time: '1' } }, 'limits.wall_time'],
    [{ limits: [] }, 'limits'],
    [{ tests: 7, stop_on_failure: true, checker: { type: 'tokens' } }, 'tests'],
    [{ tests: 7, stdin: 'x' }, 'tests', 'stdin'],
    [{ stdin: '!', stdin_encoding: 'base64' }, 'stdin'],
    [{ stdin_encoding: 'latin1', output_encoding: 7 }, 'stdin_encoding', 'output_encoding'],
    [{ tag: 'a', args: 1, ...name('..'), limits: { x: 1 }, code: 7 }, 'code', 'files.0.name', 'args', 'limits.x'], // prettier-ignore
  ] // prettier-ignore
  await checkMistakes(t, rows, (more) =>
    call('POST', '/api/submit', { body: { language: 'python', code: '', ...more } }),
  )
})

t.test('of very many mistakes a hundred are told, and how many more there are', async (t) => {
  const tests = Array.from({ length: 200 }, () => ({ args: Array.from({ length: 64 }, () => 0) }))
  const { body } = await call('POST', '/api/submit', {
    body: { language: 'python', code: '', tests },
  })
  t.equal(body.issues.length, 101)
  t.strictSame(body.issues[100], { path: '', message: 'holds 12700 more mistakes' })
})

t.test('a key’s tier says the most, and the message names it', async (t) => {
  const key = await issue('beta')
  const ask = (limits: object): Promise<Answer> =>
    call('POST', '/api/submit', { key, body: { language: 'java', code: '', limits } })
  t.equal((await ask({ cpu_time: 15, memory: 1024 * mebibyte, processes: 256 })).status, 202)
  const { status, body } = await ask({ cpu_time: 15.1, wall_time: 31 })
  t.equal(status, 400)
  t.strictSame(body.issues, [
    { path: 'limits.cpu_time', message: 'is more than this key’s tier allows: 15' },
    { path: 'limits.wall_time', message: 'is more than this key’s tier allows: 30' },
  ])
})
