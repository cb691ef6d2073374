// What a run leaves, through the whole service. Outputs beyond the account's daily quota: its programs still run and are
// judged, but only the beginning is kept, while another account's is kept whole. Files: requested, returned, logged, purged;
// and which requests are refused.
import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { setTier } from '#account'
import { readResult } from '#result'
import { findBroken } from '../helper/ledger.ts'
import { checkMistakes, startFreshServer } from '../helper/server.ts'
import type { Answer } from '../helper/server.ts'
import { startWorkerProcess } from '../helper/worker.ts'

const { call, issue, sql, url } = await startFreshServer(t, { syncWaitSeconds: 300 })
await startWorkerProcess(t, url)

const mebibyte = 1024 * 1024
const run = (body: object, key?: string): Promise<Answer> =>
  call('POST', '/api/submit?wait=true', { body, ...(key !== undefined && { key }) })
const outputBytes = 20_000
await setTier(sql, { name: 'small', output_bytes: outputBytes }, 'test')
const [greedy, other] = [await issue('small'), await issue('small')]

const write = (key: string, bytes: number): Promise<Answer> =>
  run(
    {
      language: 'python',
      code: `print("x" * ${bytes - 1})`,
      expected_stdout: 'x'.repeat(bytes - 1),
    },
    key,
  )
const countKept = async (): Promise<number[]> =>
  (await sql`select output_bytes_today as bytes from audit.account order by bytes desc`).map(
    ({ bytes }) => bytes as number,
  )

t.test('beyond its day’s outputs an account has beginnings kept, and is told so', async (t) => {
  t.match((await write(greedy, 2 * outputBytes)).body, { verdict: 'AC', stdout_truncated: false })
  // The worker reports its count within moments, and gets the account's count some moments later.
  while (((await countKept())[0] ?? 0) < 2 * outputBytes) await sleep(100)
  let record = (await write(greedy, 5000)).body
  for (let tries = 0; tries < 50 && record.stdout_truncated === false; tries += 1)
    record = (await write(greedy, 5000)).body
  t.match(record, { verdict: 'AC', stdout: 'x'.repeat(4096), stdout_truncated: true })
  t.match((await write(other, 5000)).body, { verdict: 'AC', stdout_truncated: false })
  const [row] = await sql`
    select octet_length(o.stdout) as bytes from runledger.output o where o.submission_id = ${record.id}`
  t.equal(row?.['bytes'], 4096)
  t.strictSame([...(await sql`select * from audit.altered_body`)], [])
  t.strictSame(await findBroken(sql), [])
})

t.test('it is kept whole again when the tier allows more', async (t) => {
  await setTier(sql, { name: 'small', output_bytes: null }, 'test')
  let record = (await write(greedy, 5000)).body
  while (record.stdout_truncated === true) {
    await sleep(200)
    record = (await write(greedy, 5000)).body
  }
  t.equal(record.stdout.length, 5000)
})

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
  t.match(await readResult(sql, body.id), { purged_at: String, files: null })
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

// The mistakes that names can have by themselves are in mistakes.test.ts.
t.test('what is wrong beside other fields is refused, all of it at once', async (t) => {
  const names = (...list: unknown[]): object => ({ output_files: list })
  const rows: [object, ...string[]][] = [
    [names('main.py'), 'output_files.0'],
    [{ ...names('b', 'A'), files: [{ name: 'a', content: '' }] }, 'output_files.1'],
    [{ ...names('a'), tests: [{}] }, 'output_files'],
    [{ ...names('..', 'a', 'a'), tests: [{}], tag: '' }, 'output_files.0', 'tag', 'output_files'],
  ]
  const submit = (more: object): Promise<Answer> =>
    call('POST', '/api/submit', { body: { language: 'python', code: '', ...more } })
  await checkMistakes(t, rows, submit)
  t.equal((await submit({ ...names(), tests: [{}] })).body.issues[0].path, 'output_files')
})
