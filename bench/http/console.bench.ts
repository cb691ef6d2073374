// Measures the load of a thousand open consoles on one web process and on PostgreSQL. The pages' code runs here without a
// browser: operators' pages, and playgrounds that follow a run, visible and hidden. The bench fails when hidden pages send
// requests, and when the pages' look-ups are not shared.
import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { createDatabase } from '#database'
import { followOverview, followSeries } from '../../src/console/page/operator/service.ts'
import { dropKey, setKey } from '../../src/console/page/session.ts'
import { watch } from '../../src/console/page/watch.ts'
import { issueOperatorKey } from '../../test/helper/operator.ts'
import { startStatementCounter } from '../../test/helper/statement.ts'
import { createCaller, describeSubmission, submitNew } from '../../test/helper/submission.ts'
import { startCluster } from '../database.ts'
import { deadline } from '../options.ts'
import { isQuick, report } from '../report.ts'
import { readParent, readTreeMilliseconds } from '../scale/cpu-time.ts'
import { startService } from './service.ts'

const pages = isQuick ? 50 : 1000
const seconds = isQuick ? 3 : deadline < 90_000 ? 6 : 12
const settleSeconds = isQuick ? 2 : 3
// Statements for pages; the process runs all others by itself. Pages need an overview every second, the series of the last
// hours every ten seconds, and the check of the key.
const forPages = /overview|read_series|admit_|read_live_output|watch_submissions|read_result/
const statementsMost = 1.5

await using cleanUp = new AsyncDisposableStack()
const cluster = cleanUp.use(await startCluster())
const url = await cluster.createDatabase('console')
const sql = createDatabase({ url, connections: 2, name: 'bench' })
cleanUp.defer(() => sql.end({ timeout: 5 }))
const [backend] = await sql`select pg_backend_pid() as pid`
const postgresPid = readParent(backend?.['pid'] as number)
const counter = await startStatementCounter(url)
cleanUp.defer(() => counter.close())
const web = cleanUp.use(
  await startService('src/server/server.ts', 'web.started', {
    DATABASE_URL: counter.url,
    PORT: '0',
  }),
)
const origin = `http://127.0.0.1:${Number(web.started['port'])}`

// Replaces the parts of the browser that the pages use.
const screen = Object.assign(new EventTarget(), { visibilityState: 'visible' })
setMaxListeners(0, screen)
let requests = 0
const ask = globalThis.fetch
Object.assign(globalThis, {
  document: screen,
  requestAnimationFrame: (draw: () => void) => setTimeout(draw, 16),
  cancelAnimationFrame: clearTimeout,
  fetch: (path: string, options: RequestInit) => {
    requests += 1
    return ask(`${origin}${path}`, options)
  },
})

/** The load during one observation, per second. */
interface Load {
  readonly name: string
  readonly requests: number
  readonly statements: number
  readonly forPages: number
  /** Shares of a core. */
  readonly webCpu: number
  readonly postgresCpu: number
}
const loads: Load[] = []

async function observe(name: string): Promise<Load> {
  await sleep(settleSeconds * 1000)
  counter.take()
  const before = { requests, web: readWeb(), postgres: readTreeMilliseconds(postgresPid) }
  const from = performance.now()
  await sleep(seconds * 1000)
  const elapsed = performance.now() - from
  const statements = counter.take()
  const count = (kind: RegExp): number =>
    [...statements].reduce((sum, [text, times]) => sum + (kind.test(text) ? times : 0), 0)
  const aSecond = (times: number): number => times / (elapsed / 1000)
  const load = {
    name,
    requests: aSecond(requests - before.requests),
    statements: aSecond(count(/^/)),
    forPages: aSecond(count(forPages)),
    webCpu: (readWeb() - before.web) / elapsed,
    postgresCpu: (readTreeMilliseconds(postgresPid) - before.postgres) / elapsed,
  }
  loads.push(load)
  return load
}

function readWeb(): number {
  return readTreeMilliseconds(web.started['pid'] as number)
}

function turn(state: 'visible' | 'hidden'): void {
  screen.visibilityState = state
  screen.dispatchEvent(new Event('visibilitychange'))
}

/** Opens all pages within a second. @returns a function that closes them. */
async function open(follow: (signal: AbortSignal) => Promise<unknown>): Promise<() => void> {
  const aborter = new AbortController()
  const { signal } = aborter
  for (let n = 0; n < pages; n += 1) {
    follow(signal).catch((error: unknown) => {
      if (!signal.aborted) throw error
    })
    await sleep(1000 / pages)
  }
  return () => aborter.abort()
}

const fail = (failure: Error): never => {
  throw failure
}

await observe('no page')
const { key: operatorKey } = await issueOperatorKey(sql, { readOnly: true })
setKey(operatorKey)
const closeOperators = await open((signal) =>
  Promise.all([followOverview(signal, () => {}, fail), followSeries(signal, () => {}, fail)]),
)
const seen = await observe(`${pages} operators’ pages`)
turn('hidden')
const hidden = await observe(`${pages} operators’ pages, hidden`)
closeOperators()
turn('visible')

dropKey(null)
const caller = await createCaller(sql)
setKey(caller.key)
const id = await submitNew(sql, caller, describeSubmission({ code: '' }))
const closePlaygrounds = await open((signal) => watch(id, signal, () => {}))
await observe(`${pages} playgrounds that follow one run`)
turn('hidden')
const hiddenPlaygrounds = await observe(`${pages} playgrounds, hidden`)
closePlaygrounds()

const failures = [
  ...[hidden, hiddenPlaygrounds].flatMap(({ name, requests: asked }) =>
    asked > 0 ? [`${name}: ${asked} requests a second`] : [],
  ),
  ...(seen.forPages > statementsMost ? [`looks are not shared: ${seen.forPages} statements a second`] : []), // prettier-ignore
]
const format = (figure: number): string => figure.toFixed(figure < 10 ? 2 : 0)
report('http/console', [], {
  notes: loads.map(
    (load) =>
      `${load.name}: ${format(load.requests)} requests and ${format(load.statements)} statements a second (${format(load.forPages)} for pages), web ${format(load.webCpu * 100)} % and PostgreSQL ${format(load.postgresCpu * 100)} % of a core`,
  ),
  figures: { 'requests a second': seen.requests, 'statements a second': seen.forPages },
  failures,
})
