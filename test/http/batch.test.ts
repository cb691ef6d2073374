// POST /api/submit/batch: one request, one transaction, an answer for each item.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { findBroken } from '../helper/ledger.ts'
import { startFreshServer, startServer, untilAvailable } from '../helper/server.ts'
import type { Answer, Call } from '../helper/server.ts'
import { createCaller } from '../helper/submission.ts'

const { call, sql, url } = await startFreshServer(t)
const python = { language: 'python', code: 'print(1)' }

const batch = (submissions: unknown, rest: Call = {}): Promise<Answer> =>
  call('POST', '/api/submit/batch', { body: { submissions }, ...rest })

async function countSubmissions(): Promise<number> {
  const [row] = await sql`select count(*) as count from runledger.pending`
  return row?.['count'] as number
}

t.test('every item has its answer in its place; a bad one does not stop the others', async (t) => {
  const before = await countSubmissions()
  const { status, body } = await batch([
    python,
    { language: 'latin', code: 1, '\0': 1 },
    { language: 'cxx', code: '\0é', stdin: '\0', expected_stdout: 'x' },
    null,
    { ...python, webhook_url: 'https://a.test/', webhook_secret: 'é' },
  ])
  t.equal(status, 202)
  t.match(body.submissions, [
    { id: String },
    { error: 'invalid_request', message: String, issues: [{ path: 'language' }, { path: 'code' }, { path: '\0' }] },
    { id: String },
    { error: 'invalid_request', issues: [{ path: '', message: 'must be a JSON object' }] },
    { id: String },
  ]) // prettier-ignore
  t.equal(await countSubmissions(), before + 3)
  const [stored] = await sql`
    select code, stdin, expected_stdout from runledger.body where submission_id = ${body.submissions[2].id}`
  t.equal(stored?.['code'].toString(), '\0é')
  t.equal(stored?.['stdin'].toString(), '\0')
  t.equal(stored?.['expected_stdout'].toString(), 'x')
  const [delivery] = await sql`
    select secret, state from runledger.delivery where submission_id = ${body.submissions[4].id}`
  t.match(delivery, { secret: 'é', state: 'waiting' })
  t.strictSame(await findBroken(sql), [])
})

t.test('its items are a list, and there is nothing beside them', async (t) => {
  for (const submissions of [undefined, null, {}, 'x']) {
    const { status, body } = await batch(submissions)
    t.equal(status, 400)
    t.equal(body.issues[0].path, 'submissions')
  }
  const other = await call('POST', '/api/submit/batch', { body: { submissions: [python], x: 1 } })
  t.strictSame(other.body.issues, [{ path: 'x', message: 'is not a field of a batch' }])
  t.equal((await call('POST', '/api/submit/batch', { body: [python] })).status, 400)
})

t.test('it is one request of the rate limit, and at most ten of a key run at once', async (t) => {
  const { key, apiKeyId } = await createCaller(sql, 'beta')
  const { headers, status } = await batch(
    Array.from({ length: 20 }, () => python),
    { key },
  )
  t.equal(status, 202)
  t.match(headers['ratelimit'], /r=58;/)
  const [row] = await sql`
    select count(*) filter (where admitted) as admitted, count(*) as all
    from runledger.pending where api_key_id = ${apiKeyId}`
  t.match(row, { admitted: 10, all: 20 })
})

t.test('when the good ones do not all fit none is received', async (t) => {
  const before = await countSubmissions()
  const { call } = await startServer(t, sql, { url, queueCapacity: before + 3 })
  const submissions = [python, python, { bad: 1 }, python, python]
  const key = randomUUID()
  const headers = { 'Idempotency-Key': key }
  const refused = await call('POST', '/api/submit/batch', { headers, body: { submissions } })
  t.equal(refused.status, 503)
  t.equal(refused.body.error, 'queue_full')
  t.ok(Number(refused.headers['retry-after']) >= 1)
  t.equal(await countSubmissions(), before)
  const fitting = await call('POST', '/api/submit/batch', {
    headers,
    body: { submissions: submissions.slice(1) },
  })
  t.equal(fitting.status, 202, 'the key was not taken')
  t.equal(await countSubmissions(), before + 3)
})

t.test('an Idempotency-Key covers the whole batch', async (t) => {
  const headers = { 'Idempotency-Key': randomUUID() }
  const submissions = [{ '\0': 1 }, python, python]
  const before = await countSubmissions()
  let refused = 0
  const ask = async (): Promise<Answer> => {
    const answer = await batch(submissions, { headers })
    if (answer.status === 503) refused += 1
    return answer
  }
  const answers = await Promise.all(Array.from({ length: 20 }, () => untilAvailable(ask)))
  t.equal(new Set(answers.map(({ text }) => text)).size, 1)
  const replayed = answers.filter(
    ({ headers }) => headers['idempotency-replayed'] === 'true',
  ).length
  // A slow machine may answer 503 to the request that was stored.
  t.ok(replayed === 19 || (replayed === 20 && refused > 0), `${replayed} replayed`)
  t.equal(await countSubmissions(), before + 2)
  const other = await batch([python], { headers })
  t.equal(other.headers['idempotency-mismatch'], 'true')
  t.equal(other.text, answers[0]?.text)
})

t.test('one key for a batch and a single submission still makes nothing new', async (t) => {
  const first = { 'Idempotency-Key': randomUUID() }
  const { body } = await batch([python, python], { headers: first })
  const single = await call('POST', '/api/submit', { headers: first, body: python })
  t.equal(single.body.id, body.submissions[0].id)
  t.equal(single.headers['idempotency-mismatch'], 'true')

  const second = { 'Idempotency-Key': randomUUID() }
  const { body: one } = await call('POST', '/api/submit', { headers: second, body: python })
  const many = await batch([python, python], { headers: second })
  t.strictSame(many.body, { submissions: [{ id: one.id }] })
  t.equal(many.headers['idempotency-mismatch'], 'true')
})
