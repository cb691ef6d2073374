// GET /api/operator/overview over HTTP: shared by all who look, with what this process refused.
import t from 'tap'
import { createRefusals } from '../../../src/http/operator/refusal.ts'
import type { ApiRequest, Handler } from '../../../src/http/request.ts'
import { createTestDatabase } from '../../helper/database.ts'
import { issueOperatorKey } from '../../helper/operator.ts'
import { startServer } from '../../helper/server.ts'

const { sql, url, drop } = await createTestDatabase()
t.teardown(drop)
// With the web process's rights alone.
const { call, issue } = await startServer(t, sql, { url: `${url}?role=runledger_api` })
const path = '/api/operator/overview'

t.test('every operator sees it, and whether his key may change anything', async (t) => {
  for (const readOnly of [true, false]) {
    const { key } = await issueOperatorKey(sql, { readOnly })
    const { status, body } = await call('GET', path, { key })
    t.equal(status, 200)
    t.match(body, { oldest: null, read_only: readOnly, load: { queued: 0 } })
  }
})

t.test('what this process refused is told by its code', async (t) => {
  const { key } = await issueOperatorKey(sql)
  const count = async (code: string): Promise<number> =>
    (await call('GET', path, { key })).body.refusals.counts[code] ?? 0
  const before = await count('invalid_request')
  await call('POST', '/api/submit', { body: {} })
  await call('POST', '/api/submit', { body: {}, key: 'rl_live_none' })
  t.equal(await count('invalid_request'), before + 1)
  t.equal(await count('unauthorized'), 1)
})

t.test('who looks again is neither asked about nor costs a statement', async (t) => {
  const { key } = await issueOperatorKey(sql)
  const first = await call('GET', path, { key })
  const looks = await Promise.all(Array.from({ length: 200 }, () => call('GET', path, { key })))
  const times = new Set([first, ...looks].map(({ body }) => body.at as string))
  t.ok(times.size < 10, `${times.size} looks for 201 who look`)
})

t.test('what a key submits is told beside its limits', async (t) => {
  const key = await issue('beta')
  await call('POST', '/api/submit', { key, body: { language: 'python', code: '' } })
  const operator = await issueOperatorKey(sql)
  for (;;) {
    const { body } = await call('GET', path, { key: operator.key })
    if (body.accounts.length === 0) continue // a look of a moment ago
    t.match(body.accounts, [
      { waiting: 1, keys: [{ requests: 2, requests_per_minute: 60, admitted: 1 }] },
    ])
    return
  }
})

t.test('refusals are forgotten after five minutes', async (t) => {
  let now = 1_000_000
  const refusals = createRefusals(() => now)
  const refuse = (): void => {
    const request = { problem: 'queue_full' } as ApiRequest
    const response = { once: (_: string, listener: () => void) => listener() }
    void refusals.count(request, response as unknown as Parameters<Handler>[1], () => {})
  }
  refuse()
  now += 120_000
  refuse()
  t.match(refusals.read(), { seconds: 120, counts: { queue_full: 2 } })
  now += 200_000
  t.strictSame(refusals.read().counts, { queue_full: 1 })
  t.ok(refusals.read().seconds <= 300)
  now += 600_000
  t.strictSame(refusals.read().counts, {})
})
