// What an operator sees of webhooks, and how one is sent again.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { json } from '#database'
import { commandWebhooks } from '../../src/cli/webhooks.ts'
import type { WebhooksAnswer } from '../../src/cli/webhooks.ts'
import { createTestDatabase } from '../helper/database.ts'
import { createCaller } from '../helper/submission.ts'
import { endSubmission, findBroken, readAttempts, readDelivery } from '../job/delivery.ts'

const { sql, url: databaseUrl, drop } = await createTestDatabase()
t.teardown(drop)
const caller = await createCaller(sql)
const webhook = { url: 'https://receiver.test/hook', secret: 's' }

async function command(
  action: 'list' | 'show' | 'replay',
  id?: string,
  { state, limit = '50', secret = '' }: { state?: string; limit?: string; secret?: string } = {},
): Promise<WebhooksAnswer> {
  const stdin = Readable.from([Buffer.from(secret)])
  return commandWebhooks(sql, { action, id, state, limit, operator: 'root', stdin })
}

/** Records one attempt as a worker does. */
async function recordAttempt(
  submission: string,
  version: number,
  type: string,
  snippet: string,
  then: { retrySeconds?: number; abandonedBecause?: string } = {},
): Promise<void> {
  const { webhook_id: id, attempts } = await readDelivery(sql, submission)
  const data = {
    submission,
    attempt: attempts + 1,
    outcome: type === 'webhook.delivered' ? 'delivered' : 'refused',
    status: type === 'webhook.delivered' ? 200 : 500,
    duration_seconds: 0.25,
    snippet,
  }
  await sql`
    select runledger.record_attempt(
      ${id}, ${version}, ${type}, 1, ${json(sql, data)}, '{"actor": {"worker": "w"}}',
      ${then.retrySeconds ?? null}, ${then.abandonedBecause ?? null}
    )`
}

t.test('list shows the newest first, by state and up to the limit', async (t) => {
  const ids = []
  for (let n = 0; n < 3; n += 1) ids.push(await endSubmission(sql, caller, webhook))
  await recordAttempt(ids[0]!, 0, 'webhook.delivered', '')
  const read = async (change = {}): Promise<unknown[]> =>
    (await command('list', undefined, change)).rows?.map(({ submission_id: id }) => id) ?? []
  t.strictSame(await read(), ids.toReversed())
  t.strictSame(await read({ limit: '2' }), ids.slice(1).toReversed())
  t.strictSame(await read({ state: 'delivered' }), [ids[0]])
  t.match(await command('list', undefined, { state: 'lost' }), {
    usage: true,
    complaint: /--state/,
  })
  t.match(await command('list', undefined, { limit: '0' }), { usage: true, complaint: /--limit/ })
  t.notMatch(JSON.stringify((await command('list')).rows), /"s"|secret/)
})

t.test('show tells each attempt, and a receiver cannot write to the terminal', async (t) => {
  const id = await endSubmission(sql, caller, webhook)
  await recordAttempt(id, 0, 'webhook.attempt_failed', 'no\u001b[2J\n\u202eway', {
    retrySeconds: 60,
  })
  await recordAttempt(id, 1, 'webhook.attempt_failed', 'no', { abandonedBecause: 'schedule_spent' })
  const { webhook_id: webhookId } = await readDelivery(sql, id)
  const bySubmission = await command('show', id)
  t.strictSame(await command('show', webhookId), bySubmission)
  const text = bySubmission.lines.join('\n')
  t.match(text, /receiver {4}receiver\.test\n/)
  t.match(text, /state {7}abandoned \(schedule_spent\)\n/)
  t.match(text, /Z {2}attempt 1 {2}refused 500 {2}0\.250 s {2}no\\u001b\[2J\\n\\u\{202e\}way\n/)
  t.match(text, /Z {2}abandoned {2}schedule_spent$/)
  t.notOk(text.includes('\u001b') || text.includes('\u202e'))
  t.match(await command('show', uuidv7()), { lines: [], complaint: /no webhook/ })
  t.match(await command('show', "x' or true"), { lines: [], complaint: /no webhook/ })
})

t.test('replay wants the secret, and one that has ended', async (t) => {
  const id = await endSubmission(sql, caller, webhook)
  t.match(await command('replay', id, { secret: 'new' }), { complaint: /still being delivered/ })
  await recordAttempt(id, 0, 'webhook.attempt_failed', '', { abandonedBecause: 'gone' })
  t.match(await command('replay', id), { complaint: /secret was deleted .* on stdin/ })
  t.match(await command('replay', id, { secret: 'x'.repeat(257) }), { complaint: /256 bytes/ })
  t.match(await readDelivery(sql, id), { state: 'abandoned', secret: null })

  t.match(await command('replay', id, { secret: 'new\n' }), { lines: [/"was":"abandoned"/] })
  const row = await readDelivery(sql, id)
  t.match(row, { state: 'pending', secret: 'new', attempts: 1, due_at: Date })
  t.match(await command('replay', id, { secret: 'new' }), { complaint: /still being delivered/ })
  t.match((await readAttempts(sql, id)).at(-1), {
    type: 'webhook.replayed',
    data: { submission: id },
    metadata: { actor: { operator: 'root' } },
  })
  const [due] = await sql`select * from runledger.read_delivery(${row.webhook_id})`
  t.match(due, { attempt: 2, round_attempt: 1, version: 3, secret: 'new' })
  await recordAttempt(id, 3, 'webhook.delivered', '')
  t.match(await readDelivery(sql, id), { state: 'delivered', secret: null, attempts: 2 })
})

t.test('of two attempts recorded after one version the second is refused', async (t) => {
  const id = await endSubmission(sql, caller, webhook)
  await recordAttempt(id, 0, 'webhook.attempt_failed', '', { retrySeconds: 60 })
  await t.rejects(recordAttempt(id, 0, 'webhook.delivered', ''), { code: '23505' })
  const { webhook_id: webhookId, due_at: dueAt } = await readDelivery(sql, id)
  await sql`select runledger.postpone_delivery(${webhookId}, 0, 0)`
  t.strictSame((await readDelivery(sql, id)).due_at, dueAt, 'nor can a late one hurry the next')
  t.strictSame([...(await sql`select * from runledger.read_delivery(${webhookId})`)], [])
})

t.test('the command line passes the secret on', async (t) => {
  const id = await endSubmission(sql, caller, webhook)
  await recordAttempt(id, 0, 'webhook.delivered', '')
  const { promise, resolve } = Promise.withResolvers<{ error: unknown; stdout: string }>()
  const child = execFile(
    process.execPath,
    ['src/cli/cli.ts', 'webhooks', 'replay', id],
    {
      cwd: join(import.meta.dirname, '../..'),
      env: { ...process.env, DATABASE_URL: databaseUrl },
      timeout: 20_000,
    },
    (error, stdout) => resolve({ error, stdout }),
  )
  child.stdin!.end('from a file\n')
  t.match(await promise, { error: null, stdout: /"replayed":true,"was":"delivered"/ })
  t.match(await readDelivery(sql, id), { state: 'pending', secret: 'from a file' })
})

t.test('no promise is broken', async (t) => {
  t.strictSame(await findBroken(sql), [])
})
