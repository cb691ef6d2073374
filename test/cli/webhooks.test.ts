// How an operator inspects webhooks and sends one again.
import { Readable } from 'node:stream'
import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { createClient, createOperator } from '#client'
import { CommandError } from '../../src/cli/command.ts'
import { describeWebhook, findWebhook, replay } from '../../src/cli/webhooks.ts'
import { parseLines, runAsProcess, startCommandLine } from '../helper/command-line.ts'
import { openTestDatabase } from '../helper/database.ts'
import { recordDelivery } from '../helper/execution.ts'
import { findBroken } from '../helper/ledger.ts'
import { issueOperatorKey } from '../helper/operator.ts'
import { startServer } from '../helper/server.ts'
import { createCaller } from '../helper/submission.ts'
import { endSubmission, readAttempts, readDelivery } from '../job/delivery.ts'

const { sql, url: databaseUrl } = await openTestDatabase(t)
const caller = await createCaller(sql)
const webhook = { url: 'https://receiver.test/hook', secret: 's' }

// The server has only the rights of the web process.
const web = await startServer(t, sql, { url: `${databaseUrl}?role=runledger_api` })
const { id: keyId, key } = await issueOperatorKey(sql)
const url = `http://127.0.0.1:${web.port}`
const operator = createOperator(createClient({ url, apiKey: key }))

/** Returns the output lines, or the error message. */
async function command(
  action: 'show' | 'replay',
  id: string,
  secret = '',
): Promise<{ readonly lines: readonly string[]; readonly complaint?: string }> {
  try {
    if (action === 'replay') {
      const stdin = Readable.from([Buffer.from(secret)])
      return { lines: [JSON.stringify(await replay(operator, id, stdin))] }
    }
    const { webhook: found, events } = await findWebhook(operator, id)
    return { lines: describeWebhook(found, events) }
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    return { lines: [], complaint: error.message }
  }
}

const environment = { RUNLEDGER_URL: url, RUNLEDGER_OPERATOR_KEY: key }
const run = startCommandLine(t, environment)

const delivered = { outcome: 'delivered', status: 200, seconds: 0.25 } as const
const refused = { outcome: 'refused', status: 500, seconds: 0.25 } as const

t.test('list shows the newest first, by state and up to the limit', async (t) => {
  const ids = []
  for (let n = 0; n < 3; n += 1) ids.push(await endSubmission(sql, caller, webhook))
  await recordDelivery(sql, ids[0]!, delivered)
  const read = async (change: { state?: string; limit?: number } = {}): Promise<unknown[]> =>
    (await operator.webhooks({ limit: 50, ...change })).map(({ submission_id: id }) => id)
  t.strictSame(await read(), ids.toReversed())
  t.strictSame(await read({ limit: 2 }), ids.slice(1).toReversed())
  t.strictSame(await read({ state: 'delivered' }), [ids[0]])
  const listed = await run('webhooks list --limit 2')
  const repeated = parseLines(listed.out).map(({ submission_id: id }) => id)
  t.strictSame(repeated, ids.slice(1).toReversed())
  t.match(await run('webhooks list --state lost'), { status: 64, err: /--state/ })
  t.match(await run('webhooks list --limit 0'), { status: 64, err: /--limit/ })
  t.notMatch(listed.out, /"s"|secret/)
})

t.test('a list longer than a page has every webhook once', async (t) => {
  for (let n = 0; n < 120; n += 1) await endSubmission(sql, caller, webhook)
  const rows = await sql<{ id: string }[]>`
    select webhook_id as id from runledger.delivery order by webhook_id desc limit 115`
  t.strictSame(
    (await operator.webhooks({ limit: 115 })).map(({ webhook_id: id }) => id),
    rows.map(({ id }) => id),
  )
})

t.test('show tells each attempt, and a receiver cannot write to the terminal', async (t) => {
  const id = await endSubmission(sql, caller, webhook)
  const snippet = 'no\u001b[2J\n\u202eway'
  await recordDelivery(sql, id, { ...refused, snippet, retrySeconds: 60 })
  await recordDelivery(sql, id, { ...refused, snippet: 'no', abandonedBecause: 'schedule_spent' })
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
  t.match(await command('replay', id, 'new'), { complaint: /still under way/ })
  await recordDelivery(sql, id, { ...refused, abandonedBecause: 'gone' })
  t.match(await command('replay', id), { complaint: /secret was deleted .* on stdin/ })
  t.match(await command('replay', id, 'x'.repeat(257)), { complaint: /256 bytes/ })
  t.match(await readDelivery(sql, id), { state: 'abandoned', secret: null })

  t.match(await command('replay', id, 'new\n'), { lines: [/"was":"abandoned"/] })
  const row = await readDelivery(sql, id)
  t.match(row, { state: 'pending', secret: 'new', attempts: 1, due_at: Date })
  t.match(await command('replay', id, 'new'), { complaint: /still under way/ })
  t.match((await readAttempts(sql, id)).at(-1), {
    type: 'webhook.replayed',
    data: { submission: id },
    metadata: { request: String, actor: { api_key: keyId } },
  })
  const [due] = await sql`select * from runledger.read_delivery(${row.webhook_id})`
  t.match(due, { attempt: 2, round_attempt: 1, version: 3, secret: 'new' })
  await recordDelivery(sql, id, delivered)
  t.match(await readDelivery(sql, id), { state: 'delivered', secret: null, attempts: 2 })
})

t.test('of two attempts recorded after one version the second is refused', async (t) => {
  const id = await endSubmission(sql, caller, webhook)
  await recordDelivery(sql, id, { ...refused, retrySeconds: 60 })
  const second = recordDelivery(sql, id, { ...delivered, version: 0 })
  await t.rejects(second, { code: '23505' })
  const { webhook_id: webhookId, due_at: dueAt } = await readDelivery(sql, id)
  await sql`select runledger.postpone_delivery(${webhookId}, 0, 0)`
  t.strictSame((await readDelivery(sql, id)).due_at, dueAt, 'nor can a late one hurry the next')
  t.strictSame([...(await sql`select * from runledger.read_delivery(${webhookId})`)], [])
})

t.test('the command line passes the secret on', async (t) => {
  const id = await endSubmission(sql, caller, webhook)
  await recordDelivery(sql, id, delivered)
  const words = ['webhooks', 'replay', id]
  const answer = await runAsProcess(words, environment, 'from a file\n')
  t.match(answer, { status: 0, out: /"replayed":true,"was":"delivered"/ })
  t.match(await readDelivery(sql, id), { state: 'pending', secret: 'from a file' })
})

t.test('no promise is broken', async (t) => {
  t.strictSame(await findBroken(sql), [])
})
