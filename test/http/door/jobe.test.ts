// The Jobe door through the whole service: outcomes, files, parameters and errors as CodeRunner expects them.
import { createHash } from 'node:crypto'
import t from 'tap'
import { startFreshServer } from '../../helper/server.ts'
import type { Answer, Call } from '../../helper/server.ts'
import { startWorkerProcess } from '../../helper/worker.ts'

const { call, issue, sql, url } = await startFreshServer(t)
await startWorkerProcess(t, url, { LANGUAGES: 'python,c' })

const root = '/jobe/index.php/restapi'
/** Sends a request, and parses the answer as JSON, because Jobe's errors are JSON strings. */
async function ask(method: string, path: string, more: Call = {}): Promise<Answer> {
  const answer = await call(method, `${root}/${path}`, { checked: false, ...more })
  const body: unknown = answer.text === '' ? undefined : JSON.parse(answer.text)
  return { ...answer, body }
}
const post = (body: unknown, more: Call = {}): Promise<Answer> =>
  ask('POST', 'runs', { body, ...more })
const run = (spec: object, more: Call = {}): Promise<Answer> => post({ run_spec: spec }, more)
const python = (sourcecode: string, more: object = {}): object => ({
  language_id: 'python3',
  sourcecode,
  sourcefilename: '__tester__.python3',
  ...more,
})
const c = (sourcecode: string, parameters: object = {}): object => ({
  language_id: 'c',
  sourcecode,
  parameters,
})
const put = (id: string, content: string | Buffer, more: Call = {}): Promise<Answer> =>
  ask('PUT', `files/${id}`, {
    body: { file_contents: Buffer.from(content).toString('base64') },
    ...more,
  })
const has = async (id: string, more: Call = {}): Promise<number> =>
  (await ask('HEAD', `files/${id}`, more)).status

t.test('languages are pairs of name and version, at both addresses', async (t) => {
  for (const path of [root, '/jobe/restapi']) {
    const { status, text } = await call('GET', `${path}/languages`, { checked: false })
    t.equal(status, 200)
    t.match(JSON.parse(text), [
      ['c', /^\d+\.\d+/],
      ['python3', /^3\.\d+/],
    ])
  }
})

t.test('a program gets its input and arguments', async (t) => {
  const { status, body } = await run(
    python('import sys; print(input(), sys.argv[1:])', {
      input: 'one\n',
      parameters: {
        runargs: ['two', '"three \\" four"', "five' six'"],
        cputime: '2',
        memorylimit: 0,
      },
    }),
  )
  t.equal(status, 200)
  t.match(body, { outcome: 15, cmpinfo: '', stderr: '', run_id: /^[0-9a-f-]{36}$/ })
  t.equal(body.stdout, `one ['two', 'three " four', 'five six']\n`)
})

t.test('each way to end has its outcome', async (t) => {
  const rows: readonly [string, object, object][] = [
    ['exception', python('1/0'), { outcome: 12, stderr: /ZeroDivisionError/ }],
    ['exit status', python('print(1); exit(3)'), { outcome: 12, stdout: '1\n' }],
    ['stderr', python('import sys; print("e", file=sys.stderr)'), { outcome: 12, stderr: 'e\n' }],
    ['signal', python('import os; os.kill(os.getpid(), 6)'), { outcome: 12, stderr: /terminated with signal 6/ }],
    ['syntax', python('print('), { outcome: 11, cmpinfo: /SyntaxError/, stdout: '', stderr: '' }],
    ['own syntax error', python('exec("print(")'), { outcome: 12, stderr: /SyntaxError/ }],
    [
      'CPU time',
      python('import sys\nprint("e", file=sys.stderr)\nwhile True: pass', {
        parameters: { cputime: 0.3 },
      }),
      { outcome: 13, stderr: '' },
    ],
    ['wall time', python('import time; time.sleep(9)', { parameters: { cputime: 0.3 } }), { outcome: 13 }],
    ['output', python('while True: print("x" * 9999)'), { outcome: 13 }],
    ['memory', python('x = b"1" * 500_000_000', { parameters: { memorylimit: 50 } }), { outcome: 17, stderr: '' }],
    ['bytes', python(String.raw`import os; os.write(1, b"a\n\x01\xff")`), { stdout: String.raw`a${'\n'}\x01\xff` }],
    ['compiled', c('#include <stdio.h>\nint main(void) { puts("hello"); return 0; }'), { outcome: 15, stdout: 'hello\n' }],
    ['not compiled', c('int main( {'), { outcome: 11, cmpinfo: /error/, stdout: '', stderr: '' }],
    [
      'system call',
      c('#include <signal.h>\nint main(void) { raise(SIGSYS); return 0; }', { compileargs: [] }),
      { outcome: 19, stderr: '' },
    ],
  ] // prettier-ignore
  for (const [name, spec, body] of rows) t.match(await run(spec), { status: 200, body }, name)
})

t.test('a compiler gets Jobe’s arguments, or those of the request', async (t) => {
  const warns = 'int main(void) { int unused; return 0; }'
  t.match((await run(c(warns))).body, { outcome: 11, cmpinfo: /unused/ })
  const answer = (await run(c(warns, { compileargs: ['-Wall', '-DX="a b"'] }))).body
  t.match(answer, { outcome: 15, cmpinfo: '' })
  const links = '#include <math.h>\nint main(int n, char **a) { return X(n) > 9; }'
  const parameters = { compileargs: ['-D X=sin'], linkargs: ['-lm'] }
  t.match((await run(c(links, parameters))).body, { outcome: 15 })
})

t.test('CodeRunner submits, is told of missing files, puts them and submits again', async (t) => {
  const contents = ['Line1\nLine2', 'Otherfile', '']
  const ids = contents.map((content) => createHash('md5').update(content).digest('hex'))
  const spec = python(
    'print(open("first.a").read(), open("second.bb").read() + open("empty").read())',
    {
      input: '',
      file_list: [
        [ids[0], 'first.a'],
        [ids[1], 'second.bb', false],
        [ids[2], 'empty'],
      ],
      parameters: [],
    },
  )
  const missing = await run(spec)
  t.equal(missing.status, 404)
  t.equal(missing.body, 'One or more of the specified files is missing/unavailable')
  for (const [index, id] of ids.entries()) {
    t.equal(await has(id), 404)
    const { status, text } = await put(id, contents[index] ?? '')
    t.equal(status, 204)
    t.equal(text, '')
    t.equal(await has(id), 204)
  }
  const answer = await run(spec)
  t.match(answer, { status: 200, body: { outcome: 15, stdout: 'Line1\nLine2 Otherfile\n' } })
})

t.test('an id is the account’s own, can be put again, and shares its bytes', async (t) => {
  const spec = python('print(open("a").read())', { file_list: [['chosenByMe', 'a']] })
  t.equal((await put('chosenByMe', 'one')).status, 204)
  t.equal((await put('chosenByMe', 'two')).status, 204)
  t.equal((await put('another1', 'two')).status, 204)
  t.match((await run(spec)).body, { stdout: 'two\n' })
  const key = await issue()
  t.equal(await has('chosenByMe', { key }), 404)
  t.equal((await run(spec, { key })).status, 404)
})

t.test('of many ids of the same bytes the oldest go', async (t) => {
  for (let n = 0; n < 66; n++) await put(`same${n}`, 'the same bytes')
  t.equal(await has('same0'), 404)
  t.equal(await has('same1'), 404)
  t.equal(await has('same2'), 204)
  t.equal(await has('same65'), 204)
})

t.test('files go with their blobs', async (t) => {
  t.equal((await put('goesAway', 'unused for long')).status, 204)
  await sql`update runledger.blob set used_at = now() - interval '40 days'`
  await sql`select runledger.purge_blobs('30 days', 100)`
  t.equal(await has('goesAway'), 404)
  const [left] = await sql`select count(*)::integer as count from runledger.file_id`
  t.equal(left?.['count'], 0)
})

t.test('a use keeps a file', async (t) => {
  t.equal((await put('isInUse1', 'used')).status, 204)
  await sql`update runledger.blob set used_at = now() - interval '40 days'`
  t.equal((await run(python('', { file_list: [['isInUse1', 'a']] }))).status, 200)
  await sql`select runledger.purge_blobs('30 days', 100)`
  t.equal(await has('isInUse1'), 204)
})

t.test('mistakes are text with Jobe’s words and status', async (t) => {
  const large = Buffer.alloc(700_000, 'x')
  await put('large001', large)
  await put('large002', Buffer.concat([large, Buffer.from('y')]))
  const limit = (parameters: object): object => python('', { parameters })
  const listing = (...list: unknown[]): object => python('', { file_list: list })
  const rows: readonly [unknown, RegExp][] = [
    ['{', /JSON/],
    [[], /^No run_spec|Non-JSON/],
    [{}, /^No run_spec attribute found in post data$/],
    [{ run_spec: 1 }, /run_spec/],
  ]
  const specs: readonly [object, RegExp][] = [
    [{ sourcecode: '' }, /^run_spec is missing the required attribute 'language_id'$/],
    [{ language_id: 'c' }, /^run_spec is missing the required attribute 'sourcecode'$/],
    [{ language_id: 'Klingon', sourcecode: '' }, /^Language 'klingon' is not known$/],
    [limit({ cputime: 9999 }), /^cputime exceeds maximum allowed/],
    [limit({ runargs: 'a' }), /^runargs must be an array$/],
    [limit({ runargs: ['"a'] }), /^runargs has an open quote$/],
    [limit({ runargs: ['a\0b'] }), /^runargs/],
    [limit({ memorylimit: 1 }), /^memorylimit must be at least/],
    [limit({ interpreterargs: ['-c x'] }), /^interpreterargs: -c/],
    [python('', { sourcefilename: '../a' }), /^The sourcefilename for the run_spec/],
    [python('', { language_id: 'constructor' }), /^Language 'constructor' is not known/],
    [listing([{ toString: 0 }, 'a']), /^Invalid file specifier: /],
    [listing(['short', 'a']), /^Invalid file specifier: /],
    [listing(['longEnough', '../a']), /^Invalid file specifier: /],
    [listing(...Array.from({ length: 65 }, () => ['longEnough', 'a'])), /more than 64 files/],
    [listing(['large001', 'a'], ['large002', 'b']), /^file_list is larger than 1048576 bytes in all$/],
    [listing(['large001', 'a'], ['large001', 'A']), /^file_list/],
    [python('', { input: 'x'.repeat(70_000) }), /^input is larger/],
    [python('x'.repeat(70_000)), /^sourcecode is larger/],
  ] // prettier-ignore
  const asSpecs = specs.map(([spec, message]) => [{ run_spec: spec }, message] as const)
  for (const [body, message] of [...rows, ...asSpecs])
    t.match(await post(body), { status: 400, body: message }, message.source)
  const deep = `[${'['.repeat(100_000)}${']'.repeat(100_000)}]`
  const nested = JSON.stringify({ run_spec: python('', { file_list: 'deep' }) })
  const answer = await ask('POST', 'runs', { body: nested.replace('"deep"', deep) })
  t.match(answer, { status: 400, body: /^Invalid file specifier: / })
  const bad = await ask('PUT', 'files/notBase64', { body: { file_contents: '§' } })
  t.match(bad, { status: 400, body: 'put: contents of file notBase64 are not valid base-64' })
  const none = await ask('PUT', 'files/noContent', { body: {} })
  t.match(none, { status: 400, body: 'put: missing file_contents parameter' })
  t.match(await put('tooLarge', Buffer.alloc(1_100_000)), { status: 400, body: /larger than/ })
  t.match(await put('a-b', ''), { status: 404, body: String })
  t.match(await ask('POST', 'files', { body: {} }), { status: 404, body: String })
  t.match(await ask('GET', 'runs'), { status: 405, body: String })
})

t.test('without a key, or with another, it is 403', async (t) => {
  for (const key of [null, 'rl_unknown'])
    t.match(await run(python(''), { key }), { status: 403, body: String })
  t.equal(await has('chosenByMe', { key: null }), 403)
})

t.test('what asks for more than the tier has gets what it has', async (t) => {
  const most = { memorylimit: 200_000, numprocs: 100_000, disklimit: -1, streamsize: 1000 }
  const spec = python('print(1)', { parameters: { ...most, cputime: 12 } })
  const key = await issue('beta')
  const { body } = await run(spec, { key })
  t.match(body, { outcome: 15, stdout: '1\n' })
  const { body: own } = await call('GET', `/api/result/${body.run_id}`, { key })
  const tier = { memory: 1_073_741_824, processes: 256, stdout: 2_097_152 }
  t.match(own.limits.run, { ...tier, cpu_time: 12, wall_time: 24 })
})
