// A pool whose connections all went silent, or are hung up on: it is whole again at once, and does not storm the server.
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import type { Test } from 'tap'
import { createDatabase } from '#database'
import type { Database } from '#database'
import { createTestDatabase } from '../helper/database.ts'
import { startTcpProxy } from '../helper/tcp-proxy.ts'
import type { TcpProxy } from '../helper/tcp-proxy.ts'

const { url, drop } = await createTestDatabase()
t.teardown(drop)

/** A pool whose way to the server is a proxy; both end with the test. */
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
  const { proxy, sql } = await startPool(t, { connections: 5, statementSeconds: 1 })
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
  const { proxy, sql } = await startPool(t, { connections: 1, statementSeconds: 1 })
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

t.test('a statement that nobody answered is answered when the network is back', async (t) => {
  const { proxy, sql } = await startPool(t, { connections: 1, statementSeconds: 2 })
  proxy.blackHole()
  // It would fail after five seconds, and the connection that waits is lost for ever: only one that is made anew before
  // then can answer.
  const answer = sql`select 1 as one`
  answer.catch(() => {})
  while (proxy.attempts < 2) await sleep(50)
  await sleep(500)
  const asked = proxy.attempts
  t.ok(asked <= 5, `${asked} connections: not in haste`)
  await proxy.restore()
  t.equal((await answer)[0]?.['one'], 1)
})

t.test('a pool that nobody uses finds out too; one that holds a lock keeps its own', async (t) => {
  const proxy = await startTcpProxy(url)
  const settings = { url: proxy.url, connections: 1, statementSeconds: 1 }
  const beating = createDatabase({ ...settings, name: 'beating', heartbeat: true })
  const idle = createDatabase({ ...settings, name: 'idle' })
  const holding = createDatabase({ ...settings, name: 'holding', holdsSession: true })
  const pools = [beating, idle, holding]
  t.teardown(async () => {
    await Promise.all(pools.map((pool) => pool.end({ timeout: 1 })))
    await proxy.close()
  })
  const readPids = async (these: typeof pools): Promise<number[]> =>
    Promise.all(
      these.map(async (pool) => (await pool`select pg_backend_pid() as pid`)[0]?.['pid'] as number),
    )
  const before = await readPids(pools)
  await sleep(500)
  proxy.abandon()
  await sleep(5000)
  // The heartbeat was not answered: neither pool's statement has to fail to find that out.
  const after = await readPids([beating, idle])
  t.ok(after.every((pid) => !before.includes(pid)))
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
  const { url: own, sql: admin, drop: dropOwn } = await createTestDatabase()
  t.teardown(dropOwn)
  const name = new URL(own).pathname.slice(1)
  await admin`alter database ${admin(name)} set synchronous_commit = off`
  await admin`alter database ${admin(name)} set default_transaction_isolation = 'serializable'`
  const sql = createDatabase({ url: own, connections: 1, name: 'pool' })
  const [row] = await sql`
    select current_setting('synchronous_commit') as commit, current_setting('transaction_isolation') as isolation`
  await sql.end({ timeout: 1 })
  t.strictSame({ ...row }, { commit: 'on', isolation: 'read committed' })
})
