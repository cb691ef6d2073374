// All pools of a process share one limit of new connections a second. Otherwise a worker's jobs that lose their connections
// at once would storm a server that is away or restarts.
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createDatabase } from '#database'
import { createLog } from '#log'
import { createQueuePool } from '../../src/job/queue/pool.ts'

const perSecond = 15

t.test('a worker with fifty webhooks asks for its share and no more', async (t) => {
  let attempts = 0
  const server = createServer((socket) => {
    attempts += 1
    socket.destroy()
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const url = `postgres://nobody:secret@127.0.0.1:${(server.address() as AddressInfo).port}/none`
  const log = createLog('test', 'silent')
  const queues = [createQueuePool(url, 3, log), createQueuePool(url, 3, log)]
  for (const { beginRetrying } of queues) beginRetrying()
  const sql = createDatabase({ url, connections: 4, name: 'pace' })
  let isOver = false

  const startedAt = performance.now()
  const asking = [
    ...queues.flatMap(({ pool }) =>
      Array.from({ length: 50 }, async () => (await pool.connect()).query('select 1')),
    ),
    ...Array.from({ length: 20 }, async () => {
      while (!isOver) await sql`select 1`.catch(() => {})
    }),
  ]
  for (const each of asking) void Promise.resolve(each).catch(() => {})
  while (attempts < perSecond || performance.now() - startedAt < 1500) await sleep(20)
  const asked = attempts
  const seconds = Math.ceil((performance.now() - startedAt) / 1000)
  isOver = true
  t.comment(`${asked} connections`)
  t.ok(asked <= perSecond * seconds, `${asked} in ${seconds} s`)
  t.ok(asked >= perSecond, 'and does ask')
  server.close()
  await sql.end({ timeout: 0 })
  // The calls that wait for a connection would wait for ever, so the process exits.
  setTimeout(() => process.exit(process.exitCode ?? 0), 500).unref()
})
