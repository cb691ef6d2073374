// The command `submit FILE`: JSON for scripts, text for people, and an exit status that follows the verdict.
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs' // prettier-ignore
import { join, relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { decodeOptions } from '#options'
import type { FileReport, TestReport } from '#report'
import { readLine } from '../../src/cli/arguments.ts'
import { exitStatuses } from '../../src/cli/command.ts'
import { commands } from '../../src/cli/commands.ts'
import { cancelSubmission, submitFile } from '../../src/cli/submit.ts'
import type { SubmitCall } from '../../src/cli/submit.ts'
import { parseLines } from '../helper/command-line.ts'
import { makeDirectory } from '../helper/directory.ts'
import { completeExecution, findAwaited, finish, startExecution } from '../helper/execution.ts'
import type { PretendedRun } from '../helper/execution.ts'
import { startFreshServer } from '../helper/server.ts'

const server = await startFreshServer(t)
const { sql } = server
const apiKey = await server.issue()
const directory = makeDirectory(t)
const write = (name: string, content: string | Buffer): string => {
  writeFileSync(join(directory, name), content)
  return join(directory, name)
}
const program = write('program.py', 'print("ä")')

async function command(
  call: Partial<SubmitCall>,
  isTTY = false,
  onError: (text: string) => void = () => {},
): Promise<{ status: number; out: string; err: string }> {
  let [out, err] = ['', '']
  const status = await submitFile(
    {
      file: program,
      wait: false,
      json: false,
      url: `http://127.0.0.1:${server.port}`,
      apiKey,
      ...call,
    },
    {
      stdout: { isTTY, write: (text) => (out += text) },
      stderr: {
        isTTY,
        write(text) {
          err += text
          onError(text)
        },
      },
    },
  )
  return { status, out, err }
}

/** Ends the submission that a command waits for. */
const endNext = async (run: PretendedRun): Promise<void> => finish(sql, await findAwaited(sql), run)

t.test('with --no-wait the id is printed as JSON, for a person as it is', async (t) => {
  const stdin = write('input', '1 2\n')
  const { status, out, err } = await command({ stdin })
  t.equal(status, 0)
  t.equal(err, '')
  const { id } = JSON.parse(out) as { id: string }
  const [row] = await sql`select code, stdin from runledger.body where submission_id = ${id}`
  t.equal(String(row?.['code']), 'print("ä")')
  t.equal(String(row?.['stdin']), '1 2\n')
  t.match((await command({}, true)).out, /^[0-9a-f-]{36}\n$/)
})

t.test('with --stream output is printed as it comes, then the end', async (t) => {
  const running = command({ wait: true, stream: true })
  await endNext({ verdict: 'WA', stdout: 'ä\nb' })
  const { status, out, err } = await running
  t.equal(status, exitStatuses.WA)
  t.equal(out, 'ä\nb')
  t.match(err, /^\nWA exit 1, /)
  const asJson = command({ wait: true, stream: true, json: true })
  await endNext({ verdict: 'AC', stdout: 'x' })
  t.match(parseLines((await asJson).out), [
    { event: 'submitted' },
    { event: 'status', data: { status: 'queued' } },
    { event: 'status', data: { status: 'running' } },
    { event: 'stdout', data: { offset: 0, text: 'x' } },
    { event: 'result', data: { verdict: 'AC' } },
  ])
  const { status: refused, err: why } = await command({ wait: false, stream: true })
  t.equal(refused, exitStatuses.usage)
  t.match(why, /--stream/)
})

t.test('the first interrupt takes it back, the second one leaves', async (t) => {
  const listeners = new Set<() => void>()
  const onInterrupt = (listener: () => void): (() => void) => {
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }
  const cancelled = command({ wait: true, stream: true, onInterrupt })
  while (listeners.size === 0) await sleep(10)
  for (const interrupt of listeners) interrupt()
  const { status, err } = await cancelled
  t.equal(status, exitStatuses.cancelled)
  t.match(err, /^cancelled /)
  t.equal(listeners.size, 0)

  const left = command({ wait: true, stream: true, onInterrupt })
  // Its stream is open, so this is not a submission that an earlier test has left.
  const id = await findAwaited(sql)
  // The submission is running, and no worker exists that would end it.
  const version = await startExecution(sql, id)
  for (const interrupt of listeners) interrupt()
  for (const interrupt of listeners) interrupt()
  t.equal((await left).status, exitStatuses.interrupted)
  await completeExecution(sql, id, version ?? 0)
})

t.test('the exit status follows the verdict; with --json the record is printed', async (t) => {
  for (const verdict of ['AC', 'WA', 'CE', 'RE', 'TLE', 'MLE', 'OLE'] as const) {
    const running = command({ wait: true, json: true })
    await endNext({ verdict, stdout: 'x' })
    const { status, out, err } = await running
    t.equal(status, exitStatuses[verdict], verdict)
    t.match(JSON.parse(out), { verdict, stdout: 'x' })
    t.equal(err, '')
  }
})

t.test('cancel prints how it ended, and submit that it was cancelled', async (t) => {
  const cancel = async (id: string, json = false): Promise<{ status: number; out: string }> => {
    let out = ''
    const write = (text: string): string => (out += text)
    const call = { id, json, url: `http://127.0.0.1:${server.port}`, apiKey }
    const status = await cancelSubmission(call, { stdout: { write }, stderr: { write } })
    return { status, out }
  }
  const running = command({ wait: true })
  const id = await findAwaited(sql)
  t.strictSame(await cancel(id), { status: 0, out: `cancelled ${id}\n` })
  const { status, err } = await running
  t.equal(status, exitStatuses.cancelled)
  t.match(err, /^cancelled .*\n$/)
  t.match(JSON.parse((await cancel(id, true)).out), { id, status: 'cancelled' })
  const answer = await cancel(randomUUID())
  t.match(answer, { status: exitStatuses.refused, out: 'There is no such submission.\n' })

  const { out } = await command({})
  const ended = (JSON.parse(out) as { id: string }).id
  await finish(sql, ended, { verdict: 'AC' })
  t.strictSame(await cancel(ended), { status: 0, out: `AC ${ended}\n` })
})

/** Runs with the directory of these tests' files as the working directory. */
async function inDirectory<T>(work: () => Promise<T>): Promise<T> {
  const before = process.cwd()
  process.chdir(directory)
  try {
    return await work()
  } finally {
    process.chdir(before)
  }
}

t.test('words, files, tests, limits, checker, priority, tag are submitted as named', async (t) => {
  mkdirSync(join(directory, 'lib'), { recursive: true })
  write('lib/data.bin', Buffer.from([0xff, 0]))
  write('helper.py', 'x = "ä"')
  for (const [name, content] of Object.entries({ '1.in': '1\n', '1.out': '2\n', '2.in': '2\n' }))
    write(name, content)
  const { out } = await inDirectory(() =>
    command({
      arg: ['-v', ''],
      env: ['NAME=a=b', 'EMPTY='],
      with: ['lib/data.bin', './helper.py'],
      test: ['1.in:1.out', '2.in:'],
      'stop-on-failure': true,
      checker: 'floats:1e-6',
      limit: ['cpu_time=0.5', 'memory=67108864'],
      low: true,
      tag: 'homework',
    }),
  )
  const { id } = JSON.parse(out) as { id: string }
  const [row] = await sql`
    select b.detail, r.tag, r.priority from runledger.body b join audit.submission r on r.id = b.submission_id
    where b.submission_id = ${id}`
  t.equal(row?.['tag'], 'homework')
  t.equal(row?.['priority'], 'low')
  t.strictSame(decodeOptions(row?.['detail'] as Uint8Array), {
    args: ['-v', ''],
    env: { NAME: 'a=b', EMPTY: '' },
    files: [
      { name: 'lib/data.bin', content: '/wA=', encoding: 'base64' },
      { name: 'helper.py', content: 'x = "ä"' },
    ],
    limits: { cpu_time: 0.5, memory: 67_108_864 },
    tests: [
      { name: '1.in', stdin: '1\n', expected_stdout: '2\n' },
      { name: '2.in', stdin: '2\n' },
    ],
    stop_on_failure: true,
    checker: { type: 'floats', absolute: 1e-6, relative: 1e-6 },
  })
  await finish(sql, id)
  const compiled = await command({
    file: write('a.cpp', 'int main() {}'),
    'compile-arg': ['-DX=1'],
    'compile-limit': ['wall_time=3'],
  })
  const { id: otherId } = JSON.parse(compiled.out) as { id: string }
  const [other] = await sql`select detail from runledger.body where submission_id = ${otherId}`
  const answer = decodeOptions(other?.['detail'] as Uint8Array)
  t.strictSame(answer, { compile_args: ['-DX=1'], compile_limits: { wall_time: 3 } })
  await finish(sql, otherId)
})

t.test('what may be given again is, and has its order', async (t) => {
  const reading = readLine(commands, ['submit', 'a.py', '--arg', 'b', '--arg=-a', '--test', 'x:y'])
  t.match('call' in reading && reading.call.values, { arg: ['b', '-a'], test: ['x:y'], with: [] })
  const { help } = readLine(commands, ['submit', '--help']) as { help: string }
  t.match(help, '[--arg WORD]...')
  t.match(help, /--test IN:OUT +two files.* \(may be repeated\)/)
})

t.test('a word that cannot be read is one sentence, and nothing is submitted', async (t) => {
  const climbing = relative(process.cwd(), join(directory, '..', 'x.py'))
  for (const [call, reason] of [
    [{ with: ['/etc/passwd'] }, /--with \/etc\/passwd: must be a relative path/],
    [{ with: [climbing] }, /must be a relative path without "\.\."/],
    [{ with: ['lib/../../x'] }, /without "\.\."/],
    [{ test: ['in.txt'] }, /--test in\.txt: must be IN:OUT/],
    [{ test: [':out'] }, /must be IN:OUT/],
    [{ checker: 'fuzzy' }, /--checker fuzzy: must be lines/],
    [{ checker: 'floats' }, /such as floats:1e-6/],
    [{ checker: 'floats:near' }, /such as floats:1e-6/],
    [{ limit: ['cpu=1'] }, /--limit cpu=1: must be NAME=NUMBER/],
    [{ limit: ['cpu_time='] }, /must be NAME=NUMBER/],
    [{ limit: ['memory'] }, /must be NAME=NUMBER/],
    [{ 'compile-limit': ['memory=64M'] }, /--compile-limit memory=64M: must be/],
  ] as const) {
    const { status, out, err } = await command(call)
    t.equal(status, exitStatuses.usage, JSON.stringify(call))
    t.equal(out, '')
    t.match(err, reason)
    t.equal(err.split('\n').length, 2)
  }
  t.equal((await command({ test: ['none.in:'] })).status, exitStatuses.noInput)
  t.equal((await command({ 'stop-on-failure': true })).status, exitStatuses.refused)
})

const told: TestReport = {
  name: 'one',
  verdict: 'AC',
  exit_code: 0,
  signal: null,
  cpu_time: 0.011,
  wall_time: 0.02,
  memory_peak: 10_485_760,
  stdout: Buffer.from('1'),
  stderr: Buffer.alloc(0),
  stdout_truncated: false,
  stderr_truncated: false,
  limit: null,
  difference: null,
  message: null,
}

t.test('with --expected a wrong answer says where it differs', async (t) => {
  const difference = { line: 2, expected: '6', got: '7\u001b[2J' }
  for (const stream of [false, true]) {
    const running = command({ wait: true, stream, expected: write('expected', '5\n6\n') })
    await endNext({ verdict: 'WA', stdout: '5\n7\n', difference })
    const { status, out, err } = await running
    t.equal(status, exitStatuses.WA)
    t.equal(out, '5\n7\n')
    t.match(err, /^line 2: expected "6", got "7.*"\nWA exit 1, [^\n]*\n$/)
    t.notMatch(err, '\u001B')
  }
})

t.test('a fault that is not the program’s is told as such', async (t) => {
  const running = command({ wait: true })
  await endNext({ verdict: 'IE' })
  const { status, err } = await running
  t.equal(status, exitStatuses.IE)
  t.match(err, /^IE a fault of the checker, /m)
  const refused = await command({ wait: true, json: true, apiKey: 'rl_live_none' })
  t.match(JSON.parse(refused.err), { error: 'unauthorized', fault: 'caller', retry: 'never' })
})

t.test('each test has a line before the last, and none of them steers the terminal', async (t) => {
  const difference = { line: 3, expected: `a\u001b[2J${'b'.repeat(80)}`, got: null }
  const tests: TestReport[] = [
    told,
    { ...told, name: '\u001b]0;owned\u0007\n', verdict: 'WA', difference },
    { ...told, name: null, verdict: null, cpu_time: null, wall_time: null, memory_peak: null },
  ]
  const call = { wait: true, test: [`${write('in', '')}:`] }
  const running = command(call)
  await endNext({ verdict: 'WA', tests })
  const { status, err } = await running
  t.equal(status, exitStatuses.WA)
  const lines = err.split('\n')
  t.equal(lines.length, 5)
  t.match(lines[0], /^one +AC {3}0\.011 s CPU, 0\.02 s, 10\.0 MiB$/)
  t.match(lines[1], /^\S+ {2}WA {3}.* MiB {2}line 3: expected "a.*b…", got nothing$/)
  t.ok((lines[1]?.length ?? 0) < 140)
  t.match(lines[2], /^#3 +– {4}not run$/)
  t.match(lines[3], /^WA exit 1, .* {2}[0-9a-f-]{36}$/)
  // eslint-disable-next-line no-control-regex -- that none is there is the point
  t.notMatch(err, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/)

  const recorded = command({ ...call, json: true })
  await endNext({ verdict: 'WA', tests })
  const { out } = await recorded
  const answer = JSON.parse(out)
  t.match(answer, { tests: [{ verdict: 'AC' }, { verdict: 'WA', difference }, { name: null }] })
})

t.test('in a pipe the output is printed byte for byte, the rest on stderr', async (t) => {
  const running = command({ wait: true })
  await endNext({ verdict: 'RE', stdout: 'no line end\u001b[1m' })
  const { status, out, err } = await running
  t.equal(status, exitStatuses.RE)
  t.equal(out, 'no line end\u001b[1m')
  t.match(err, /^RE exit 1, 0\.01 s CPU, .*  [0-9a-f-]{36}\n$/)
})

t.test('a person sees the output and a line; nothing steers the terminal', async (t) => {
  const running = command({ wait: true }, true)
  await endNext({ verdict: 'AC', stdout: 'hello\u001b]0;owned\u0007\r' })
  const { status, out, err } = await running
  t.equal(status, 0)
  t.match(err, /AC.* exit 0, 0\.01 s CPU/)
  t.match(out, /^hello/)
  t.notOk(['\u001b', '\u0007', '\r'].some((control) => out.includes(control)))
})

t.test('the language comes from the name, or is said', async (t) => {
  for (const [name, language] of [
    ['a.cc', 'cpp'],
    ['A.java', 'java'],
    ['a.PY', 'python'],
  ] as const) {
    const { out } = await command({ file: write(name, '') })
    const { id } = JSON.parse(out) as { id: string }
    const [row] = await sql`select language from runledger.submission where id = ${id}`
    t.equal(row?.['language'], language)
  }
  t.equal((await command({ file: write('a.txt', '') })).status, exitStatuses.usage)
  t.equal((await command({ file: write('a.txt', ''), language: 'py' })).status, 0)
})

t.test('what goes wrong has a status of its own and a reason', async (t) => {
  const rows: [Partial<SubmitCall>, number, RegExp][] = [
    [{ file: join(directory, 'none.py') }, exitStatuses.noInput, /no such file/],
    [{ file: write('latin.py', Buffer.from([0xff])) }, exitStatuses.noInput, /not UTF-8/],
    [{ language: 'latin' }, exitStatuses.refused, /language must be one of/],
    [{ apiKey: 'x' }, exitStatuses.unauthorized, /not valid/],
    [{ url: 'http://example.com' }, exitStatuses.usage, /https/],
  ]
  for (const [call, expected, reason] of rows) {
    const { status, out, err } = await command({ ...call, json: true })
    t.equal(status, expected)
    t.equal(out, '')
    const { message } = JSON.parse(err) as { message: string }
    t.match(message, reason)
    t.equal((await command(call)).err, `${message}\n`, 'one sentence without --json')
  }
})

t.test('what the program has left is saved under the names that were asked for', async (t) => {
  const saved = join(directory, 'saved')
  const names = ['sub/a.bin', 'missing', 'huge']
  const file = (name: string, size: number, content: Buffer | null): FileReport => ({
    name,
    size,
    sha256: null,
    content,
  })
  const files = [
    file('sub/a.bin', 2, Buffer.from([0, 255])),
    file('huge', 2 * 2 ** 20, null),
    file('../unasked', 1, Buffer.from('x')),
  ]
  const running = command({ wait: true, 'output-file': names, 'output-directory': saved })
  await endNext({ verdict: 'RE', files })
  const { status, err } = await running
  t.equal(status, exitStatuses.RE)
  t.match(err, /^RE .*\nmissing: the program has left no such file\nhuge: not returned, because it is too large \(2\.0 MiB\)\n$/) // prettier-ignore
  t.strictSame(readdirSync(saved, { recursive: true }), ['sub', 'sub/a.bin'])
  t.strictSame(readFileSync(join(saved, 'sub/a.bin')), Buffer.from([0, 255]))
  t.notOk(existsSync(join(directory, 'unasked')))

  const next = command({ wait: true, 'output-file': ['sub'], 'output-directory': saved })
  await endNext({ verdict: 'AC', files: [file('sub', 1, Buffer.from('x'))] })
  t.match(await next, { status: exitStatuses.noOutput, err: /EISDIR/ })

  const json = command({
    wait: true,
    json: true,
    'output-file': ['only-told'],
    'output-directory': saved,
  })
  await endNext({ verdict: 'AC', files: [file('only-told', 1, Buffer.from('x'))] })
  t.match(JSON.parse((await json).out), { files: [{ content: 'eA==' }] })
  t.notOk(existsSync(join(saved, 'only-told')))
  for (const name of ['/etc/motd', 'a/../../b'])
    t.match(await command({ 'output-file': [name] }), {
      status: exitStatuses.usage,
      err: /without "\.\."/,
    })
})
