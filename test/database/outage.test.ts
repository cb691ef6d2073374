// How the log reports a database that is away: one line, then counts, then one line when it is back.
import { setTimeout as sleep } from 'node:timers/promises'
import { mock } from 'node:test'
import t from 'tap'
import type { Test } from 'tap'
import { createDatabase, shortenOutages } from '#database'
import { createLog } from '#log'
import { stopClock } from '../helper/clock.ts'
import { openTestDatabase } from '../helper/database.ts'
import { startTcpProxy } from '../helper/tcp-proxy.ts'
import { startWebProcess } from '../helper/web.ts'
import { startWorkerProcess } from '../helper/worker.ts'

const { url } = await openTestDatabase(t)
const proxy = await startTcpProxy(url)
t.teardown(() => proxy.close())

interface Line {
  readonly msg: string
  readonly level: string
  readonly [field: string]: unknown
}

const parse = (lines: readonly string[]): Line[] => lines.map((line) => JSON.parse(line) as Line)

const refused = (): Error =>
  Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:5432'), { code: 'ECONNREFUSED' })

function openLog(t: Test): { log: ReturnType<typeof createLog>; told: () => Line[] } {
  const lines: string[] = []
  const log = createLog('test', 'info', { write: (line) => lines.push(line) })
  shortenOutages(log)
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  return { log, told: () => parse(lines.splice(0)) }
}

t.test('the first failure with its reason, and a count every 30 seconds', async (t) => {
  const turn = stopClock(t)
  const { log, told } = openLog(t)
  const pass = (milliseconds: number): void => {
    turn(milliseconds)
    mock.timers.tick(milliseconds)
  }
  for (let n = 0; n < 1000; n += 1) log.warn({ err: refused() }, 'sweep.failed')
  const [first, ...more] = told()
  t.strictSame(more, [])
  t.match(first, {
    level: 'warn',
    msg: 'database.away',
    reason: 'connect ECONNREFUSED 127.0.0.1:5432',
    error_code: 'ECONNREFUSED',
    found_by: 'sweep.failed',
  })
  for (let second = 0; second < 60; second += 1) {
    pass(1000)
    log.warn({ err: refused() }, 'database.unavailable')
  }
  t.match(told(), [
    { msg: 'database.away', level: 'warn', failures: 999 + 29, seconds: 30 },
    { msg: 'database.away', level: 'warn', failures: 30, seconds: 60 },
  ])
  pass(60_000)
  t.match(told(), [{ msg: 'database.away' }], 'silence is no return: nothing was answered')
})

t.test('a failure of one statement, and one of ours, are lines of their own', async (t) => {
  const { log, told } = openLog(t)
  const deadlock = Object.assign(new Error('deadlock'), { code: '40P01', severity: 'ERROR' })
  log.warn({ err: deadlock }, 'database.unavailable')
  log.warn({ err: new Error('ours') }, 'stream.failed')
  log.warn({ count: 3 }, 'queue.repaired')
  t.match(told(), [
    { err: { error_code: '40P01' } },
    { err: { message: 'ours', stack: /outage\.test/ } },
    { msg: 'queue.repaired' },
  ])
})

t.test('one line when it is back', async (t) => {
  const lines: string[] = []
  const log = createLog('test', 'info', { write: (line) => lines.push(line) })
  shortenOutages(log)
  const sql = createDatabase({ url: proxy.url, connections: 1, name: 'test' })
  t.teardown(() => sql.end({ timeout: 0 }))
  log.warn({ err: refused() }, 'sweep.failed')
  while (lines.length < 2) {
    await sql`select 1`
    await sleep(50)
  }
  t.match(parse(lines), [
    { msg: 'database.away' },
    { msg: 'database.back', level: 'info', failures: 1 },
  ])
})

t.test('web and worker, and graphile-worker in it', async (t) => {
  const web = await startWebProcess(t, proxy.url)
  const worker = await startWorkerProcess(t, proxy.url, { LANGUAGES: 'python' })
  const processes = { web, worker }
  const before = { web: web.lines.length, worker: worker.lines.length }
  const since = (name: 'web' | 'worker'): Line[] => parse(processes[name].lines.slice(before[name]))
  const until = async (name: 'web' | 'worker', message: string): Promise<void> => {
    while (!since(name).some(({ msg }) => msg === message)) await sleep(50)
  }
  await proxy.stop()
  await Promise.all([until('web', 'database.away'), until('worker', 'database.away')])
  for (let n = 0; n < 20; n += 1) {
    const answer = await fetch(`http://127.0.0.1:${web.port}/readyz`)
    t.equal(answer.status, 503)
    await sleep(100)
  }
  await proxy.restore()
  await Promise.all([until('web', 'database.back'), until('worker', 'database.back')])
  for (const name of ['web', 'worker'] as const) {
    const lines = since(name)
    t.strictSame(
      lines
        .map(({ msg }) => msg)
        .filter(
          (msg) =>
            !['database.away', 'database.back'].includes(msg) &&
            !['sweep.delayed', 'worker.fenced'].includes(msg),
        ),
      [],
      `${name} says no more`,
    )
    t.notMatch(JSON.stringify(lines), /"stack"|\[redacted\]/)
    t.match(lines.find(({ msg }) => msg === 'database.away')?.['reason'], /./)
  }
})
