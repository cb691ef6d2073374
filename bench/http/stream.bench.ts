// Measures the time from a program's write of a line until a follower receives it, through the whole service: box, worker,
// database, web process. The program writes the time, so both times are from the host's clock. There are three cases: one
// follower alone, one beside a thousand waiting streams, and a thousand followers of one run. Floor: a program that writes the
// same into a bare pipe. The bench fails when the contract's bound is exceeded.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { setTier } from '#account'
import { openStream } from '../../test/helper/stream.ts'
import type { OpenStream, StreamEvent } from '../../test/helper/stream.ts'
import { createCaller } from '../../test/helper/submission.ts'
import { measure } from '../measure.ts'
import type { Batch } from '../measure.ts'
import { isQuick, report, scaleIterations } from '../report.ts'
import { startWholeService } from './whole-service.ts'

// The contract's bound for the 95th percentile, with one follower.
const promisedMilliseconds = 100
const many = isQuick ? 50 : 1000
const batchMost = 20
/** Returns a program that writes lines. @param pauseSeconds a pause before the first line, in which all followers connect. */
const writing = (lines: number, pauseSeconds = 0): string =>
  `import time\ntime.sleep(${pauseSeconds})\nfor n in range(${lines}):\n time.sleep(0.1); print(repr(time.time()), flush=True)`

await using service = await startWholeService('stream', {
  web: { QUEUE_CAPACITY: '5000' },
  worker: { SLOTS: '2' },
})
const { sql, port } = service
// A key of this tier runs one submission at a time, so its later submissions wait.
const one = { requestsPerMinute: null, concurrentExecutions: 1, limits: { wall_time: 600 } }
await setTier(sql, { name: 'one', ...one }, 'bench')
const { key } = await createCaller(sql)
const { key: waitingKey } = await createCaller(sql, 'one')

let waiting: OpenStream[] = []
const iterations = scaleIterations(20)
const rows = await measure([
  { name: 'bare pipe', iterations, batch: writeBare },
  { name: 'one follows', floor: 'bare pipe', iterations, batch: (lines) => follow(lines, 1) },
  {
    name: `beside ${many} streams that wait`,
    floor: 'bare pipe',
    iterations,
    prepare: openWaiting,
    batch: (lines) => follow(lines, 1),
  },
  {
    name: `${many} follow the same one`,
    floor: 'bare pipe',
    iterations,
    prepare: closeWaiting,
    batch: (lines) => follow(lines, many),
  },
])
await closeWaiting()
const late = rows.filter(
  ({ name, p95 }) => !name.startsWith(`${many}`) && p95 > promisedMilliseconds,
)
report('http/stream', rows, {
  notes: [`the contract says ${promisedMilliseconds} ms (p95)`],
  failures: isQuick
    ? []
    : late.map(({ name }) => `${name}: later than ${promisedMilliseconds} ms (p95)`),
})

/** Runs a program with followers. @returns how late each line reached each follower. */
async function follow(lines: number, watchers: number): Promise<Batch> {
  const startedAt = performance.now()
  const durations: number[] = []
  const onEvent = ({ event, data, at }: StreamEvent): void => {
    if (event !== 'stdout') return
    for (const line of String(data.text).trim().split('\n')) durations.push(lateness(line, at))
  }
  const body = {
    language: 'python',
    code: writing(lines, watchers > 1 ? 4 : 0),
    limits: { wall_time: 60 },
  }
  const first = await openStream({ port, key, path: '/api/submit', body, onEvent })
  const { id } = (await first.until(({ event }) => event === 'submitted')).data
  const path = `/api/result/${id}/stream`
  const others = await Promise.all(
    Array.from({ length: watchers - 1 }, () => openStream({ port, key, path, onEvent })),
  )
  await Promise.all([first, ...others].map(({ ended }) => ended))
  return { durations, elapsedSeconds: (performance.now() - startedAt) / 1000 }
}

async function writeBare(lines: number): Promise<Batch> {
  const startedAt = performance.now()
  const child = spawn('python3', ['-c', writing(lines)], { stdio: ['ignore', 'pipe', 'inherit'] })
  const durations: number[] = []
  for await (const line of createInterface({ input: child.stdout }))
    durations.push(lateness(line, performance.now()))
  return { durations, elapsedSeconds: (performance.now() - startedAt) / 1000 }
}

/** Returns the milliseconds from `text`, in seconds of the Unix epoch, to `at`, by performance.now(). */
function lateness(text: string, at: number): number {
  return Math.max(0, performance.timeOrigin + at - Number(text) * 1000)
}

/** Opens the waiting streams: one submission sleeps, and the others are queued behind it. */
async function openWaiting(): Promise<void> {
  if (waiting.length > 0) return
  const headers = { 'X-API-Key': waitingKey, 'Content-Type': 'application/json' }
  const sleeping = { language: 'python', code: 'import time; time.sleep(600)', limits: { wall_time: 600 } } // prettier-ignore
  for (let n = 0; n < many; n += batchMost) {
    const submissions = Array.from({ length: batchMost }, () => sleeping)
    const answer = await fetch(`http://127.0.0.1:${port}/api/submit/batch`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ submissions }),
    })
    const { submissions: accepted } = (await answer.json()) as { submissions: { id: string }[] }
    const opened = accepted.map(({ id }) =>
      openStream({ port, key: waitingKey, path: `/api/result/${id}/stream` }),
    )
    waiting.push(...(await Promise.all(opened)))
  }
}

function closeWaiting(): Promise<void> {
  for (const stream of waiting) stream.close()
  waiting = []
  return Promise.resolve()
}
