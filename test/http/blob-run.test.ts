// Programs that run on blobs: as input, as expected output, for checkers; and what a worker caches of them.
import { createHash, randomBytes } from 'node:crypto'
import { readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { makeDirectory } from '../helper/directory.ts'
import { shareKeeper } from '../helper/executor.ts'
import { startFreshServer } from '../helper/server.ts'
import type { Answer } from '../helper/server.ts'
import { startWorkerProcess } from '../helper/worker.ts'

const { call, issue, sql, url } = await startFreshServer(t, { syncWaitSeconds: 300 })
const directory = makeDirectory(t)
shareKeeper(directory)
const worker = await startWorkerProcess(t, url, { CACHE_DIRECTORY: directory, LANGUAGES: 'python' })

const mebibyte = 1024 * 1024
const nameOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** Uploads a blob. @returns its name. */
async function put(content: Uint8Array | string, key?: string): Promise<string> {
  const bytes = Buffer.from(content)
  const { status } = await call('PUT', `/api/blobs/${nameOf(bytes)}`, {
    body: bytes,
    headers: { 'Content-Type': 'application/octet-stream' },
    ...(key !== undefined && { key }),
  })
  t.ok([200, 201].includes(status))
  return nameOf(bytes)
}

const run = (body: object, key?: string): Promise<Answer> =>
  call('POST', '/api/submit?wait=true', {
    body: { language: 'python', ...body },
    ...(key !== undefined && { key }),
  })

const digests = 'import hashlib, sys\nprint(hashlib.sha256(sys.stdin.buffer.read()).hexdigest())'
const cached = (): string[] => readdirSync(join(directory, 'blob'))

t.test('a program reads a blob to the byte, the largest and the empty one too', async (t) => {
  for (const bytes of [randomBytes(16 * mebibyte), Buffer.alloc(0), Buffer.from([0, 255, 10])]) {
    const name = await put(bytes)
    const { body } = await run({ code: digests, stdin_sha256: name })
    t.match(body, { verdict: 'AC', stdout: `${name}\n` }, `${bytes.length} bytes`)
  }
})

t.test('an input is not counted as the program’s memory', async (t) => {
  const stdin_sha256 = await put(randomBytes(16 * mebibyte))
  const peak = async (more: object): Promise<number> =>
    (await run({ code: 'print(1)', limits: { memory: 64 * mebibyte }, ...more })).body.memory_peak
  const [without, beside] = [await peak({}), await peak({ stdin_sha256 })]
  t.ok(beside < without + 8 * mebibyte, `${without} bytes without, ${beside} with`)
})

t.test('an output is held against a blob', async (t) => {
  const expected_stdout_sha256 = await put('1\n2\n')
  const good = await run({ code: 'print(1); print(2)', expected_stdout_sha256 })
  t.match(good.body, { verdict: 'AC', difference: null })
  const wrong = await run({ code: 'print(1); print(3)', expected_stdout_sha256 })
  t.strictSame(
    [wrong.body.verdict, wrong.body.difference],
    ['WA', { line: 2, expected: '2', got: '3' }],
  )
  const exact = { checker: { type: 'exact' }, expected_stdout_sha256 }
  t.equal((await run({ code: 'print(1); print(2, end="")', ...exact })).body.verdict, 'WA')
})

t.test('each test has its own, and a checker that is a program has both', async (t) => {
  const [one, two] = [await put('1\n'), await put('2\n')]
  const tests = [
    { stdin_sha256: one, expected_stdout_sha256: two },
    { stdin: '1\n', expected_stdout_sha256: one },
    { stdin_sha256: two, expected_stdout: '3\n' },
    { stdin_sha256: two },
  ]
  const { body } = await run({ code: 'print(int(input()) + 1)', tests })
  const told = body.tests.map(({ verdict }: { verdict: string }) => verdict)
  t.strictSame(told, ['AC', 'WA', 'AC', 'AC'])
  const code = 'import sys\nread = lambda i: open(sys.argv[i]).read()\nprint(read(1), read(2), read(3), file=sys.stderr)\nsys.exit(read(2) != read(3))' // prettier-ignore
  const checker = { type: 'program', language: 'python', code }
  const judged = await run({ code: 'print(int(input()) + 1)', tests, checker })
  t.strictSame(
    judged.body.tests.map(({ verdict, message }: { verdict: string; message: string }) => [
      verdict,
      message.replaceAll('\n', ''),
    ]),
    [
      ['AC', '1 2 2'],
      ['WA', '1 2 1'],
      ['AC', '2 3 3'],
      ['WA', '2 3 '],
    ],
  )
})

t.test('a worker fetches a blob once, and trusts no damaged file', async (t) => {
  const bytes = randomBytes(1000)
  const name = await put(bytes)
  const own = (): string | undefined => cached().find((file) => file.endsWith(name))
  const code = digests
  const count = async (id: string): Promise<unknown> => {
    const [row] = await sql`
      select data -> 'blobs' as blobs from runledger.event where stream_id = ${id} and type = 'execution.completed'`
    return row?.['blobs']
  }
  const first = await run({ code, tests: [{ stdin_sha256: name }, { stdin_sha256: name }] })
  t.strictSame(await count(first.body.id), { read: 2, fetched: 1 })
  const again = await run({ code, stdin_sha256: name })
  t.strictSame(await count(again.body.id), { read: 1, fetched: 0 })
  const path = join(directory, 'blob', own() ?? '')
  t.ok(readFileSync(path).includes(bytes))
  t.equal(statSync(join(directory, 'blob')).mode & 0o777, 0o700)
  writeFileSync(path, 'cut off')
  const damaged = await run({ code, stdin_sha256: name })
  t.match(damaged.body, { stdout: `${name}\n` })
  t.strictSame(await count(damaged.body.id), { read: 1, fetched: 1 })
})

t.test('another account has a copy of its own', async (t) => {
  const name = await put('shared')
  await run({ code: digests, stdin_sha256: name })
  const other = await issue()
  await put('shared', other)
  await run({ code: digests, stdin_sha256: name }, other)
  t.equal(cached().filter((file) => file.endsWith(name)).length, 2)
})

t.test('no program sees the cache', async (t) => {
  const code = `import os\nfor path in ("${directory}", "${directory}/blob"):\n  try: print(os.listdir(path))\n  except OSError as error: print(error.errno)` // prettier-ignore
  const { body } = await run({ code, stdin_sha256: await put('x') })
  t.match(body.stdout, /^(2|13)\n(2|13)\n$/)
})

t.test('a blob that is altered in the database is not run', async (t) => {
  const name = await put('what was sent')
  await sql`update runledger.blob_chunk set content = 'something else' where sha256 = ${Buffer.from(name, 'hex')}`
  const { body } = await run({ code: digests, stdin_sha256: name })
  t.match(body, { status: 'failed', verdict: 'IE' })
  const { body: well } = await run({ code: 'print(1)' })
  t.equal(well.verdict, 'AC', 'and the worker goes on')
  t.notOk(worker.logged.includes('worker.suspended'))
})

t.test('metrics tell the bytes that are kept, and where runs had theirs from', async (t) => {
  const [row] = await sql`select sum(greatest(bytes, 4096)) as bytes from runledger.blob`
  const read = async (): Promise<Record<string, number>> => {
    const { text } = await call('GET', '/metrics', { key: null, checked: false })
    const figures = [...text.matchAll(/^runledger_blob_(\S+) (\d+)$/gm)]
    return Object.fromEntries(figures.map(([, name, value]) => [name, Number(value)]))
  }
  // An event is counted only when the whole server has no older transaction, and other test files have some open.
  let figures = await read()
  while (!figures['reads_total{source="cache"}']) {
    await new Promise((done) => setTimeout(done, 50))
    figures = await read()
  }
  t.equal(figures['bytes'], Number(row?.['bytes']))
  t.ok((figures['reads_total{source="cache"}'] ?? 0) > 0)
  t.ok((figures['reads_total{source="database"}'] ?? 0) > 0)
})
