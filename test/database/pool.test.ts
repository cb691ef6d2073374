// A pool whose connections all went silent or were closed by the server is whole again at once, and does not storm the server.
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import type { Test } from 'tap'
import { createDatabase } from '#database'
import type { Database } from '#database'
import { openTestDatabase } from '../helper/database.ts'
import { startTcpProxy } from '../helper/tcp-proxy.ts'
import type { TcpProxy } from '../helper/tcp-proxy.ts'

const { url } = await openTestDatabase(t)

/** Starts a pool that connects through a proxy; both end with the test. */
async function startPool(
  t: Test,
  settings: { readonly connections: number; readonly statementSeconds: number },
): Promise<{ readonly proxy: TcpProxy; readonly sql: Database }> {
  const proxy = await startTcpProxy(url)
  const sql = createDatabase({ url: proxy.url, name: 'pool', ...settings })
  t.teardown(async () => {
    await sql.end({ timeout: 1 })
    await proxy.close()
  })
  return { proxy, sql }
}

t.test('when one connection is found silent, the idle ones are replaced with it', async (t) => {
  const { proxy, sql } = await startPool(t, { connections: 5, statementSeconds: 2 })
  let listened = 0
  await sql.listen(
    'something',
    () => {},
    () => (listened += 1),
  )
  await Promise.all(Array.from({ length: 5 }, () => sql`select pg_sleep(0.1)`))
  await sleep(500)
  proxy.abandon()
  await t.rejects(sql`select 1`, { code: 'CONNECTION_CLOSED' })
  const answers = await Promise.all(Array.from({ length: 5 }, () => sql`select 1 as one`))
  t.equal(answers.length, 5, 'no other statement had to fail first')
  while (listened < 2) await sleep(50)
  t.pass('it listens again')
})

t.test('a question that is lost right behind an answer is missed too', async (t) => {
  const { proxy, sql } = await startPool(t, { connections: 1, statementSeconds: 2 })
  for (let round = 0; round < 3; round += 1) {
    await sql`select 1`
    proxy.abandon()
    await t.rejects(sql`select 1`, { code: 'CONNECTION_CLOSED' })
  }
  const [row] = await sql`select pg_backend_pid() as pid`
  await sleep(3000)
  const [later] = await sql`select pg_backend_pid() as pid`
  t.equal(later?.['pid'], row?.['pid'], 'one that was answered is left alone')
})

t.test('who asks while the network is away is told in time, and answered later', async (t) => {
  const { proxy, sql } = await startPool(t, { connections: 1, statementSeconds: 2 })
  proxy.blackHole()
  await t.rejects(sql`select 1`, { code: 'CONNECT_TIMEOUT' })
  // This statement waits on a connection whose packets are lost.
  sql`select 1`.catch(() => {})
  while (proxy.attempts < 2) await sleep(50)
  t.ok(proxy.attempts <= 3, 'not in haste')
  await proxy.restore()
  const [row] = await sql`select 1 as one`.catch(async () => sql`select 1 as one`)
  t.equal(row?.['one'], 1)
})

t.test('a pool of its own keeps its connection when another one finds out', async (t) => {
  const proxy = await startTcpProxy(url)
  const settings = { url: proxy.url, connections: 1, statementSeconds: 2 }
  const asking = createDatabase({ ...settings, name: 'asking' })
  const holding = createDatabase({ ...settings, name: 'holding' })
  t.teardown(async () => {
    await Promise.all([asking, holding].map((pool) => pool.end({ timeout: 1 })))
    await proxy.close()
  })
  await Promise.all([asking, holding].map((pool) => pool`select 1`))
  await sleep(500)
  proxy.abandon()
  await t.rejects(asking`select 1`, { code: 'CONNECTION_CLOSED' })
  await t.rejects(
    holding`select 1`,
    { code: 'CONNECTION_CLOSED' },
    'it finds out by its own silence',
  )
})

t.test('a server that hangs up at once is not asked a thousand times a second', async (t) => {
  let attempts = 0
  const server = createServer((socket) => {
    attempts += 1
    socket.on('error', () => {})
    socket.end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const sql = createDatabase({
    url: `postgres://a@127.0.0.1:${port}/a`,
    connections: 2,
    name: 'pool',
  })
  for (let count = 0; count < 2; count += 1) sql`select 1`.catch(() => {})
  const began = performance.now()
  while (attempts <= 2) await sleep(20)
  await sleep(1000)
  const seconds = (performance.now() - began) / 1000
  t.ok(attempts < 50 * seconds, `${attempts} attempts in ${seconds} s`)
  await sql.end({ timeout: 0 })
  server.close()
})

t.test('a commit waits for the disk, whatever the database was set to', async (t) => {
  const { url: own, sql: admin } = await openTestDatabase(t)
  const name = new URL(own).pathname.slice(1)
  await admin`alter database ${admin(name)} set synchronous_commit = off`
  await admin`alter database ${admin(name)} set default_transaction_isolation = 'serializable'`
  const sql = createDatabase({ url: own, connections: 1, name: 'pool' })
  const [row] = await sql`
    select current_setting('synchronous_commit') as commit, current_setting('transaction_isolation') as isolation`
  await sql.end({ timeout: 1 })
  t.strictSame({ ...row }, { commit: 'on', isolation: 'read committed' })
})
