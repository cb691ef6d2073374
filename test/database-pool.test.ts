// A pool whose connections all went silent, or are hung up on: it is whole again at once, and does not storm the server.
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createDatabase } from '#database'
import { createTestDatabase } from './helper/database.ts'
import { startTcpProxy } from './helper/tcp-proxy.ts'

const { url, drop } = await createTestDatabase()
t.teardown(drop)

t.test('when one connection is found silent, the idle ones are replaced with it', async (t) => {
  const proxy = await startTcpProxy(url)
  const sql = createDatabase({ url: proxy.url, connections: 5, name: 'pool', statementSeconds: 1 })
  t.teardown(async () => {
    await sql.end({ timeout: 1 })
    await proxy.close()
  })
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
  await sleep(2000)
  t.ok(attempts > 2, `${attempts} attempts`)
  t.ok(attempts < 100, `${attempts} attempts`)
  await sql.end({ timeout: 0 })
  server.close()
})
