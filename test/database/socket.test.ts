// A connection whose other end has vanished without notice is abandoned, and new connections replace it.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import type { Test } from 'tap'
import { createDatabase } from '#database'
import type { Database } from '#database'
import { openTestDatabase } from '../helper/database.ts'
import { startTcpProxy } from '../helper/tcp-proxy.ts'

const { url } = await openTestDatabase(t)
const proxy = await startTcpProxy(url)
t.teardown(() => proxy.close())

/** Creates a pool with one connection, through the proxy. */
function connect(test: Test, statementSeconds: number): Database {
  const sql = createDatabase({ url: proxy.url, connections: 1, name: 'watched', statementSeconds })
  test.teardown(() => sql.end({ timeout: 1 }))
  return sql
}

t.test('a silent connection fails its statement, and the next one gets a new one', async (t) => {
  const sql = connect(t, 2)
  const [before] = await sql`select pg_backend_pid() as pid`
  await sleep(500) // so that the next write is seen separately from this one
  proxy.abandon()
  await t.rejects(sql`select 1`, { code: 'CONNECTION_CLOSED' })
  const [after] = await sql`select pg_backend_pid() as pid`
  t.not(after?.['pid'], before?.['pid'])
})

t.test('an idle connection and a slow statement are left alone', async (t) => {
  const [sql, patient] = [connect(t, 4), connect(t, 20)]
  const [before] = await sql`select pg_backend_pid() as pid`
  await sleep(7500) // longer than a connection may stay silent after a write
  const [after] = await sql`select pg_backend_pid() as pid`
  t.equal(after?.['pid'], before?.['pid'])
  const [first] = await patient`select pg_backend_pid() as pid`
  const [slow] = await patient`select pg_backend_pid() as pid, pg_sleep(3)`
  t.equal(slow?.['pid'], first?.['pid'])
})

t.test('notifications arrive on a connection that is idle for long', async (t) => {
  const sql = connect(t, 2)
  const received: string[] = []
  let listens = 0
  await sql.listen(
    'test_channel',
    (payload) => received.push(payload),
    () => (listens += 1),
  )
  await sleep(5000)
  await sql.notify('test_channel', 'x')
  while (received.length === 0) await sleep(20)
  t.strictSame(received, ['x'])
  t.equal(listens, 1)
})
