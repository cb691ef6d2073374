// The Piston door through the whole service: fields, stages, versions and errors as Piston's clients expect them.
import t from 'tap'
import { readVersion } from '../../../src/http/door/run.ts'
import { startFreshServer } from '../../helper/server.ts'
import type { Answer, Call } from '../../helper/server.ts'
import { startWorkerProcess } from '../../helper/worker.ts'

const { call, issue, url } = await startFreshServer(t)
await startWorkerProcess(t, url, { LANGUAGES: 'python,cpp' })

const execute = (body: object, more: Call = {}): Promise<Answer> =>
  call('POST', '/api/v2/execute', { body, checked: false, ...more })
const python = (content: string, more: object = {}): object => ({
  language: 'python',
  version: '3.x',
  files: [{ name: 'main.py', content }],
  ...more,
})

t.test('runtimes have a name, a version and aliases, at both addresses', async (t) => {
  for (const root of ['/api/v2', '/api/v2/piston']) {
    const { status, text } = await call('GET', `${root}/runtimes`, { checked: false })
    t.equal(status, 200)
    const known = JSON.parse(text) as { language: string; aliases: string[] }[]
    const runtime = known.find(({ language }) => language === 'python')
    t.match(runtime, { language: 'python', version: /^3\.\d+\.\d+$/ })
    for (const alias of ['py', 'python3']) t.ok(runtime?.aliases.includes(alias), alias)
  }
})

t.test('a version is not a number of the runtime’s name', (t) => {
  t.equal(readVersion('Algol 68 Genie 3.1.2'), '3.1.2')
  t.equal(readVersion('Pike 8.0 release 1738'), '8.0')
  t.equal(readVersion('OpenJDK 25'), '25')
  t.equal(readVersion('Beef'), '0')
  t.end()
})

t.test('a program gets its files, input, arguments, and answers with its stage', async (t) => {
  const hex = Buffer.from('four\n').toString('hex')
  const { status, body } = await execute({
    language: 'python3',
    version: '*',
    files: [
      {
        content:
          'import os, sys, other\nprint(input(), sys.argv[1:], other.name, open("data.txt").read().strip(), os.environ["GIVEN"])\nprint("e", file=sys.stderr)',
      },
      {
        name: 'other.py',
        content: Buffer.from('name = "three"').toString('base64'),
        encoding: 'base64',
      },
      { name: 'data.txt', content: hex, encoding: 'hex' },
    ],
    stdin: 'one',
    args: ['two'],
    env: { GIVEN: 'five' },
    run_timeout: 3000,
    compile_timeout: 10_000,
    run_memory_limit: -1,
    compile_memory_limit: -1,
  })
  t.equal(status, 200)
  t.match(body, {
    language: 'python',
    version: /^3\./,
    run: {
      stdout: "one ['two'] three four five\n",
      stderr: 'e\n',
      code: 0,
      signal: null,
      status: null,
      message: null,
    },
  })
  t.equal(body.run.output, `${body.run.stdout}e\n`)
  t.equal(body.compile, undefined)
  t.ok(
    Number.isInteger(body.run.wall_time) &&
      Number.isInteger(body.run.cpu_time) &&
      body.run.memory > 1e6,
  )
})

t.test('each way to end has its code, signal and status', async (t) => {
  const segfault = 'import os; os.kill(os.getpid(), 11)'
  const sleep = 'import time; time.sleep(9)'
  const hoard = 'x = b"1" * 500_000_000'
  const complain = 'import sys\nwhile True: print("x" * 9999, file=sys.stderr)'
  const exited = { code: 3, signal: null, status: 'RE', message: 'Exited with error status 3' }
  const rows: readonly [string, object, object][] = [
    ['exit', python('exit(3)'), exited],
    ['signal', python(segfault), { code: null, signal: 'SIGSEGV', status: 'SG' }],
    ['wall time', python(sleep, { run_timeout: 300 }), { code: null, signal: 'SIGKILL', status: 'TO' }],
    ['CPU time', python('while True: pass', { run_cpu_time: 300 }), { status: 'TO' }],
    ['memory', python(hoard, { run_memory_limit: 50_000_000 }), { signal: 'SIGKILL', status: 'SG' }],
    ['stdout', python('while True: print("x" * 9999)'), { status: 'OL' }],
    ['stderr', python(complain), { status: 'EL' }],
  ] // prettier-ignore
  for (const [name, body, run] of rows)
    t.match(await execute(body), { status: 200, body: { run } }, name)
})

t.test('a compiler has a stage of its own, which stands for a run that is missing', async (t) => {
  const files = (content: string): object => ({
    language: 'c++',
    version: '*',
    files: [{ content }],
  })
  const good = await execute(files('#include <cstdio>\nint main() { puts("hello"); }'))
  t.match(good.body, {
    language: 'cpp',
    compile: { code: 0, stdout: '' },
    run: { stdout: 'hello\n', code: 0 },
  })
  const bad = await execute(files('int main( {'))
  t.match(bad.body.compile, { code: 1, stderr: /error/, status: 'RE' })
  t.strictSame(bad.body.run, bad.body.compile)
})

t.test('mistakes are 400 with a message that says them all', async (t) => {
  const rows: readonly [object, RegExp][] = [
    [{}, /language is required as a string; version is required as a string; files is required as an array/],
    [python('', { files: [] }), /files must contain at least one/],
    [{ ...python(''), version: '2.x' }, /^python-2\.x runtime is unknown$/],
    [{ ...python(''), version: '1||'.repeat(22) }, /^version must have at most 64 characters$/],
    [{ ...python(''), language: 'constructor' }, /^constructor-3\.x runtime is unknown$/],
    [{ ...python(''), language: 'klingon' }, /^klingon-3\.x runtime is unknown$/],
    [python('', { run_timeout: 'soon' }), /If specified, run_timeout must be a number/],
    [python('', { run_timeout: 1e9 }), /run_timeout is more than/],
    [python('', { args: ['a\0b'] }), /args/],
    [python('', { files: [{ content: '/w==', encoding: 'base64' }] }), /not UTF-8/],
    [python('', { files: [{ content: '' }, { name: '../up', content: '' }] }), /files/],
  ] // prettier-ignore
  for (const [body, message] of rows) {
    const told = { message, fault: 'caller', retry: 'never' }
    t.match(await execute(body), { status: 400, body: told }, message.source)
  }
})

t.test('the key stands where a client can put it', async (t) => {
  const key = await issue()
  const basic = Buffer.from(`anyone:${key}`).toString('base64')
  for (const headers of [
    ...[key, `Bearer ${key}`, `Basic ${basic}`].map((authorization) => ({ authorization })),
    { 'X-API-Key': '', 'X-Auth-Token': key },
    { 'X-API-Key': '', authorization: key },
  ]) {
    const asked = { key: null, headers, checked: false }
    t.equal((await call('GET', '/api/v2/runtimes', asked)).status, 200)
  }
  const refused = await execute(python(''), { key: null })
  t.match(refused, { status: 401, body: { message: String, fault: 'caller' } })
})

t.test('JSON that is called text is read', async (t) => {
  const headers = { 'Content-Type': 'Text/Plain;charset=UTF-8' }
  const { body } = await execute({}, { body: JSON.stringify(python('print(1)')), headers })
  t.match(body, { run: { stdout: '1\n' } })
})
