// An account that has used up its outputs of the day, through the whole service. Its programs still run and are judged, but
// only the beginning of their output is kept. The output of another account is kept whole.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { setTier } from '#account'
import { createTestDatabase } from '../helper/database.ts'
import { startServer } from '../helper/server.ts'
import type { Answer } from '../helper/server.ts'
import { startWorkerProcess } from '../helper/worker.ts'

const { sql, url, drop } = await createTestDatabase()
t.teardown(drop)
await startWorkerProcess(t, url)
const { call, issue } = await startServer(t, sql, { url, syncWaitSeconds: 120 })
const outputBytes = 20_000
await setTier(sql, { name: 'small', output_bytes: outputBytes }, 'test')
const [greedy, other] = [await issue('small'), await issue('small')]

const write = (key: string, bytes: number): Promise<Answer> =>
  call('POST', '/api/submit?wait=true', {
    key,
    body: {
      language: 'python',
      code: `print("x" * ${bytes - 1})`,
      expected_stdout: 'x'.repeat(bytes - 1),
    },
  })
const countKept = async (): Promise<number[]> =>
  (await sql`select output_bytes_today as bytes from audit.account order by bytes desc`).map(
    ({ bytes }) => bytes as number,
  )

t.test('what comes after it is kept in part, and told so', async (t) => {
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
  t.strictSame([...(await sql`select * from audit.drift`)], [])
})

t.test('it is kept whole again when the tier allows more', async (t) => {
  await setTier(
    sql,
    {
      name: 'small',
      output_bytes: null,
    },
    'test',
  )
  let record = (await write(greedy, 5000)).body
  while (record.stdout_truncated === true) {
    await sleep(200)
    record = (await write(greedy, 5000)).body
  }
  t.equal(record.stdout.length, 5000)
})
