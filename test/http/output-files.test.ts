// Files that a run leaves, through the whole service: requested, returned, logged, purged; and which requests are refused.
import { createHash } from 'node:crypto'
import t from 'tap'
import { readResult } from '#result'
import { createTestDatabase } from '../helper/database.ts'
import { startServer } from '../helper/server.ts'
import type { Answer } from '../helper/server.ts'
import { startWorkerProcess } from '../helper/worker.ts'

const { sql, url, drop } = await createTestDatabase()
t.teardown(drop)
await startWorkerProcess(t, url)
const { call } = await startServer(t, sql, { url, syncWaitSeconds: 300 })

const mebibyte = 1024 * 1024
const run = (body: object): Promise<Answer> => call('POST', '/api/submit?wait=true', { body })
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const told = (name: string, text: string): object => ({
  name,
  size: text.length,
  sha256: sha256(text),
  content: Buffer.from(text).toString('base64'),
})

t.test('what was left comes back, the log has its digest, and retention removes it', async (t) => {
  const { body } = await run({
    language: 'python',
    code: `import os\nos.mkdir('sub')\nopen('sub/a.txt', 'w').write('a')\nopen('big', 'wb').write(b'x' * ${mebibyte + 1})`,
    output_files: ['sub/a.txt', 'big', 'missing'],
  })
  t.equal(body.verdict, 'AC', body.stderr)
  const big = { name: 'big', size: mebibyte + 1, sha256: null, content: null }
  t.strictSame(body.files, [told('sub/a.txt', 'a'), big])
  const { body: log } = await call('GET', `/api/result/${body.id}/events`)
  t.strictSame(log.events.at(-1).data.files, [
    { name: 'sub/a.txt', bytes: 1, sha256: sha256('a') },
    { name: 'big', bytes: mebibyte + 1 },
  ])
  const { body: list } = await call('GET', '/api/submissions')
  t.notOk('files' in list.submissions[0])
  t.strictSame([...(await sql`select * from audit.altered_body`)], [])

  await sql`update runledger.result set finished_at = now() - interval '40 days'`
  await sql`select runledger.purge_bodies(interval '-1 second', 100)`
  t.match(await readResult(sql, body.id, null), { purged_at: String, files: null })
}) // prettier-ignore

t.test('however the program ended', async (t) => {
  const output_files = ['out']
  const rows: [string, object][] = [
    ['TLE', { code: 'open("out", "w").write("x")\nwhile True: pass', limits: { cpu_time: 0.5 } }],
    ['RE', { code: 'open("out", "w").write("x")\n1/0' }],
    ['OLE', { code: 'open("out", "w").write("x")\nprint("x" * 99)', limits: { stdout: 10 } }],
    ['WA', { code: 'open("out", "w").write("x")', expected_stdout: '1' }],
  ]
  for (const [verdict, more] of rows) {
    const { body } = await run({ language: 'python', output_files, ...more })
    t.strictSame([body.verdict, body.files], [verdict, [told('out', 'x')]])
  }
  const { body } = await run({ language: 'cpp', code: 'no', output_files })
  t.strictSame([body.verdict, body.files], ['CE', []])
  t.equal((await run({ language: 'python', code: '' })).body.files, null, 'none were asked for')
})

t.test('what a resident interpreter forks and what is compiled leave theirs, too', async (t) => {
  const code = '#include <fstream>\nint main() { std::ofstream("out") << "c++"; }'
  const { body } = await run({ language: 'cpp', code, output_files: ['out'] })
  t.strictSame(body.files, [told('out', 'c++')], body.compile_output)
}) // prettier-ignore

t.test('what is wrong is refused, all of it at once', async (t) => {
  const names = (...list: unknown[]): object => ({ output_files: list })
  const rows: [object, ...string[]][] = [
    [{ output_files: 'a' }, 'output_files'],
    [{ output_files: null }, 'output_files'],
    [names(7), 'output_files.0'],
    [names({ name: 'a' }), 'output_files.0'],
    [names('../a'), 'output_files.0'],
    [names('/etc/passwd'), 'output_files.0'],
    [names('a//b'), 'output_files.0'],
    [names(''), 'output_files.0'],
    [names('a\0'), 'output_files.0'],
    [names('a/'.repeat(8) + 'a'), 'output_files.0'],
    [names('a'.repeat(256)), 'output_files.0'],
    [names('main.py'), 'output_files.0'],
    [names('a', 'b', 'a'), 'output_files.2'],
    [names('a', 'A'), 'output_files.1'],
    [names('a', 'a/b'), 'output_files.1'],
    [names(...Array.from({ length: 17 }, (_, n) => `f${n}`)), 'output_files'],
    [{ ...names('b', 'A'), files: [{ name: 'a', content: '' }] }, 'output_files.1'],
    [{ ...names('a'), tests: [{}] }, 'output_files'],
    [{ ...names('..', 'a', 'a'), tests: [{}], tag: '' }, 'output_files.0', 'tag', 'output_files'],
  ]
  for (const [more, ...paths] of rows) {
    const { status, body } = await call('POST', '/api/submit', {
      body: { language: 'python', code: '', ...more },
    })
    const found = (body.issues ?? []).map(({ path }: { path: string }) => path)
    t.strictSame([status, found], [400, paths], JSON.stringify([more, body.issues]).slice(0, 300))
  }
  const submit = (more: object): Promise<Answer> =>
    call('POST', '/api/submit', { body: { language: 'python', code: '', ...more } })
  t.equal((await submit(names(...Array.from({ length: 16 }, (_, n) => `f/${n}`)))).status, 202)
  t.equal((await submit({ ...names(), tests: [{}] })).body.issues[0].path, 'output_files')
})
