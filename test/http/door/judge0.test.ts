// The Judge0 door through the whole service: tokens, fields, base64, statuses and errors as Judge0's clients expect them; and
// callbacks, delivered like webhooks: a PUT to a real HTTPS receiver, repeated until it answers 2xx.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { strToU8, zipSync } from 'fflate'
import t from 'tap'
import { readStream } from '#event'
import { parseRanges } from '#webhook'
import { openTestDatabase } from '../../helper/database.ts'
import { makeDirectory } from '../../helper/directory.ts'
import { startServer } from '../../helper/server.ts'
import type { Answer, Call } from '../../helper/server.ts'
import { startWorkerProcess } from '../../helper/worker.ts'
import { awaitDelivery, readAttempts, receiverAddress } from '../../job/delivery.ts'
import { createAuthority } from '../../webhook/certificate.ts'
import { createReceiver } from '../../webhook/receiver.ts'

const { sql, url } = await openTestDatabase(t)
const authority = createAuthority()
const directory = makeDirectory(t)
writeFileSync(join(directory, 'authority.pem'), authority.pem)
let failures = 1
const receiver = await createReceiver(
  authority.issue([`IP:${receiverAddress}`]),
  (response) => {
    failures -= 1
    response.writeHead(failures >= 0 ? 500 : 200).end()
  },
  receiverAddress,
)
t.teardown(async () => {
  await receiver.close()
  authority.remove()
})
await startWorkerProcess(t, url, {
  LANGUAGES: 'python,cpp',
  WEBHOOK_ALLOWED_RANGES: receiverAddress,
  WEBHOOK_ALLOWED_PORTS: String(receiver.port),
  WEBHOOK_CA: join(directory, 'authority.pem'),
  WEBHOOK_SCHEDULE_SECONDS: '0.2,0.3',
})
const { call, issue } = await startServer(t, sql, {
  url,
  syncWaitSeconds: 300,
  webhookRules: { ranges: parseRanges(receiverAddress).ranges, ports: [443, receiver.port] },
})

const [python, cpp] = [71, 54]
const ask = async (method: string, path: string, more: Call = {}): Promise<Answer> => {
  const answer = await call(method, `/judge0${path}`, { checked: false, ...more })
  return answer.text.startsWith('[') ? { ...answer, body: JSON.parse(answer.text) } : answer
}
const create = (body: object, query = 'wait=true', more: Call = {}): Promise<Answer> =>
  ask('POST', `/submissions?${query}`, { body, ...more })
const run = (source_code: string, more: object = {}): Promise<Answer> =>
  create({ language_id: python, source_code, ...more })
const encode = (text: string | Buffer): string => Buffer.from(text).toString('base64')

/** Waits until a submission is final. @returns its record. */
async function finish(token: string, query = ''): Promise<Answer> {
  for (;;) {
    const answer = await ask('GET', `/submissions/${token}?fields=status_id&${query}`)
    if (answer.status !== 200) throw new Error(answer.text)
    if (answer.body.status_id > 2) return ask('GET', `/submissions/${token}?${query}`)
    await sleep(100)
  }
}

t.test('a program gets input and arguments, and answers with the usual fields', async (t) => {
  const { status, body } = await run('import sys; print(input(), sys.argv[1:])', {
    stdin: 'one',
    command_line_arguments: `two "three four" 'fi"ve' s\\ ix $;`,
    cpu_time_limit: '2',
    cpu_extra_time: 0.5,
    wall_time_limit: 5,
    memory_limit: 128_000,
    stack_limit: 64_000,
    max_processes_and_or_threads: 30,
    max_file_size: 1024,
    enable_network: false,
    redirect_stderr_to_stdout: false,
  })
  t.equal(status, 201)
  t.match(body, {
    token: /^[0-9a-f-]{36}$/,
    stdout: `one ['two', 'three four', 'fi"ve', 's ix']\n`,
    stderr: null,
    compile_output: null,
    message: null,
    status: { id: 3, description: 'Accepted' },
    time: /^\d+(\.\d+)?$/,
  })
  t.ok(Number.isInteger(body.memory) && body.memory > 1000, 'KiB')
  const fields = 'compile_output memory message status stderr stdout time token'
  t.equal(Object.keys(body).toSorted().join(' '), fields)
})

t.test('stderr is redirected to stdout in the order in which both are written', async (t) => {
  const code = 'import os\nfor n in range(50): os.write(1 + n % 2, b"%d " % n)'
  const stdout = Array.from({ length: 50 }, (_, n) => `${n} `).join('')
  const more = { redirect_stderr_to_stdout: true, number_of_runs: 2, expected_output: stdout }
  const { body } = await run(code, more)
  t.match(body, { stdout, stderr: null, status: { id: 3 } })
  const { body: told } = await ask(
    'GET',
    `/submissions/${body.token}?fields=redirect_stderr_to_stdout`,
  )
  t.strictSame(told, { redirect_stderr_to_stdout: true })
  const { body: apart } = await run(code, { redirect_stderr_to_stdout: '0' })
  t.match(apart, { stdout: /^0 2 4 /, stderr: /^1 3 5 / })
})

t.test('each way to end has its status', async (t) => {
  const kill = (signal: number): string => `import os; os.kill(os.getpid(), ${signal})`
  const rows: readonly [code: string, more: object, id: number, told?: object][] = [
    ['print(1)', { expected_output: '1  \n\n' }, 3],
    ['print(1)', { expected_output: '2' }, 4, { status: { description: 'Wrong Answer' } }],
    ['while True: pass', { cpu_time_limit: 0.3 }, 5, { message: 'Time limit exceeded' }],
    ['import time; time.sleep(9)', { wall_time_limit: 1 }, 5, { message: 'Time limit exceeded (wall clock)' }],
    [kill(11), {}, 7, { message: 'Caught fatal signal 11' }],
    ['while True: print("x" * 9999)', { max_file_size: 64 }, 8],
    [kill(8), {}, 9],
    ['import os; os.abort()', {}, 10],
    ['exit(3)', {}, 11, { message: 'Exited with error status 3' }],
    [kill(15), {}, 12],
    ['x = b"1" * 500_000_000', { memory_limit: 50_000 }, 12],
  ] // prettier-ignore
  for (const [code, more, id, told = {}] of rows) {
    const answer = await run(code, more)
    t.match(answer, { status: 201, body: { status: { id } } }, code)
    t.match(answer.body, told, code)
  }
  const bad = await create({ language_id: cpp, source_code: 'int main( {' })
  t.match(bad.body, {
    status: { id: 6, description: 'Compilation Error' },
    compile_output: /error/,
    stdout: null,
    time: null,
    memory: null,
  })
})

t.test('without wait there is a token, and the record follows', async (t) => {
  const created = await create({ language_id: python, source_code: 'print("é")' }, '')
  t.equal(created.status, 201)
  t.strictSame(Object.keys(created.body), ['token'])
  const { token } = created.body
  t.match((await finish(token)).body, { token, stdout: 'é\n', status: { id: 3 } })
  t.match((await finish(token, 'base64_encoded=true')).body, { stdout: `${encode('é\n')}\n` })
  const all = await ask('GET', `/submissions/${token}?fields=*`)
  t.match(all.body, {
    source_code: 'print("é")',
    language_id: python,
    language: { id: python, name: /^Python \(3\./ },
    stdin: null,
    exit_code: 0,
    exit_signal: null,
    created_at: /Z$/,
    finished_at: /Z$/,
    number_of_runs: 1,
    cpu_time_limit: '5',
    memory_limit: 262_144,
    enable_network: false,
    status_id: 3,
  })
  const own = await ask('GET', `/submissions/${token}?fields=fault,retry,stdout`)
  t.strictSame(own.body, { fault: null, retry: 'never', stdout: 'é\n' })
  const stranger = await ask('GET', `/submissions/${token}`, { key: await issue() })
  t.match(stranger, { status: 404, body: { error: String, fault: 'caller' } })
})

t.test('base64 goes in and out, also of what is no text', async (t) => {
  const source = 'import sys; sys.stdout.buffer.write(sys.stdin.buffer.read() + b"\\xff" * 60)'
  const body = { language_id: python, source_code: encode(source), stdin: encode('\0é') }
  const { body: told } = await create(body, 'wait=true&base64_encoded=true')
  const output = Buffer.concat([Buffer.from('\0é'), Buffer.alloc(60, 0xff)])
  t.equal(told.stdout, output.toString('base64').replaceAll(/.{1,60}/g, '$&\n'))
  t.equal(told.stdout.split('\n')[0].length, 60, 'lines as Ruby writes them')
  const plain = await ask('GET', `/submissions/${told.token}`)
  t.match(plain, { status: 400, body: { error: /cannot be converted to UTF-8, use base64/ } })
  const waited = await run('import sys; sys.stdout.buffer.write(b"\\xff")')
  t.match(waited, { status: 201, body: { error: /cannot be converted/, token: String } })
})

t.test('options reach the compiler, and files lie beside the program', async (t) => {
  const source =
    '#include <cstdio>\n#include "other/h.h"\nint main() { printf("%d %d", VALUE, H); }'
  const zip = zipSync({ 'other/h.h': strToU8('#define H 4'), 'empty.txt': strToU8('') })
  const { body } = await create(
    {
      language_id: 52,
      source_code: source,
      compiler_options: '-DVALUE=3 -O0',
      additional_files: encode(Buffer.from(zip)),
    },
    'wait=true&fields=stdout,compiler_options,additional_files',
  )
  t.match(body, { stdout: '3 4', compiler_options: '-DVALUE=3 -O0', additional_files: /^UEs/ })
})

t.test('several runs are one submission with the mean of their figures', async (t) => {
  const source = 'print(input())'
  const { body } = await create(
    { language_id: python, source_code: source, stdin: 'one', number_of_runs: 3 },
    'wait=true&fields=stdout,status_id,number_of_runs,stdin,time',
  )
  t.match(body, { stdout: 'one\n', status_id: 3, number_of_runs: 3, stdin: 'one', time: String })
  const wrong = await run(source, { stdin: 'one', number_of_runs: 2, expected_output: 'two' })
  t.match(wrong.body, { status: { id: 4 }, stdout: 'one\n' })
})

t.test('mistakes are 422 by their fields', async (t) => {
  const of = (more: object): object => ({ language_id: python, source_code: 'x', ...more })
  const rows: readonly [object, object][] = [
    [{}, { language_id: ["can't be blank"], source_code: ["can't be blank"] }],
    [of({ language_id: 9999 }), { language_id: ["language with id 9999 doesn't exist"] }],
    [of({ compiler_options: '-O2' }), { compiler_options: ['setting compiler options is only allowed for compiled languages'] }],
    [of({ cpu_time_limit: 1e9, memory_limit: 'much' }), { memory_limit: ['is not a number'] }],
    [
      of({ cpu_time_limit: 1e9, memory_limit: 2048 }),
      {
        cpu_time_limit: [/^must be less than or equal to \d+$/],
        memory_limit: ['must be greater than or equal to 16384'],
      },
    ],
    [
      of({ enable_network: true, stack_limit: 10 }),
      {
        enable_network: ['enabling network is not allowed'],
        stack_limit: [/greater than or equal to 64000/],
      },
    ],
    [
      of({ enable_per_process_and_thread_time_limit: true }),
      { enable_per_process_and_thread_time_limit: ['this option cannot be enabled'] },
    ],
    [of({ callback_url: 'http://example.com/' }), { callback_url: ['must be an https: URL'] }],
    [of({ command_line_arguments: '"' }), { command_line_arguments: ['has an open quote'] }],
    [of({ number_of_runs: 21 }), { number_of_runs: ['must be less than or equal to 20'] }],
    [of({ source_code: 'x'.repeat(70_000) }), { source_code: [/^is larger than 65536/] }],
    [of({ additional_files: 'aGVsbG8=' }), { additional_files: ['is not a zip in base64'] }],
  ] // prettier-ignore
  for (const [body, answer] of rows) {
    const told = JSON.stringify(body).slice(0, 100)
    t.match(await create(body), { status: 422, body: answer }, told)
  }
  const binary = of({ source_code: encode(Buffer.from([0xff])) })
  const refused = await create(binary, 'base64_encoded=true')
  t.match(refused, { status: 422, body: { source_code: ['is not UTF-8'] } })
  const unknown = await create(of({}), 'fields=a,b')
  t.match(unknown, { status: 400, body: { error: 'invalid fields: [a, b]', fault: 'caller' } })
  const broken = await ask('POST', '/submissions', { body: '[' })
  t.match(broken, { status: 400, body: { error: /JSON/ } })
})

t.test('a zip is bounded by what it holds, whatever it says', async (t) => {
  const bomb = Buffer.from(zipSync({ zeros: new Uint8Array(64 * 1024 * 1024) }))
  const liar = Buffer.from(bomb)
  // Replaces the uncompressed size in the header.
  liar.writeUInt32LE(10, 22)
  const many = zipSync(
    Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`f${n}`, strToU8('')])),
  )
  const outside = zipSync({ '../up': strToU8('') })
  const cut = bomb.subarray(0, bomb.byteLength / 2)
  for (const zip of [bomb, liar, many, outside, cut]) {
    const additional_files = Buffer.from(zip).toString('base64')
    const answer = await run('print(1)', { additional_files })
    t.match(answer, { status: 422, body: { additional_files: Array } })
    if (zip !== outside && zip !== cut)
      t.match(answer.body.additional_files, [/^must be at most 64 files/], 'before it is inflated')
  }
})

t.test('a batch has a token or its mistakes for each, and is read at once', async (t) => {
  const good = { language_id: python, source_code: encode('print(input())'), stdin: encode('1') }
  const submissions = [good, { language_id: 9999 }, { ...good, stdin: encode('2') }]
  const created = await ask('POST', '/submissions/batch?base64_encoded=true', {
    body: { submissions },
  })
  t.equal(created.status, 201)
  const [first, bad, last] = created.body
  t.match(bad, { language_id: [/doesn't exist/], source_code: ["can't be blank"] })
  for (const { token } of [first, last]) await finish(token)
  const nobody = '01890000-0000-7000-8000-000000000000'
  const tokens = [last.token, nobody, 'x', first.token].join(',')
  const { body } = await ask('GET', `/submissions/batch?tokens=${tokens}&fields=token,stdout`)
  t.strictSame(body, {
    submissions: [
      { token: last.token, stdout: '2\n' },
      null,
      null,
      { token: first.token, stdout: '1\n' },
    ],
  })
  const none = await ask('POST', '/submissions/batch', { body: { submissions: [{}] } })
  t.match(none, { status: 422, body: [{ language_id: ["can't be blank"] }] })
  t.match(await ask('POST', '/submissions/batch', { body: {} }), {
    status: 400,
    body: { error: /submissions is required/ },
  })
  for (const count of [0, 21]) {
    const many = { submissions: Array.from({ length: count }, () => good) }
    const answer = await ask('POST', '/submissions/batch', { body: many })
    t.match(answer, { status: 400, body: { error: /batch/ } })
  }
  t.equal((await ask('GET', '/submissions/batch')).status, 400)
})

t.test('a key’s repetition runs nothing, and is one request of the window', async (t) => {
  const headers = { 'Idempotency-Key': '3f1b9c52-7a0e-4d58-9a6c-0d6f2b8e4c11' }
  const body = { language_id: python, source_code: 'import uuid; print(uuid.uuid4())' }
  const first = await create(body, 'wait=true', { headers })
  t.equal((await create(body, '', { headers })).body.token, first.body.token)
  t.match(await create(body, 'wait=true', { headers }), { status: 201, body: first.body })
  const key = await issue('beta')
  const { headers: told } = await ask('GET', '/submissions/batch?tokens=x', { key })
  t.match(told['ratelimit'], /r=58;/, 'issuing a key counts as one')
})

t.test('an account’s own are listed by pages', async (t) => {
  const key = await issue()
  for (const n of [1, 2, 3])
    await create({ language_id: python, source_code: `print(${n})` }, 'wait=true', { key })
  const page = (n: number): Promise<Answer> =>
    ask('GET', `/submissions?page=${n}&per_page=2&fields=stdout`, { key })
  t.strictSame((await page(1)).body, {
    submissions: [{ stdout: '3\n' }, { stdout: '2\n' }],
    meta: { current_page: 1, next_page: 2, prev_page: null, total_pages: 2, total_count: 3 },
  })
  const answer = (await page(2)).body
  t.match(answer, { submissions: [{ stdout: '1\n' }], meta: { next_page: null, prev_page: 1 } })
  for (const query of ['page=0', 'page=x', 'per_page=-1', 'page=1000&per_page=100'])
    t.match(await ask('GET', `/submissions?${query}`, { key }), {
      status: 400,
      body: { error: /^invalid (per_)?page: / },
    })
})

t.test('what is deleted is gone but for its verdict', async (t) => {
  const { body } = await run('print("secret")')
  const { token } = body
  t.equal((await ask('DELETE', `/submissions/${token}`, { key: await issue() })).status, 404)
  const deleted = await ask('DELETE', `/submissions/${token}`)
  t.match(deleted, { status: 200, body: { token, stdout: `${encode('secret\n')}\n` } })
  t.equal((await ask('GET', `/submissions/${token}`)).status, 404)
  t.equal((await ask('DELETE', `/submissions/${token}`)).status, 404)
  const { body: record } = await call('GET', `/api/result/${token}`)
  t.match(record, { verdict: 'AC', stdout: null, purged_at: String })
  const { body: log } = await call('GET', `/api/result/${token}/events`)
  t.match(log.events.at(-1), { type: 'submission.purged', data: { reason: 'caller' } })
  t.strictSame([...(await sql`select from runledger.body where submission_id = ${token}`)], [])
  const sleeper = { language_id: python, source_code: 'import time; time.sleep(300)', wall_time_limit: 300 } // prettier-ignore
  const slow = await create(sleeper, '')
  const early = await ask('DELETE', `/submissions/${slow.body.token}`)
  t.match(early, { status: 400, body: { error: /^submission cannot be deleted because/ } })
  await call('POST', `/api/result/${slow.body.token}/cancel`)
  await finish(slow.body.token)
})

t.test('what the service is', async (t) => {
  const languages = (await ask('GET', '/languages')).body as { id: number; name: string }[]
  const ids = languages.map(({ id }) => id)
  t.strictSame(ids, [52, 53, 54, 105, 71, 92, 100, 109, 113])
  t.match(languages.at(-1)?.name, /^Python \(3\.\d+\.\d+\)$/)
  t.match((await ask('GET', '/languages/all')).body[0], { is_archived: false })
  t.match((await ask('GET', `/languages/${cpp}`)).body, {
    id: cpp,
    name: /^C\+\+ \(\w/,
    source_file: /\.cpp$/,
    compile_cmd: /\+\+/,
    run_cmd: String,
  })
  t.equal((await ask('GET', '/languages/9999')).status, 404)
  const statuses = (await ask('GET', '/statuses')).body
  t.equal(statuses.length, 14)
  t.strictSame(statuses[13], { id: 14, description: 'Exec Format Error' })
  t.match((await ask('GET', '/about')).body, { version: '1.13.1' })
  t.equal((await ask('GET', '/version')).text, '1.13.1')
  t.match((await ask('GET', '/config_info')).body, {
    cpu_time_limit: 5,
    memory_limit: 262_144,
    max_file_size: 1024,
    enable_network: false,
    max_submission_batch_size: 20,
  })
  t.match((await ask('GET', '/workers')).body, [{ queue: '1.13.1', size: 0, working: 0 }])
  t.match((await ask('GET', '/system_info')).body, { Architecture: String })
  t.match((await ask('GET', '/isolate')).text, /Runledger/)
  t.equal((await call('GET', '/languages', { checked: false })).status, 404, 'nothing at the root')
})

t.test('the key stands where a client can put it', async (t) => {
  const key = await issue()
  const headers = { 'X-Auth-Token': key }
  t.equal((await ask('GET', '/about', { key: null, headers })).status, 200)
  const { status, body } = await ask('GET', '/about', { key: null })
  t.match({ status, body }, { status: 401, body: { error: String, fault: 'caller' } })
})

t.test('a callback is a PUT of the usual fields in base64, and is not lost', async (t) => {
  const source = 'import sys; sys.stdout.buffer.write(b"\\xff" * 50); exit(3)'
  const callback_url = `https://${receiverAddress}:${receiver.port}/done?a=b`
  const asked = { language_id: python, source_code: source, callback_url }
  const { status, body } = await create(asked, '')
  t.equal(status, 201)
  const { token } = body
  t.match(await awaitDelivery(sql, token), { state: 'delivered', attempts: 2, secret: null })
  t.equal((await readAttempts(sql, token)).length, 2)
  t.equal(receiver.requests.length, 2)
  const [first, second] = receiver.requests
  t.strictSame(first!.body, second!.body)
  t.match(second, { method: 'PUT', path: '/done?a=b' })
  t.match(second!.headers, { 'content-type': 'application/json', 'webhook-id': String })
  t.equal(second!.headers['webhook-signature'], undefined, 'Judge0 signs nothing')
  const told = JSON.parse(second!.body.toString()) as Record<string, unknown>
  const output = encode(Buffer.alloc(50, 0xff))
  t.match(told, {
    token,
    stdout: `${output.slice(0, 60)}\n${output.slice(60)}\n`,
    stderr: null,
    compile_output: null,
    message: `${encode('Exited with error status 3')}\n`,
    status: { id: 11, description: 'Runtime Error (NZEC)' },
    time: /^\d/,
    memory: Number,
  })
  t.equal(Object.keys(told).length, 8)
  const [received] = await readStream(sql, token)
  t.match(received?.data, { webhook: { format: 'judge0', host: String } })
})

t.test('where a webhook may not go, a callback may not', async (t) => {
  for (const address of ['https://127.0.0.1/', `https://user@${receiverAddress}/`]) {
    const answer = await run('print(1)', { callback_url: address })
    t.match(answer, { status: 422, body: { callback_url: Array } })
  }
})
