// Failures of the service itself: the answer is 500 with an id that is in the log, and nothing internal.
import { Writable } from 'node:stream'
import { pino } from 'pino'
import t from 'tap'
import { withDatabase } from '../helper/database.ts'
import { startFreshServer, startServer } from '../helper/server.ts'

const lines: string[] = []
const log = pino(
  new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(chunk.toString())
      done()
    },
  }),
)
const { call, sql, url } = await startFreshServer(t, { log })
const elsewhere = await startServer(t, sql, { url: withDatabase(url, 'postgres'), log })
// Makes every request with a key fail, in a way that neither a release nor an operator causes.
await sql`alter table runledger.api_key rename column digest to lost`

t.test('an unforeseen failure is 500 with an id, without the driver’s words', async (t) => {
  for (const [method, path] of [
    ['GET', '/api/languages'],
    ['POST', '/api/submit'],
    ['GET', '/api/result/x'],
  ] as const) {
    lines.length = 0
    const { status, body, headers, text } = await call(method, path, {
      ...(method === 'POST' && { body: { language: 'py', code: '' } }),
    })
    t.equal(status, 500)
    t.strictSame(Object.keys(body), ['error', 'message', 'fault', 'retry', 'request_id'])
    t.equal(body.error, 'internal')
    t.equal(body.request_id, headers['x-request-id'])
    t.notMatch(text, /runledger\.|schema|relation|function|select|postgres|\bat \//i)
    const logged = lines.filter((line) => line.includes(body.request_id))
    t.equal(logged.length, 1)
    t.match(logged[0], /does not exist/)
  }
})

t.test('a database without our schema is not ready', async (t) => {
  const { status, body, text } = await elsewhere.call('GET', '/readyz', { key: null })
  t.equal(status, 503)
  t.equal(body.error, 'unavailable')
  t.notMatch(text, /runledger\.|schema|relation/)
  t.equal((await elsewhere.call('GET', '/healthz', { key: null })).status, 200)
})
