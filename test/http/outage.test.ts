// The database goes away and comes back: answers stay quick and plain, the process lives, service resumes by itself.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createTestDatabase } from '../helper/database.ts'
import { finish } from '../helper/execution.ts'
import { startServer } from '../helper/server.ts'
import type { Answer } from '../helper/server.ts'
import { startTcpProxy } from '../helper/tcp-proxy.ts'

const { sql, url, drop } = await createTestDatabase()
t.teardown(drop)
const proxy = await startTcpProxy(url)
const server = await startServer(t, sql, { url: proxy.url })
t.teardown(() => proxy.close())
const { call } = server
const python = { language: 'python', code: '' }

const minutes = { timeout: 600_000 }

const submit = (): Promise<Answer> => call('POST', '/api/submit', { body: python })

async function timed(work: () => Promise<Answer>): Promise<Answer & { seconds: number }> {
  const start = performance.now()
  return { ...(await work()), seconds: (performance.now() - start) / 1000 }
}

async function secondsUntil(done: () => Promise<boolean>): Promise<number> {
  const start = performance.now()
  while (!(await done())) await sleep(50)
  return (performance.now() - start) / 1000
}

for (const outage of ['stop', 'freeze'] as const) {
  t.test(
    `while the database is away (${outage}) answers are 503 unavailable in time`,
    minutes,
    async (t) => {
      t.equal((await submit()).status, 202)
      await proxy[outage]()
      const answers = await Promise.all([
        ...Array.from({ length: 30 }, () => timed(submit)),
        timed(() => call('GET', '/api/languages')),
        timed(() => call('GET', '/api/result/x')),
        timed(() => call('GET', '/readyz')),
      ])
      for (const { status, body, headers, text, seconds } of answers) {
        t.equal(status, 503)
        t.equal(body.error, 'unavailable')
        t.ok(Number(headers['retry-after']) >= 1)
        t.notMatch(text, /ECONN|CONNECTION|postgres|127\.0\.0\.1/)
        t.ok(seconds < 4, `${seconds.toFixed(2)} s`) // two, and room for a slow machine
      }
      t.equal((await call('GET', '/healthz')).status, 200, 'the process lives')
      t.equal((await call('POST', '/api/submit', { key: null, body: python })).status, 401)
      const metrics = await call('GET', '/metrics', { checked: false })
      t.match(metrics.text, /^runledger_database_up 0$/m)

      await proxy.restore()
      const seconds = await secondsUntil(async () => (await submit()).status === 202)
      t.ok(seconds < 8, `back after ${seconds.toFixed(2)} s`)
      t.comment(`back after ${seconds.toFixed(2)} s`)
      // All of the pool, not one lucky connection.
      const after = await Promise.all(Array.from({ length: 30 }, submit))
      t.ok(after.every(({ status }) => status === 202))
    },
  )

  t.test(`who waited through an outage (${outage}) gets the record`, minutes, async (t) => {
    const waiting = call('POST', '/api/submit?wait=true', { body: python })
    let rows: readonly { readonly id?: string }[] = []
    while (rows.length === 0) {
      rows = await sql`select submission_id as id from runledger.pending where awaited`
    }
    // The row is there a moment before the server has been told so; an outage in between is a 503.
    await sleep(500)
    await proxy[outage]()
    await finish(sql, rows[0]?.id ?? '', { stdout: 'x' })
    await sleep(500)
    await proxy.restore()
    const { status, body } = await waiting
    t.equal(status, 200)
    t.match(body, { id: rows[0]?.id, stdout: 'x' })
  })
}
