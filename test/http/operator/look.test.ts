// GET /api/operator/overview over HTTP: all operators who look share one read, and it counts what this process refused.
import t from 'tap'
import { createRefusals } from '../../../src/http/operator/route.ts'
import { issueOperatorKey } from '../../helper/operator.ts'
import { startFreshServer } from '../../helper/server.ts'

const { call, issue, sql } = await startFreshServer(t, { role: 'runledger_api' })
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

t.test('two hundred looks at once share one read', async (t) => {
  const { key } = await issueOperatorKey(sql)
  const startedAt = performance.now()
  const first = await call('GET', path, { key })
  const looks = await Promise.all(Array.from({ length: 200 }, () => call('GET', path, { key })))
  const times = new Set([first, ...looks].map(({ body }) => body.at as string))
  const seconds = (performance.now() - startedAt) / 1000
  t.ok(times.size <= 2 + seconds, `${times.size} looks in ${seconds} s for 201 who look`)
})

t.test('what a key submits is told beside its limits', async (t) => {
  const key = await issue('beta')
  await call('POST', '/api/submit', { key, body: { language: 'python', code: '' } })
  const operator = await issueOperatorKey(sql)
  for (;;) {
    const { body } = await call('GET', path, { key: operator.key })
    if (body.accounts.length === 0) continue // a shared overview from before the submission
    t.match(body.accounts, [
      { waiting: 1, keys: [{ requests: 2, requests_per_minute: 60, admitted: 1 }] },
    ])
    return
  }
})

t.test('how the last hours went is told, with what was refused, to operators alone', async (t) => {
  const series = '/api/operator/series'
  const key = await issue()
  t.equal((await call('GET', series, { key })).status, 403)
  await call('POST', '/api/submit', { key, body: { language: 'python', code: '' } })
  const operator = await issueOperatorKey(sql, { readOnly: true })
  const { status, body } = await call('GET', series, { key: operator.key })
  t.equal(status, 200)
  t.match(body, { step_seconds: 120, share: 1 })
  t.equal(body.points.length, 90)
  t.match(body.points.at(-1), { ended: 0, failed: 0 })
  t.ok(
    body.points.some(
      (point: { received: number; waiting: number }) => point.received > 0 && point.waiting > 0,
    ),
  )
  const refused = body.points.reduce(
    (sum: number, one: { refused: number }) => sum + one.refused,
    0,
  )
  t.ok(refused >= 1)
  const again = await call('GET', series, { key: operator.key })
  t.equal(again.body.at, body.at, 'a look a moment later is the same')
  t.equal((await call('GET', `${series}?hours=9`, { key: operator.key })).status, 400)
})

t.test('refusals are counted by the minute, and forgotten after some hours', async (t) => {
  let now = 1000
  const refusals = createRefusals(() => now)
  refusals.count('queue_full')
  now += 120
  refusals.count('queue_full')
  refusals.count('forbidden')
  t.strictSame(refusals.read(300, 0), { queue_full: 2, forbidden: 1 })
  now += 200
  t.strictSame(refusals.read(300, 0), { queue_full: 1, forbidden: 1 })
  now += 600
  t.strictSame(refusals.read(300, 0), {})
  // The clock shows 32:00. The refusals were at 16:40 and 18:40, in minutes that began 960 and 840 seconds ago.
  t.strictSame(refusals.read(1200, 0), { queue_full: 2, forbidden: 1 })
  t.strictSame(refusals.read(960, 840), { queue_full: 1 })
  t.strictSame(refusals.read(840, 720), { queue_full: 1, forbidden: 1 })
  now += 200 * 60
  refusals.count('queue_full')
  t.strictSame(refusals.read(100_000, -1), { queue_full: 1 }, 'nothing is kept for ever')
})
