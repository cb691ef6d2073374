// A webhook's address is checked against the operator's rules when it is submitted, not hours later.
import t from 'tap'
import { parseRanges } from '#webhook-address'
import { createTestDatabase } from '../helper/database.ts'
import { startServer } from '../helper/server.ts'
import { createCaller } from '../helper/submission.ts'

const { sql, url, drop } = await createTestDatabase()
t.teardown(drop)
const { key } = await createCaller(sql)
const usual = await startServer(t, sql, { url })
const { ranges } = parseRanges('127.0.0.0/8, 10.0.0.0/8')
const other = await startServer(t, sql, { url, webhookRules: { ranges, ports: [443, 8443] } })

const cases = [
  ['https://a.test/', 202, 202],
  ['https://a.test:443/', 202, 202],
  ['https://a.test:8443/', 400, 202],
  ['https://a.test:8444/', 400, 400],
  ['https://localhost/', 400, 202],
  ['https://sub.localhost:8443/', 400, 202],
  ['https://127.0.0.1/', 400, 202],
  ['https://localhost.test/', 202, 202],
  ['https://[::1]/', 400, 400],
] as const

t.test('a webhook that can never be sent is refused at once', async (t) => {
  for (const [address, expected, allowed] of cases) {
    const body = { language: 'python', code: '', webhook_url: address, webhook_secret: 's' }
    for (const [server, status] of [
      [usual, expected],
      [other, allowed],
    ] as const) {
      const answer = await server.call('POST', '/api/submit', { key, body })
      t.equal(answer.status, status, `${address} ${answer.text}`)
      if (status === 400) t.match(answer.body.issues, [{ path: 'webhook_url' }])
    }
  }
  const body = { language: 'python', code: '', webhook_url: 'https://a.test:8444/', webhook_secret: 's' } // prettier-ignore
  const { body: refused } = await other.call('POST', '/api/submit', { key, body })
  t.match(refused.message, /must not have port 8444: the service's operator allows 443, 8443/)
})
