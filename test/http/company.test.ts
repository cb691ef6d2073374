// Many clients submit at once through a real web process. Each one gets the answer to its own submission, whatever happens
// to the others and to the server.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { Pool } from 'undici'
import { v7 as uuidv7 } from 'uuid'
import { createTestDatabase } from '../helper/database.ts'
import { secondsUntil } from '../helper/outage.ts'
import { createCaller } from '../helper/submission.ts'
import { startWebProcess } from '../helper/web.ts'

// A separate PostgreSQL server, because a test kills it.
const { sql, url, drop } = await createTestDatabase({ ownServer: true })
t.teardown(drop)
const { port } = await startWebProcess(t, url)
const { key } = await createCaller(sql)
const pool = new Pool(`http://127.0.0.1:${port}`, { connections: 32 })
t.teardown(() => pool.close())

interface Answer {
  readonly status: number
  readonly id: string
}

async function submit(
  body: object,
  { apiKey = key, idempotencyKey = uuidv7() } = {},
): Promise<Answer> {
  const answer = await pool.request({
    method: 'POST',
    path: '/api/submit',
    headers: {
      'X-API-Key': apiKey,
      'Content-Type': 'application/json',
      'Idempotency-Key': idempotencyKey,
    },
    body: JSON.stringify({ language: 'python', code: '', ...body }),
  })
  const { id } = (await answer.body.json()) as { id: string }
  return { status: answer.statusCode, id }
}

async function areBeingReceived(): Promise<boolean> {
  const rows = await sql`
    select from pg_stat_activity where query like '%runledger.receive%' and wait_event = 'PgSleep'`
  return rows.length > 0
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

t.test('each of sixteen at once is told what became of its own', async (t) => {
  const { key: revoked, apiKeyId } = await createCaller(sql)
  await submit({}, { apiKey: revoked }) // so that the process knows the key
  await sql`update runledger.api_key set revoked_at = now() where id = ${apiKeyId}`
  const twice = { idempotencyKey: uuidv7() }
  const answers = await Promise.all([
    ...Array.from({ length: 6 }, () => submit({})),
    submit({}, twice),
    submit({}, { apiKey: revoked }),
    submit({}, twice),
    submit({ code: 3 }),
    ...Array.from({ length: 6 }, () => submit({})),
  ])
  t.strictSame(
    answers.map(({ status }) => status),
    [...Array(7).fill(202), 401, 202, 400, ...Array(6).fill(202)],
  )
  t.equal(answers[6]?.id, answers[8]?.id)
  t.equal(new Set(answers.map(({ id }) => id)).size, 14, 'thirteen, and none')
})

t.test(
  'a server killed in their middle has lost none that was acknowledged, and doubles none',
  async (t) => {
    await sql`delete from runledger.pending`
    const keys = Array.from({ length: 16 }, () => uuidv7())
    // Half of them are slow, so that every group of requests that share a statement contains slow ones.
    const ask = (idempotencyKey: string, n: number): Promise<Answer> =>
      submit({ tag: n % 2 === 0 ? 'quick' : 'slow' }, { idempotencyKey })
    const first = Promise.all(keys.map(ask))
    while (!(await areBeingReceived())) await sleep(5)
    const [backend] = await sql`select pg_backend_pid() as pid`
    process.kill(backend?.['pid'] as number, 'SIGKILL')
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
    const repeated: Answer[] = []
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
  },
)
