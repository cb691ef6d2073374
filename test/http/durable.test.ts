// A submission that was reported to a caller is on disk, even if the server crashes right after. A submission that a crash
// loses was reported to nobody.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { createTestDatabase } from '../helper/database.ts'
import { secondsUntil } from '../helper/outage.ts'
import { startServer, untilAvailable } from '../helper/server.ts'
import { openStream } from '../helper/stream.ts'

const { sql, url, drop } = await createTestDatabase({ ownServer: true })
t.teardown(drop)
// The WAL writer does not wake up during a test, so only commits that wait for the disk reach it.
await sql`alter system set wal_writer_delay = '10s'`
await sql`select pg_reload_conf()`
const { call, issue, port } = await startServer(t, sql, { url, syncWaitSeconds: 120 })
const body = { language: 'python', code: 'print(1)' }
const neverWaited = { Prefer: 'wait=0' }

/** Kills one of the server's processes, so that the server restarts from what is on disk. */
async function crash(): Promise<void> {
  const [row] = await sql`select pg_backend_pid() as pid`
  process.kill(row?.['pid'] as number, 'SIGKILL')
  await secondsUntil(async () =>
    sql`select 1`.then(
      () => true,
      () => false,
    ),
  )
}

const exists = async (id: string): Promise<boolean> => {
  await secondsUntil(async () => (await call('GET', '/readyz')).status === 200)
  return (await untilAvailable(() => call('GET', `/api/result/${id}`))).status === 200
}

t.test('accepted is stored', async (t) => {
  const { status, body: accepted } = await call('POST', '/api/submit', { body })
  t.equal(status, 202)
  await crash()
  t.ok(await exists(accepted.id))
})

t.test('who waited in vain has an id of something that is stored', async (t) => {
  const { status, body: problem } = await call('POST', '/api/submit?wait=true', {
    headers: neverWaited,
    body,
  })
  t.equal(status, 408)
  await crash()
  t.ok(await exists(problem.id))
})

t.test('the first event of a stream has an id of something that is stored', async (t) => {
  const stream = await openStream({ port, key: await issue(), path: '/api/submit', body })
  const { data } = await stream.until(({ event }) => event === 'submitted')
  await crash()
  t.ok((await sql`select from runledger.submission where id = ${data.id}`).length === 1)
  stream.close()
})

for (const again of ['/api/submit', '/api/submit/batch']) {
  t.test(`what another waits for is stored when ${again} is told of it`, async (t) => {
    await sql`delete from runledger.pending`
    const headers = { 'Idempotency-Key': randomUUID() }
    const waiting = call('POST', '/api/submit?wait=true', { headers, body })
    await secondsUntil(
      async () => (await sql`select from runledger.pending where waiters is not null`).length > 0,
    )
    const asked = again.endsWith('batch') ? { submissions: [body] } : body
    const { status, body: replayed } = await call('POST', again, { headers, body: asked })
    t.equal(status, 202)
    await crash()
    const { id } = replayed.submissions?.[0] ?? replayed
    t.ok(await exists(id))
    await sql`
      select runledger.cancel(array[${id}::uuid], p.account_id, '{"actor": {}}')
      from runledger.pending p where p.submission_id = ${id}`
    t.match(await waiting, { status: 200, body: { id } })
  })
}

t.test('who waits for what was lost is told so, and nothing of it is left', async (t) => {
  const count = async (): Promise<number> => (await sql`select id from runledger.submission`).length
  const before = await count()
  const waiting = call('POST', '/api/submit?wait=true', { headers: { Prefer: 'wait=20' }, body })
  await secondsUntil(async () => (await count()) > before)
  await crash()
  const answer = await waiting
  // The submission is on disk only if another write of the server had to reach the disk in that instant.
  const isLost = (await count()) === before
  t.comment(isLost ? 'lost' : 'stored')
  t.match(answer, isLost ? { status: 503, body: { error: 'unavailable' } } : { status: 408 })
})
