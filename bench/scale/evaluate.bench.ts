// Rewards a second: programs with their assertions, every third of them wrong, through the service with the TypeScript client
// (a batch, answered as NDJSON) and by bare multiprocessing of python3 without any sandbox, on the same cores, in alternating
// rounds. Then 64, 512 and 2,000 clients at once, each for one reward. It fails when a single reward is wrong.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createClient } from '#client'
import { createDatabase } from '#database'
import { createCaller } from '../../test/helper/submission.ts'
import { startCluster } from '../database.ts'
import { startService } from '../http/service.ts'
import { median } from '../measure.ts'
import { roundsAsked } from '../options.ts'
import { isQuick, report } from '../report.ts'
import { digits } from '../table.ts'
import { readOwnMilliseconds, readParent, readTreeMilliseconds } from './cpu-time.ts'

const atOnce = isQuick ? 100 : 500
const rounds = roundsAsked ?? (isQuick ? 2 : 5)
const crowds = isQuick ? [64] : [64, 512, 2000]
const slots = availableParallelism()

interface Task {
  readonly code: string
  readonly isRight: boolean
}

let made = 0
/** No two are the same, so that nothing is answered from what is kept. */
function makeTask(): Task {
  made += 1
  const isRight = made % 3 !== 0
  const code = `
from typing import List

def largest_gap(numbers: List[int], start: int = ${made}) -> int:
    ordered = sorted(numbers + [start])
    gaps = [b - a for a, b in zip(ordered, ordered[1:])]
    return max(gaps)${isRight ? '' : ' + 1'}

def check(candidate):
    assert candidate([${made + 1}, ${made + 5}]) == 4
    assert candidate([${made + 2}, ${made + 3}, ${made + 30}]) == 27
    for size in range(2, 200):
        assert candidate(list(range(${made}, ${made} + size))) == 1

check(largest_gap)
`
  return { code, isRight }
}

await using cleanUp = new AsyncDisposableStack()
const directory = mkdtempSync(join(tmpdir(), 'runledger-bench-'))
cleanUp.defer(() => rmSync(directory, { recursive: true, force: true }))
const cluster = cleanUp.use(await startCluster())
const url = await cluster.createDatabase('evaluate')
const sql = createDatabase({ url, connections: 2, name: 'bench', statementSeconds: 60 })
cleanUp.defer(() => sql.end({ timeout: 5 }))
const { key } = await createCaller(sql)
const web = cleanUp.use(
  await startService('src/server/server.ts', 'web.started', {
    DATABASE_URL: url,
    PORT: '0',
    QUEUE_CAPACITY: '10000',
    SYNC_WAIT_SECONDS: '120',
  }),
)
const worker = cleanUp.use(
  await startService('src/worker/worker.ts', 'worker.started', {
    DATABASE_URL: url,
    SLOTS: String(slots),
    FIRST_UID: String(240_000 + (process.pid % 5000) * 8),
    CACHE_DIRECTORY: join(directory, 'worker'),
  }),
)
const [backend] = await sql`select pg_backend_pid() as pid`
const postgresPid = readParent(backend?.['pid'] as number)
const client = createClient({
  url: `http://127.0.0.1:${Number(web.started['port'])}`,
  apiKey: key,
})
const bare = startBare()
cleanUp.defer(() => bare.end())

const notes: string[] = []
const figures: Record<string, number> = {}
let wrong = 0

const ways = {
  service: async (tasks: readonly Task[]): Promise<readonly boolean[]> => {
    const passed: boolean[] = []
    const requests = tasks.map(({ code }) => ({ language: 'python', code }))
    for await (const { index, ...item } of client.runBatch(requests))
      passed[index] = 'verdict' in item && item.verdict === 'AC'
    return passed
  },
  'python3 each': (tasks: readonly Task[]) => bare.run('python', tasks),
  'fork each': (tasks: readonly Task[]) => bare.run('fork', tasks),
}

type Way = keyof typeof ways
const rates: Record<Way, number[]> = { service: [], 'python3 each': [], 'fork each': [] }

/** @returns rewards a second. */
async function reward(way: Way, count: number): Promise<number> {
  const tasks = Array.from({ length: count }, makeTask)
  const startedAt = performance.now()
  const passed = await ways[way](tasks)
  const seconds = (performance.now() - startedAt) / 1000
  wrong += tasks.filter(({ isRight }, index) => passed[index] !== isRight).length
  return count / seconds
}

const cpu = { postgres: 0, web: 0, worker: 0 }
const readCpu = (): typeof cpu => ({
  postgres: readTreeMilliseconds(postgresPid),
  web: readOwnMilliseconds(Number(web.started['pid'])),
  worker: readOwnMilliseconds(Number(worker.started['pid'])),
})
for (const way of Object.keys(ways) as Way[]) await reward(way, 50)
for (let round = 0; round < rounds; round += 1) {
  const order = Object.keys(ways) as Way[]
  for (const way of round % 2 === 0 ? order : order.toReversed()) {
    const before = readCpu()
    rates[way].push(await reward(way, atOnce))
    const after = readCpu()
    if (way === 'service')
      for (const part of Object.keys(cpu) as (keyof typeof cpu)[])
        cpu[part] += (after[part] - before[part]) / (atOnce * rounds)
  }
}
for (const way of Object.keys(ways) as Way[]) tell(`${way}, rewards a second`, median(rates[way]))
for (const way of ['python3 each', 'fork each'] as const)
  tell(`service beside ${way}, ratio of rates`, median(rates.service.map((rate, n) => rate / (rates[way][n] ?? Number.NaN)))) // prettier-ignore
for (const [part, milliseconds] of Object.entries(cpu))
  tell(`${part}, CPU ms a reward`, milliseconds)

for (const clients of crowds) {
  const tasks = Array.from({ length: clients }, makeTask)
  const startedAt = performance.now()
  const times = await Promise.all(
    tasks.map(async ({ code, isRight }) => {
      const { verdict } = await client.run({ language: 'python', code })
      if ((verdict === 'AC') !== isRight) wrong += 1
      return performance.now() - startedAt
    }),
  )
  const sorted = times.toSorted((a, b) => a - b)
  const at = (part: number): number => sorted[Math.ceil(clients * part) - 1] ?? Number.NaN
  tell(`${clients} clients at once, rewards a second`, (clients * 1000) / (sorted.at(-1) ?? 1))
  tell(`${clients} clients at once, p50 ms`, at(0.5))
  tell(`${clients} clients at once, p99 ms`, at(0.99))
}
tell('wrong rewards', wrong)
report('scale/evaluate', [], {
  notes,
  figures,
  failures: wrong === 0 ? [] : [`${wrong} rewards were wrong`],
})

function tell(name: string, value: number): void {
  figures[name] = value
  notes.push(`${name}: ${digits(value)}`)
}

interface Bare {
  run(how: 'python' | 'fork', tasks: readonly Task[]): Promise<readonly boolean[]>
  end(): void
}

/** One Python with its pool for all rounds: starting it is no reward's time. */
function startBare(): Bare {
  const child = spawn('/usr/bin/python3', [join(import.meta.dirname, 'evaluate.py')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    async run(how, tasks) {
      child.stdin.write(`${JSON.stringify({ how, programs: tasks.map(({ code }) => code) })}\n`)
      const { value } = await lines.next()
      const { passed } = JSON.parse(String(value)) as { passed: boolean[] }
      return passed
    },
    end: () => child.stdin.end(),
  }
}
