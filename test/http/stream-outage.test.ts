// Streams whose processes or servers are lost. A client that reconnects with its position gets what follows, exactly once.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import type { Test } from 'tap'
import type { Database } from '#database'
import { openTestDatabase } from '../helper/database.ts'
import { findFlaws, followToEnd, joinOutput, openStream } from '../helper/stream.ts'
import type { StreamEvent } from '../helper/stream.ts'
import { createCaller } from '../helper/submission.ts'
import { startWebProcess } from '../helper/web.ts'
import { startWorkerProcess } from '../helper/worker.ts'

const { sql, url } = await openTestDatabase(t, { ownServer: true })
const { key } = await createCaller(sql)
// After a crash a slow server takes ten seconds to recover, and the worker listens again after pauses of up to seven seconds.
const patientLines = 300
/** Submits a program that prints ten numbered lines a second, and follows its stream to the end. */
async function follow(
  t: Test,
  ports: readonly number[],
  lines = 60,
): Promise<{
  readonly id: string
  readonly seen: readonly StreamEvent[]
  readonly told: Promise<void>
}> {
  const code = `import time\nfor n in range(${lines}):\n print("line", n, "€", flush=True); time.sleep(0.1)`
  const whole = Array.from({ length: lines }, (_, n) => `line ${n} €\n`).join('')
  const stream = await openStream({
    port: ports[0] ?? 0,
    key,
    path: '/api/submit',
    body: { language: 'python', code, limits: { wall_time: 200 } },
  })
  const { id } = (await stream.until(({ event }) => event === 'submitted')).data
  stream.close()
  const seen: StreamEvent[] = []
  let turn = 0
  const followed = followToEnd({
    port: () => ports[turn++ % ports.length] ?? 0,
    key,
    path: `/api/result/${id}/stream`,
    onEvent: (event) => seen.push(event),
  })
  const judge = async (): Promise<void> => {
    const { events, times } = await followed
    t.comment(`${events.length} events over ${times} connections`)
    t.strictSame(findFlaws(events), [])
    t.equal(joinOutput(events, 'stdout').toString(), whole)
    t.match(events.at(-1)?.data, { status: 'completed', verdict: 'AC', stdout: whole })
  }
  return { id, seen, told: judge() }
}

async function untilTold(seen: readonly StreamEvent[], outputs: number): Promise<void> {
  while (seen.filter(({ event }) => event === 'stdout').length < outputs) {
    if (seen.at(-1)?.event === 'result') throw new Error(`ended before it had ${outputs} outputs`)
    await sleep(10)
  }
}

const startWorker = (): ReturnType<typeof startWorkerProcess> => startWorkerProcess(t, url)
let worker = await startWorker()
const [first, second, third] = [
  await startWebProcess(t, url),
  await startWebProcess(t, url),
  await startWebProcess(t, url),
]

t.test('a web process is killed, another one goes on', async (t) => {
  const { seen, told } = await follow(t, [first.port, second.port])
  await untilTold(seen, 5)
  first.child.kill('SIGKILL')
  await told
})

t.test('a web process that is told to stop lets its streams go at once', async (t) => {
  const { seen, told } = await follow(t, [second.port, third.port], 150)
  await untilTold(seen, 5)
  const gone = new Promise((resolve) => second.child.once('exit', resolve))
  second.child.kill('SIGTERM')
  const exitedWhileItRan = await Promise.race([gone.then(() => true), told.then(() => false)])
  t.ok(exitedWhileItRan, 'it does not wait for them')
  await told
})

t.test('a worker is killed: the next attempt is told from its beginning', async (t) => {
  const { seen, told } = await follow(t, [third.port])
  await untilTold(seen, 5)
  worker.child.kill('SIGKILL')
  worker = await startWorker()
  await told
  const statuses = seen.filter(({ event }) => event === 'status').map(({ data }) => data.status)
  t.strictSame(statuses, ['queued', 'running', 'queued', 'running'])
  const again = seen.findLastIndex(({ event }) => event === 'status')
  t.ok(
    seen.slice(0, again).some(({ event }) => event === 'stdout'),
    'of the first one too',
  )
  t.equal(seen.slice(again).find(({ event }) => event === 'stdout')?.data.offset, 0)
})

t.test('PostgreSQL crashes while it runs: nothing is lost, nothing comes twice', async (t) => {
  const { id, seen, told } = await follow(t, [third.port], patientLines)
  await untilTold(seen, 5)
  await crash(sql)
  const opening = openUntilAnswered(third.port, `/api/result/${id}/stream`)
  const before = seen.filter(({ event }) => event === 'stdout').length
  // Output arrives live again, not only with the result.
  await untilTold(seen, before + 5)
  t.notOk(seen.some(({ event }) => event === 'result'))
  // Who comes anew is told all of it.
  const late = await opening
  const answer = (await late.until(({ event }) => event === 'stdout')).data
  t.match(answer, { offset: 0, text: /^line 0/ })
  t.strictSame(findFlaws(await late.ended), [])
  await told
})

async function openUntilAnswered(
  port: number,
  path: string,
): Promise<Awaited<ReturnType<typeof openStream>>> {
  for (;;) {
    const stream = await openStream({ port, key, path })
    if (stream.status === 200) return stream
    await stream.ended
    await sleep(50)
  }
}

/** Kills one process of the server, which then ends all others, recovers from its log, and empties unlogged tables. */
async function crash(sql: Database): Promise<void> {
  const [row] = await sql`select pg_backend_pid() as pid`
  process.kill(row?.['pid'] as number, 'SIGKILL')
  for (;;) {
    try {
      await sql`select 1`
      return
    } catch {
      await sleep(20)
    }
  }
}
