// The installed driver with patches/: what happens when a connection closes while a small write is pending or breaks during a
// transaction, and which of several connections gets the next statement.
import { readFileSync } from 'node:fs'
import { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createDatabase, errorCode } from '#database'
import { openTestDatabase } from '../helper/database.ts'

const { url } = await openTestDatabase(t)

t.test('it is patched', async (t) => {
  const source = readFileSync(new URL(import.meta.resolve('postgres')), 'utf8')
  t.match(source, /open = Object\.assign/, '`npm run postinstall` patches node_modules/postgres')
})

/** The sockets in the order in which they connected. */
const sockets: Socket[] = []
const connect = Reflect.get(Socket.prototype, 'connect') as (...to: unknown[]) => Socket
t.intercept(Socket.prototype, 'connect', {
  configurable: true,
  value(this: Socket, ...to: unknown[]) {
    sockets.push(this)
    return connect.apply(this, to)
  },
})

t.test('connections that close together, one of them in use, all connect again', async (t) => {
  const sql = createDatabase({ url, connections: 2, name: 'driver test' })
  t.teardown(() => sql.end({ timeout: 1 }))
  const ask = (): Promise<unknown[]> =>
    Promise.all([0, 1].map(async () => sql`select pg_sleep(0.1)`))
  sockets.length = 0
  await ask()
  t.equal(sockets.length, 2)
  // In the turn in which the first connection closes, the second gets a statement, and it closes before the write.
  const failed = sockets.map((socket) => {
    socket.destroy()
    return new Promise((done) => {
      socket.once('close', () => done(sql`select 1`.catch((error: unknown) => errorCode(error))))
    })
  })
  await Promise.all(failed)
  const answers = await Promise.race([ask(), sleep(20_000)])
  t.ok(answers, 'both answer')
})

t.test('a reserved connection that is gone refuses what comes then, and ends nobody', async (t) => {
  const sql = createDatabase({ url, connections: 1, name: 'driver test' })
  t.teardown(() => sql.end({ timeout: 1 }))
  const reserved = await sql.reserve()
  await reserved`select 1`
  sockets.at(-1)?.destroy()
  await sleep(50)
  const refusal = await reserved`select 2`.then(
    () => null,
    (error: unknown) => errorCode(error),
  )
  t.equal(refusal, 'CONNECTION_CLOSED')
  reserved.release()
})

t.test('a transaction whose connection breaks leaves no statement to wait for', async (t) => {
  const sql = createDatabase({ url, connections: 1, name: 'driver test' })
  t.teardown(() => sql.end({ timeout: 1 }))
  const broken = sql.begin(async (inside) => {
    await inside`select 1`
    const answer = inside`select pg_sleep(60)`.execute()
    // With an error, as when the other end resets the connection. The rollback comes before the socket's end.
    setTimeout(() => sockets.at(-1)?.destroy(new Error('reset')), 100)
    await answer
  })
  await t.rejects(broken)
  // Only the first statement on the new connection does not come after the one that was left.
  for (let n = 0; n < 3; n += 1) {
    const [row] = await sql<[{ n: number }]>`select ${n}::int as n`
    t.equal(row.n, n)
  }
})

t.test('who asks one thing after another is answered by the same connection', async (t) => {
  const sql = createDatabase({ url, connections: 3, name: 'driver test' })
  t.teardown(() => sql.end({ timeout: 1 }))
  const ask = async (): Promise<number> => {
    const [row] = await sql<[{ pid: number }]>`select pg_backend_pid() as pid from pg_sleep(0.05)`
    return row.pid
  }
  const together = await Promise.all([ask(), ask(), ask()])
  t.equal(new Set(together).size, 3, 'several at once have one each')
  t.equal(new Set([await ask(), await ask(), await ask()]).size, 1)
})
