// Several hosts in DATABASE_URL: connections of both drivers go to the host that takes writes, whatever the other hosts do.
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import type { Test } from 'tap'
import { checkLogin, createDatabase, errorCode, findWritable, splitHosts } from '#database'
import { createLog } from '#log'
import { migrate } from '#migration'
import { createQueuePool } from '../../src/job/queue/pool.ts'
import { openTestDatabase } from '../helper/database.ts'
import { startTcpProxy } from '../helper/tcp-proxy.ts'

const { url } = await openTestDatabase(t)
const proxies = await Promise.all([startTcpProxy(url), startTcpProxy(url)])
t.teardown(() => Promise.all(proxies.map((proxy) => proxy.close())))
const [first, second] = proxies
// Longer than findWritable keeps an answer.
const keptMilliseconds = 600

/** Returns the URL of the test's database with these hosts. */
const name = (...hosts: readonly string[]): string =>
  url.replace(new URL(url).host, hosts.join(','))
const hostOf = (address: string): string => new URL(address).host
const both = name(hostOf(first.url), hostOf(second.url))

/**
 * Starts a server that speaks enough of the protocol to say that it is a standby. With `greets` false it never answers, like
 * a frozen server.
 * @returns its host and port.
 */
async function startStandby(t: Test, greets: boolean): Promise<string> {
  const message = (type: string, ...parts: readonly (string | number[])[]): Buffer => {
    const body = Buffer.concat(
      parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))),
    )
    const length = Buffer.alloc(4)
    length.writeInt32BE(body.length + 4)
    return Buffer.concat([Buffer.from(type), length, body])
  }
  const ready = message('Z', 'I')
  const server = createServer((socket) => {
    let isGreeted = false
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      if (!greets) return
      if (!isGreeted) socket.write(Buffer.concat([message('R', [0, 0, 0, 0]), ready]))
      else if (String(chunk).startsWith('Q'))
        socket.write(
          Buffer.concat([
            message('T', [0, 1], 'isStandby\0', [0, 0, 0, 0, 0, 0, 0, 0, 0, 16, 0, 1, 255, 255, 255, 255, 0, 0]), // prettier-ignore
            message('D', [0, 1, 0, 0, 0, 1], 't'),
            message('C', 'SELECT 1\0'),
            ready,
          ]),
        )
      isGreeted = true
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

t.test('an address has a host or more', async (t) => {
  t.strictSame(splitHosts('postgres://u:a%2Cb@one:1,[::1],two:2/name?x=1,2'), [
    'postgres://u:a%2Cb@one:1/name?x=1,2',
    'postgres://u:a%2Cb@[::1]/name?x=1,2',
    'postgres://u:a%2Cb@two:2/name?x=1,2',
  ])
  t.strictSame(splitHosts('postgres://one'), ['postgres://one'])
})

t.test('the host that takes writes is found beside others', async (t) => {
  const address = name(
    await startStandby(t, false),
    await startStandby(t, true),
    '127.0.0.1:1',
    hostOf(first.url),
  )
  const { host, port } = await findWritable(address)
  t.equal(`${host}:${port}`, hostOf(first.url))
  const sql = createDatabase({ url: address, connections: 2, name: 'hosts' })
  t.teardown(() => sql.end({ timeout: 1 }))
  await sql`create temporary table written ()`
  const { pool } = createQueuePool(address, 2, createLog('test', 'silent'))
  t.teardown(() => pool.end())
  await pool.query('create temporary table written ()')
  t.equal((await migrate(sql, address)).applied.length, 0)
})

t.test('when none takes writes the reason is told, a refused login first', async (t) => {
  const standby = await startStandby(t, true)
  const error = await findWritable(name(standby, '127.0.0.1:1')).catch((reason: unknown) => reason)
  t.equal(errorCode(error), '25006')
  t.match(error, { message: `${standby} takes no writes: it is a standby` })

  const wrong = name(standby, hostOf(first.url)).replace(/:[^:@]*@/, ':wrong@')
  const sql = createDatabase({ url: wrong, connections: 1, name: 'hosts' })
  t.teardown(() => sql.end({ timeout: 1 }))
  t.match(
    await checkLogin(sql, wrong, []),
    `PostgreSQL at ${standby}, ${hostOf(first.url)} refuses this login`,
  )
})

t.test('a pool and its listener go to another host, and come back after an outage', async (t) => {
  await second.stop()
  const sql = createDatabase({ url: both, connections: 3, name: 'hosts', statementSeconds: 1 })
  const { pool, beginRetrying } = createQueuePool(both, 2, createLog('test', 'silent'))
  t.teardown(async () => {
    await sql.end({ timeout: 1 })
    await pool.end()
  })
  beginRetrying()
  let listened = 0
  await sql.listen(
    'something',
    () => {},
    () => (listened += 1),
  )
  await pool.query('select 1')

  await first.stop()
  await sleep(keptMilliseconds)
  const failed = await Promise.allSettled(Array.from({ length: 20 }, () => sql`select 1`))
  t.ok(failed.every(({ status }) => status === 'rejected'))

  await second.restore()
  const answer = pool.query('select 2 as two')
  for (;;) {
    const asked = await Promise.allSettled(
      Array.from({ length: 6 }, () => sql`select pg_sleep(0.01)`),
    )
    if (asked.every(({ status }) => status === 'fulfilled') && listened > 1) break
    await sleep(50)
  }
  t.strictSame((await answer).rows, [{ two: 2 }])
  await first.restore()
})
