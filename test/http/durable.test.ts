// A submission that was reported to a caller is on disk, even if the server crashes right after. A submission that a crash
// loses was reported to nobody. Of many clients at once each gets the answer to its own submission.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { Pool } from 'undici'
import { openTestDatabase } from '../helper/database.ts'
import { findAwaited } from '../helper/execution.ts'
import { secondsUntil } from '../helper/outage.ts'
import { startServer, untilAvailable } from '../helper/server.ts'
import { openStream } from '../helper/stream.ts'
import { createCaller } from '../helper/submission.ts'
import { startWebProcess } from '../helper/web.ts'

const { sql, url } = await openTestDatabase(t, { ownServer: true })
// The WAL writer does not wake up during a test, so only commits that wait for the disk reach it.
await sql`alter system set wal_writer_delay = '10s'`
await sql`select pg_reload_conf()`
const { call, issue, port } = await startServer(t, sql, { url, syncWaitSeconds: 120 })
const body = { language: 'python', code: 'print(1)' }
const neverWaited = { Prefer: 'wait=0' }

/** Kills one of the server's processes, so that the server restarts from what is on disk. */
async function kill(): Promise<void> {
  const [row] = await sql`select pg_backend_pid() as pid`
  process.kill(row?.['pid'] as number, 'SIGKILL')
}

/** Kills as `kill` does, and waits until the server answers. */
async function crash(): Promise<void> {
  await kill()
  await secondsUntil(async () =>
    sql`select 1`.then(
      () => true,
      () => false,
    ),
  )
}

const isReady = async (): Promise<boolean> => (await call('GET', '/readyz')).status === 200
const exists = async (id: string): Promise<boolean> => {
  await secondsUntil(isReady)
  return (await untilAvailable(() => call('GET', `/api/result/${id}`))).status === 200
}

const web = await startWebProcess(t, url)
const { key } = await createCaller(sql)
const pool = new Pool(`http://127.0.0.1:${web.port}`, { connections: 32 })
t.teardown(() => pool.close())

interface Told {
  readonly status: number
  readonly id: string
}

async function submit(
  more: object,
  {
    apiKey = key,
    idempotencyKey = randomUUID(),
  }: { apiKey?: string; idempotencyKey?: string } = {},
): Promise<Told> {
  const answer = await pool.request({
    method: 'POST',
    path: '/api/submit',
    headers: {
      'X-API-Key': apiKey,
      'Content-Type': 'application/json',
      'Idempotency-Key': idempotencyKey,
    },
    body: JSON.stringify({ ...body, ...more }),
  })
  const { id } = (await answer.body.json()) as { id: string }
  return { status: answer.statusCode, id }
}

// Receiving a submission with the tag `slow` takes at least 0.6 s.
await sql.unsafe(`
  create function public.hold_up() returns trigger language plpgsql as $$
  begin
    if new.tag = 'slow' then
      perform pg_sleep(0.6);
    end if;
    return new;
  end
  $$;
  create trigger hold_up before insert on runledger.pending for each row execute function public.hold_up()`)

async function areBeingReceived(): Promise<boolean> {
  const rows = await sql`
    select from pg_stat_activity where query like '%runledger.receive%' and wait_event = 'PgSleep'`
  return rows.length > 0
}

t.test('each of sixteen at once is told what became of its own', async (t) => {
  const { key: revoked, apiKeyId } = await createCaller(sql)
  await submit({}, { apiKey: revoked }) // so that the process knows the key
  await sql`update runledger.api_key set revoked_at = now() where id = ${apiKeyId}`
  const twice = { idempotencyKey: randomUUID() }
  const answers = await Promise.all([
    ...Array.from({ length: 6 }, () => submit({})),
    submit({}, twice),
    submit({}, { apiKey: revoked }),
    submit({}, twice),
    submit({ code: 3 }),
    ...Array.from({ length: 6 }, () => submit({})),
  ])
  const statuses = answers.map(({ status }) => status)
  t.strictSame(statuses, [...Array(7).fill(202), 401, 202, 400, ...Array(6).fill(202)])
  t.equal(answers[6]?.id, answers[8]?.id)
  t.equal(new Set(answers.map(({ id }) => id)).size, 14, 'thirteen, and none')
})

t.test('a server killed in their middle loses no acknowledged one, doubles none', async (t) => {
  await sql`delete from runledger.pending`
  const keys = Array.from({ length: 16 }, () => randomUUID())
  // Half of them are slow, so that every group of requests that share a statement contains slow ones.
  const ask = (idempotencyKey: string, n: number): Promise<Told> =>
    submit({ tag: n % 2 === 0 ? 'quick' : 'slow' }, { idempotencyKey })
  const first = Promise.all(keys.map(ask))
  while (!(await areBeingReceived())) await sleep(5)
  await kill()
  const answers = await first
  t.ok(
    answers.some(({ status }) => status === 503),
    'some did not come through',
  )
  await secondsUntil(async () =>
    sql`drop trigger hold_up on runledger.pending`.then(
      () => true,
      () => false,
    ),
  )
  const repeated: Told[] = []
  for (const [n, idempotencyKey] of keys.entries()) {
    for (;;) {
      const answer = await ask(idempotencyKey, n)
      if (answer.status === 202) {
        repeated.push(answer)
        break
      }
      await sleep(50)
    }
  }
  for (const [n, { status, id }] of answers.entries())
    if (status === 202) t.equal(repeated[n]?.id, id, 'acknowledged, and still there')
  const ids = repeated.map(({ id }) => id)
  t.equal(new Set(ids).size, 16)
  const [row] =
    await sql`select count(*)::integer as count from runledger.submission where tag is not null`
  t.equal(row?.['count'], 16, 'once each')
  t.strictSame([...(await sql`select * from audit.drift where projection <> 'pending'`)], [])
  t.strictSame([...(await sql`select * from audit.broken_chain`)], [])
  // Its regular statements could bring to the disk what the tests below look for there.
  web.child.kill('SIGKILL')
  await secondsUntil(isReady)
})

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
    await findAwaited(sql)
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
