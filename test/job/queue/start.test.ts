// A worker starts while connections break. Some of pg's errors then have no code.
import { connect, createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { createLog } from '#log'
import { startRunners } from '../../../src/job/queue/queue.ts'
import type { ExecutingTask } from '../../../src/job/queue/queue.ts'
import { createTestDatabase } from '../../helper/database.ts'

const { url, drop } = await createTestDatabase()
t.teardown(drop)

/** A task that takes no jobs. */
const idle: ExecutingTask = {
  continueTask: 'continue:nobody',
  goOn: async () => {},
  keepSlots() {},
  languages: ['python'],
  isSuspended: false,
  run: async () => {},
  putBack: async () => {},
  notifyReturned: async () => {},
  listenReturned() {},
  requeueLost: async () => {},
  tick() {},
  settled: async () => {},
}

t.test('connections that are hung up on are asked for until one holds', async (t) => {
  const to = new URL(url)
  let refused = 0
  const door = createServer((client) => {
    client.on('error', () => {})
    if (refused < 3) {
      refused += 1
      // Hangs up after the client's first message, because an earlier hang-up gives an error with a code.
      client.once('data', () => client.end())
      return
    }
    const server = connect(Number(to.port), to.hostname)
    client.pipe(server).pipe(client)
    server.on('error', () => client.destroy())
  })
  t.teardown(() => door.close())
  await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve))
  const through = new URL(url)
  through.hostname = '127.0.0.1'
  through.port = String((door.address() as AddressInfo).port)
  const queue = await startRunners({
    url: through.href,
    execute: idle,
    executions: 1,
    deliver: async () => {},
    deliveries: 1,
    log: createLog('test', 'silent'),
  })
  t.equal(refused, 3)
  await queue.stop()
})
