// A worker takes as many jobs at once as it has slots. A job that then finds no slot is requeued, and workers are notified. A
// worker starts while connections break, where some of pg's errors have no code.
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import type { Test } from 'tap'
import { createLog } from '#log'
import type { Logger } from '#log'
import { startQueue } from '../../../src/job/queue/queue.ts'
import type { ExecutingTask } from '../../../src/job/queue/queue.ts'
import { openTestDatabase } from '../../helper/database.ts'
import { createCaller, describeSubmission, submitNew } from '../../helper/submission.ts'
import { until } from '../../helper/until.ts'

const { sql, url } = await openTestDatabase(t)
const caller = await createCaller(sql)
const submission = describeSubmission({ code: '' })

/** A task that takes no jobs. */
const idle: ExecutingTask = {
  continueTask: 'continue:nobody',
  goOn: async () => {},
  keepSlots() {},
  languages: ['python'],
  isSuspended: false,
  run: async () => undefined,
  tick() {},
  settled: async () => {},
}

const startRuns = (
  url: string,
  execute: ExecutingTask,
  executions: number,
  log: Logger,
): ReturnType<typeof startQueue> =>
  startQueue({
    url,
    database: sql,
    execute,
    executions,
    deliver: async () => {},
    deliveries: 1,
    log,
  })

interface Started {
  readonly begun: { readonly submission: string; readonly end: () => void }[]
  /** Starts another runner beside the one whose programs still run. */
  renew(): Promise<void>
  stop(): Promise<void>
}

/** Starts a worker whose programs run until their `end` is called. */
async function start(
  executions: number,
  log: Logger = createLog('test', 'silent'),
): Promise<Started> {
  const begun: Started['begun'] = []
  let isStopped = false
  let isSuspended = false
  const execute: ExecutingTask = {
    ...idle,
    get isSuspended() {
      return isSuspended
    },
    async run(submission) {
      const { promise, resolve } = Promise.withResolvers<void>()
      begun.push({ submission, end: resolve })
      if (!isStopped) await promise
      return undefined
    },
  }
  const queue = await startRuns(url, execute, executions, log)
  const stop = async (): Promise<void> => {
    isStopped = true
    for (const { end } of begun) end()
    await queue.stop()
  }
  const renew = async (): Promise<void> => {
    for (isSuspended of [true, false]) {
      queue.tick()
      await sleep(0)
    }
  }
  return { begun, renew, stop }
}

/** Opens a proxy of the database. @returns the database's address through it. */
async function openProxy(t: Test, meet: (client: Socket) => void): Promise<string> {
  const proxy = createServer(meet)
  t.teardown(() => proxy.close())
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const through = new URL(url)
  through.hostname = '127.0.0.1'
  through.port = String((proxy.address() as AddressInfo).port)
  return through.href
}

t.test('connections that are hung up on are asked for until one holds', async (t) => {
  const to = new URL(url)
  let refused = 0
  const through = await openProxy(t, (client) => {
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
  const queue = await startRuns(through, idle, 1, createLog('test', 'silent'))
  t.equal(refused, 3)
  await queue.stop()
})

t.test('connections that break while the tasks are looked up cost no task', async (t) => {
  const to = new URL(url)
  let broken = 0
  const through = await openProxy(t, (client) => {
    const server = connect(Number(to.port), to.hostname)
    server.pipe(client)
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const)
      one.on('error', () => {}).on('close', () => other.destroy())
    client.on('data', (bytes) => {
      const isLookUp = bytes.includes('_private_tasks as tasks (identifier)')
      if (isLookUp && broken < 4) {
        broken += 1
        client.destroy()
      } else server.write(bytes)
    })
  })
  const delivered = Promise.withResolvers<void>()
  const queue = await startQueue({
    url: through,
    database: sql,
    execute: idle,
    executions: 1,
    deliver: async () => delivered.resolve(),
    deliveries: 2,
    log: createLog('test', 'silent'),
  })
  await sql`select graphile_worker.add_job('deliver', ${sql.json({ webhook: caller.apiKeyId })}::json)`
  await delivered.promise
  t.equal(broken, 4)
  await queue.stop()
})

t.test('a job that was taken while all slots stay busy is given back', async (t) => {
  let notified = 0
  const { unlisten } = await sql.listen('runledger_job', () => (notified += 1))
  const { begun, stop } = await start(1)
  const first = await submitNew(sql, caller, submission)
  await until(() => begun.length === 1)
  const second = await submitNew(sql, caller, submission)
  // Of two jobs, and of one that was returned.
  await until(() => notified > 2)
  await unlisten()
  t.equal(begun.length, 1)
  await until(async () => {
    const [job] = await sql`
      select locked_by is null and attempts = 0 as free from graphile_worker.jobs where key = ${second}`
    return job?.['free'] === true
  })
  begun[0]?.end()
  await until(() => begun.length === 2)
  t.strictSame(
    begun.map((run) => run.submission),
    [first, second],
    'it is taken again once there is a slot',
  )
  await stop()
})

async function countTaken(): Promise<number> {
  const [row] = await sql<[{ count: number }]>`
    select count(*)::integer as count from graphile_worker.jobs where locked_by is not null`
  return row.count
}

t.test('a new runner keeps no job while the programs of the last one have the slots', async (t) => {
  const busy = await start(1)
  await submitNew(sql, caller, submission)
  await until(() => busy.begun.length === 1)
  await busy.renew()
  const second = await submitNew(sql, caller, submission)
  await until(async () => (await countTaken()) === 2)
  const free = await start(1)
  await until(() => free.begun.length === 1)
  t.equal(free.begun[0]?.submission, second)
  t.equal(busy.begun.length, 1)
  await Promise.all([busy.stop(), free.stop()])
})

t.test('of several that are taken at once the first in the queue gets the slot', async (t) => {
  const { begun, stop } = await start(4)
  for (let n = 0; n < 12; n += 1) await submitNew(sql, caller, submission)
  await until(() => begun.length === 4)
  const fair = await submitNew(sql, await createCaller(sql), submission)
  // Jobs that were taken before it came may still be held.
  await until(async () => (await countTaken()) === 4)
  begun[0]?.end()
  await until(() => begun.length === 5)
  t.equal(begun[4]?.submission, fair)
  await stop()
})

t.test('a worker that is stopped while it holds jobs logs no error', async (t) => {
  let logged = ''
  const log = createLog('test', 'warn', { write: (line: string) => void (logged += line) })
  for (let n = 0; n < 40; n += 1) await submitNew(sql, await createCaller(sql), submission)
  for (let round = 0; round < 5; round += 1) {
    const { begun, stop } = await start(3, log)
    await until(() => begun.length === 3)
    begun[0]?.end()
    // The statement that took the next job took others, too. They are held now, because two slots are busy.
    while (begun.length === 3) await setImmediate()
    await stop()
  }
  const lines = logged.split('\n').filter((line) => line !== '')
  // A busy machine.
  t.strictSame(
    lines.filter((line) => !/"msg":"(database|queue)\.unavailable"/.test(line)),
    [],
  )
})
