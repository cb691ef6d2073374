// Operators pause, resume and drain real worker processes, by commands and by signals.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { createClient, createOperator } from '#client'
import type { OrderWord } from '#client'
import { createDatabase } from '#database'
import { createLog } from '#log'
import { readOverview } from '#operator'
import { printLife } from '../../src/cli/audit.ts'
import { commandWorkers } from '../../src/cli/worker-commands.ts'
import { createCommandFollower } from '../../src/job/command.ts'
import type { DesiredState } from '../../src/job/command.ts'
import { openTestDatabase } from '../helper/database.ts'
import { findBroken, readStatus } from '../helper/ledger.ts'
import { issueOperatorKey } from '../helper/operator.ts'
import { secondsUntil } from '../helper/outage.ts'
import { startServer } from '../helper/server.ts'
import { createCaller, describeSubmission, finalResult, submitNew } from '../helper/submission.ts'
import { startTcpProxy } from '../helper/tcp-proxy.ts'
import { startWorkerProcess } from '../helper/worker.ts'

const { sql, url } = await openTestDatabase(t)
const caller = await createCaller(sql)
const quick = describeSubmission({ code: 'print(1)' })
const slow = describeSubmission({ code: 'import time; time.sleep(2); print(1)' })
// Longer than a worker's interval between two looks into the queue.
const noticedMilliseconds = 3500

/** Starts a worker after it has marked all earlier workers, which were killed, as stopped. */
const startAlone: typeof startWorkerProcess = async (...asked) => {
  await sql`update runledger.worker set stopped_at = now() where stopped_at is null`
  return startWorkerProcess(...asked)
}

const web = await startServer(t, sql, { url })
const { key, id: operatorId } = await issueOperatorKey(sql)
const operator = {
  ...createOperator(createClient({ url: `http://127.0.0.1:${web.port}`, apiKey: key })),
  // The service's overview may be a second old, and then lacks a worker that has just started.
  overview: async () => ({
    ...(await readOverview(sql)),
    read_only: false,
    refusals: { seconds: 0, counts: {} },
  }),
}
const order = (word: OrderWord, worker?: string): ReturnType<typeof commandWorkers> =>
  commandWorkers(operator, { worker, all: worker === undefined }, word)

async function readState(): Promise<{ id: string; state: string }> {
  const [row] = await sql<
    { id: string; state: string }[]
  >`select id, state from audit.worker where alive order by started_at`
  return row ?? { id: '', state: 'none' }
}

const untilRunning = (id: string): Promise<number> =>
  secondsUntil(async () => (await readStatus(sql, id)) === 'running')
const untilState = (state: string): Promise<number> =>
  secondsUntil(async () => (await readState()).state === state)

t.test('a paused worker finishes what it has and takes nothing until it is resumed', async (t) => {
  const worker = await startAlone(t, url)
  const running = await submitNew(sql, caller, slow)
  await untilRunning(running)
  const { id } = await readState()
  t.match(await order('pause', id.slice(0, 30)), [{ id, state: 'paused', wanted: 'paused' }])
  const waiting = await submitNew(sql, caller, quick)
  t.match(await finalResult(sql, running), { verdict: 'AC' })
  await worker.until('worker.paused')
  await sql`select graphile_worker.add_job('deliver', json_build_object('webhook', ${uuidv7()}::text))`
  await sleep(noticedMilliseconds)
  t.equal(await readStatus(sql, waiting), 'queued')
  const countDeliveries = async (): Promise<number> => (await sql`select from graphile_worker.jobs where task_identifier = 'deliver'`).length // prettier-ignore
  t.equal(await countDeliveries(), 1, 'no webhook either')
  t.match(await sql`select * from runledger.read_load()`, [{ workers: 1, slots: 0, paused_workers: 1, suspended_workers: 0 }]) // prettier-ignore
  t.match(await sql`select runledger.estimate_drain() as rate`, [{ rate: 0 }])

  await order('resume')
  t.match(await finalResult(sql, waiting), { verdict: 'AC' })
  await secondsUntil(async () => (await countDeliveries()) === 0)
  t.match(await readState(), { id, state: 'working' })
  t.match(await sql`select * from runledger.read_load()`, [{ slots: 2, paused_workers: 0 }])
  await order('resume')
  const life = (await printLife(sql, id))?.lines.join('\n') ?? ''
  t.match(life, /On host .*: paused by api_key [0-9a-f-]+; it takes no submissions\.\n.*resumed by api_key [0-9a-f-]+\.\n\nIt is working\.\nThe hashes of its 2 events fit\./) // prettier-ignore
})

t.test('an order holds although the worker has not heard of it', async (t) => {
  // The worker renews its lease only every twenty seconds, so it does not hear of the command in time.
  await startAlone(t, url, { LEASE_SECONDS: '600' })
  await order('pause')
  const waiting = await submitNew(sql, caller, quick)
  await sleep(noticedMilliseconds)
  t.equal(await readStatus(sql, waiting), 'queued')
  await order('resume')
  t.match(await finalResult(sql, waiting), { verdict: 'AC' })
})

t.test('a drained worker finishes what it has and ends', async (t) => {
  const worker = await startAlone(t, url)
  // Longer than the two orders take. The worker ends with the program.
  const code = 'import time; time.sleep(8); print(1)'
  const options = { limits: { wall_time: 60 } }
  const running = await submitNew(sql, caller, describeSubmission({ code, options }))
  await untilRunning(running)
  const { id } = await readState()
  t.match(await order('drain'), [{ id, state: 'draining' }])
  t.match(await order('resume'), [{ id, state: 'draining', wanted: 'drained' }], 'for good')
  const waiting = await submitNew(sql, caller, quick)
  t.strictSame(await worker.ended, [0, null])
  t.match(await finalResult(sql, running), { verdict: 'AC' })
  const events = await sql`select from runledger.event where stream_id = ${running}`
  t.equal(events.length, 3, 'in its first attempt')
  t.equal(await readStatus(sql, waiting), 'queued')
  t.match(await sql`select state from audit.worker where id = ${id}`, [{ state: 'drained' }])
  await t.rejects(order('pause', id), { message: 'there is no such worker' })
  await startAlone(t, url)
  t.match(await finalResult(sql, waiting), { verdict: 'AC' })
})

t.test('an order outlasts an outage, and the id that a worker had before it', async (t) => {
  const proxy = await startTcpProxy(url)
  t.teardown(() => proxy.close())
  const worker = await startAlone(t, proxy.url, { LEASE_SECONDS: '10' })
  const { id } = await readState()
  await proxy.stop()
  // A worker that is cut off would be lost in less than a second, perhaps before the order reaches the service.
  await sql`update runledger.worker set renewed_at = now() + interval '5 seconds' where id = ${id}`
  t.match(await order('pause', id), [{ id, wanted: 'paused' }])
  const waiting = await submitNew(sql, caller, quick)
  await secondsUntil(async () => {
    await sql`select * from runledger.sweep_workers()`
    const [row] = await sql`select state from audit.worker where id = ${id}`
    return row?.['state'] === 'lost'
  })
  await proxy.restore()
  await untilState('paused')
  t.not((await readState()).id, id)
  await sleep(noticedMilliseconds)
  t.equal(await readStatus(sql, waiting), 'queued')
  await order('drain')
  t.strictSame(await worker.ended, [0, null])
  await startAlone(t, url)
  t.match(await finalResult(sql, waiting), { verdict: 'AC' })
})

t.test('SIGTSTP pauses, SIGCONT resumes what it has paused', async (t) => {
  const { child } = await startAlone(t, url)
  child.kill('SIGTSTP')
  await untilState('paused')
  const { id } = await readState()
  const waiting = await submitNew(sql, caller, quick)
  await sleep(noticedMilliseconds)
  t.equal(await readStatus(sql, waiting), 'queued')
  child.kill('SIGCONT')
  t.match(await finalResult(sql, waiting), { verdict: 'AC' })
  t.match(await readState(), { id, state: 'working' })
  await order('pause')
  child.kill('SIGCONT')
  await sleep(1000)
  t.match(await readState(), { state: 'paused' }, 'what an operator wants it does not undo')
  const events = await sql`
    select type, metadata -> 'actor' as actor from runledger.event where stream_id = ${id} order by stream_version`
  t.strictSame(
    events.map((row) => [row['type'], row['actor']]),
    [
      ['worker.paused', { signal: 'SIGTSTP' }],
      ['worker.resumed', { signal: 'SIGCONT' }],
      ['worker.paused', { api_key: operatorId }],
    ],
  )
  t.strictSame(await findBroken(sql), [])
})

t.test('a suspension and a pause do not undo each other', async (t) => {
  const session = createDatabase({ url, connections: 1, name: 'worker' })
  t.teardown(() => session.end())
  const id = uuidv7()
  await session`select runledger.register_worker(${id}, 'host-a', 42, 3, '{}', 3600)`
  const read = async (): Promise<unknown> =>
    (await sql`select state, suspended_because, wanted from audit.worker where id = ${id}`)[0]
  await session`select runledger.renew_worker(${id}, '{}', 'python: sick')`
  t.match(await read(), { state: 'suspended', wanted: 'working' })
  await order('pause', id)
  t.match(await read(), { state: 'paused', suspended_because: 'python: sick' })
  await session`select runledger.renew_worker(${id}, '{}', null)`
  t.match(await read(), { state: 'paused', suspended_because: null, wanted: 'paused' })
  await session`select runledger.renew_worker(${id}, '{}', 'python: sick')`
  await order('resume', id)
  t.match(await read(), { state: 'suspended', wanted: 'working' })
  await sql`select runledger.stop_worker(${id})`
})

t.test('whom an order means is said by one id, its beginning or end, a host, or all', async (t) => {
  const session = createDatabase({ url, connections: 1, name: 'workers' })
  t.teardown(() => session.end())
  await sql`update runledger.worker set stopped_at = now() where stopped_at is null`
  const ids = ['01a00000-0000-7000-8000-000000000001', '01a00000-0000-7000-8000-000000000002']
  for (const [index, id] of ids.entries())
    await session`select runledger.register_worker(${id}, ${`host-${index}`}, 1, 1, '{}', 3600)`
  const pause = (worker?: string, host?: string): ReturnType<typeof commandWorkers> =>
    commandWorkers(operator, { worker, host }, 'pause')
  await t.rejects(pause('01a0'), { message: /^01a0 is part of 2 ids: 01a/ })
  await t.rejects(pause('03'), { message: 'there is no such worker' })
  await t.rejects(pause("%' or"), {
    message: /is not the id of a worker, nor its beginning or end$/,
  })
  await t.rejects(pause(), { message: /^name one WORKER/ })
  await t.rejects(pause(ids[0], 'host-0'), { message: /^name one WORKER/ })
  t.match(await pause(undefined, 'host-1'), [{ id: ids[1], state: 'paused' }])
  t.equal((await order('resume')).length, 2)
  await sql`update runledger.worker set stopped_at = now() where stopped_at is null`
})

t.test('a signal pauses before it is recorded, and whatever the recording meets', async (t) => {
  const log = createLog('test', 'silent')
  let answer = Promise.withResolvers<boolean>()
  const recorded: DesiredState[] = []
  const record = (wanted: DesiredState): Promise<boolean> => {
    recorded.push(wanted)
    return answer.promise
  }
  const orders = createCommandFollower(record, log)
  await orders.signal('SIGCONT')
  t.strictSame(recorded, [], 'nothing was paused by a signal')
  const paused = orders.signal('SIGTSTP')
  t.equal(orders.isPaused, true)
  const resumed = orders.signal('SIGCONT')
  const askedBefore = performance.now()
  answer.resolve(true)
  await paused
  orders.follow('working', askedBefore)
  t.equal(orders.isPaused, true, 'an answer from before says nothing')
  await resumed
  t.strictSame(recorded, ['paused', 'working'])
  t.equal(orders.isPaused, false)

  orders.follow('paused', performance.now())
  answer = Promise.withResolvers<boolean>()
  answer.resolve(false)
  await orders.signal('SIGTSTP')
  await orders.signal('SIGCONT')
  t.equal(orders.isPaused, true, 'an operator had paused it before')
  orders.follow('drained', performance.now())
  await orders.over
})
