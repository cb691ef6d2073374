// GET /metrics for Prometheus. Some metrics are of this process: requests, waiters and Node figures. Others are of the whole
// service and the same on every web process (take the maximum, not the sum): the present queue, workers and ledger
// (service-gauges.ts), and counts of the event log since this process started.
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'
import { cachedRead } from '#database'
import type { Database } from '#database'
import { abandonReasons, verdicts } from '#event'
import { languages } from '#language'
import { sendText } from './answer.ts'
import { withDeadline } from './deadline.ts'
import type { HttpContext } from './http.ts'
import type { Handler } from './request.ts'
import { createServiceGauges } from './service-gauges.ts'

const knownMethods: ReadonlySet<string | undefined> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
])

/** How far the event log was read; see sql/functions/progress.sql. */
interface Cursor {
  readonly since: string
  readonly looks: readonly { readonly begun: bigint; readonly position: number }[]
}

interface Metrics {
  readonly count: Handler
  readonly read: Handler
}

/** Creates the metrics of one web process. */
export function createMetrics({
  database,
  waiter,
  resultStreams,
  readiness,
}: HttpContext): Metrics {
  const registry = new Registry()
  const { counter, gauge, histogram } = createFigures(registry)
  collectDefaultMetrics({ register: registry })
  // Removed, because these gauges have names of counters, and only sum up other metrics that count the same by type.
  for (const kind of ['handles', 'requests', 'resources'])
    registry.removeSingleMetric(`nodejs_active_${kind}_total`)
  const requests = histogram(
    'http_request_duration',
    'Duration of requests to this process, by route, method and status.',
    ['route', 'method', 'status'],
  )
  const rejections = counter('http_problems', 'Error answers of this process, by error code.', [
    'error',
  ])
  const waiters = gauge('waiters', 'Requests of this process that wait for a result.')
  const streams = gauge(
    'streams_open',
    'Open streams of this process; the request durations do not include them.',
  )
  const reachable = gauge(
    'database_up',
    '1 when the database answered this scrape; at 0 the figures of the whole service are out of date.',
  )
  const ready = gauge('ready', '1 when /readyz of this process would answer that it is ready.')
  const gauges = createServiceGauges(database, registry)
  const progress = createProgressCounters(database, registry)

  // Scrapes at the same time share one read of the database.
  const figures = cachedRead(() => Promise.all([gauges(), progress()]), 0)

  return {
    count: (request, response, next) => {
      const start = performance.now()
      response.once('finish', () => {
        const { route = 'none', method } = request
        // Clients choose the method, and each value is a series for good, so unknown methods become `other`.
        const labels = {
          route,
          method: knownMethods.has(method) ? method : 'other',
          status: response.statusCode,
        }
        if (request.isStream !== true) requests.observe(labels, (performance.now() - start) / 1000)
        if (request.problem !== undefined) rejections.inc({ error: request.problem })
      })
      return next()
    },
    read: async (_request, response) => {
      waiters.set(waiter.waiting)
      streams.set(resultStreams.open)
      const [answered, isReady] = await Promise.all([
        holds(figures),
        holds(readiness, (missing) => missing === null),
      ])
      reachable.set(answered)
      ready.set(isReady)
      sendText(response, 200, registry.contentType, await registry.metrics())
    },
  }
}

type MakeFigure<Figure> = (name: string, help: string, labelNames?: readonly string[]) => Figure

/** Returns constructors for metrics of this registry, which add `runledger_` and the unit to the names. */
function createFigures(registry: Registry): {
  readonly counter: MakeFigure<Counter>
  readonly gauge: MakeFigure<Gauge>
  readonly histogram: MakeFigure<Histogram>
} {
  const registers = [registry]
  const buckets = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
  return {
    counter: (name, help, labelNames = []) =>
      new Counter({ name: `runledger_${name}_total`, help, labelNames, registers }),
    gauge: (name, help, labelNames = []) =>
      new Gauge({ name: `runledger_${name}`, help, labelNames, registers }),
    histogram: (name, help, labelNames = []) =>
      new Histogram({ name: `runledger_${name}_seconds`, help, labelNames, buckets, registers }),
  }
}

/** Resolves with 1 when the work ends in time and its answer is good, otherwise with 0. */
async function holds<T>(
  work: () => Promise<T>,
  isGood: (answer: T) => boolean = () => true,
): Promise<0 | 1> {
  return withDeadline(work).then(
    (answer) => (isGood(answer) ? 1 : 0),
    () => 0,
  )
}

const durations = ['queue_seconds', 'compile_seconds', 'run_seconds', 'total_seconds'] as const
type Duration = (typeof durations)[number]

/** A row of runledger.read_progress; a row with a null type says only how far the log was read. */
interface ProgressRow extends Readonly<Record<Duration, number | null>> {
  readonly until: string
  readonly begun: string
  readonly newest_position: number
  readonly type: string | null
  readonly language: string | null
  readonly verdict: string | null
  readonly reason: string | null
  readonly outcome: string | null
  readonly attempt_seconds: number | null
  readonly blobs_read: number | null
  readonly blobs_fetched: number | null
}

function createProgressCounters(database: Database, registry: Registry): () => Promise<void> {
  const { counter, histogram } = createFigures(registry)
  const executions = counter('executions', 'Submissions that ended.', ['language', 'verdict'])
  const rescues = counter('rescues', 'Attempts that were lost and requeued.', ['reason'])
  const attempts = counter('webhook_attempts', 'Attempts to deliver a webhook.', ['outcome'])
  const blobReads = counter('blob_reads', 'Blobs that were passed to runs.', ['source'])
  const abandoned = counter('webhooks_abandoned', 'Webhooks that were abandoned.', ['reason'])
  const attemptSeconds = histogram(
    'webhook_attempt_duration',
    'Duration of attempts to deliver a webhook.',
  )
  const ofRun = (name: string, help: string): Histogram => histogram(name, help, ['language'])
  const histograms: Record<Duration, Histogram> = {
    queue_seconds: ofRun(
      'queue',
      'Time from receipt to the start of the attempt that ended the submission.',
    ),
    compile_seconds: ofRun(
      'compile',
      'Wall time of compilation; a cached program repeats its time.',
    ),
    run_seconds: ofRun('run', 'Wall time of the program.'),
    total_seconds: ofRun('total', 'Time from receipt to the end of the submission.'),
  }

  // Series start at 0, because Prometheus sees no increase in a counter that appears with its first event.
  for (const language of languages)
    // A cancelled submission has no verdict, but is counted as if `cancelled` were one.
    for (const verdict of [...verdicts, 'cancelled']) executions.inc({ language, verdict }, 0)
  for (const source of ['cache', 'database']) blobReads.inc({ source }, 0)
  for (const reason of abandonReasons) abandoned.inc({ reason }, 0)

  let cursor: Cursor | null = null
  const observe = (row: ProgressRow): void => {
    const { type, language, verdict, reason, outcome, attempt_seconds: attemptFigure } = row
    if (type === null) return
    if (type === 'webhook.abandoned') abandoned.inc({ reason: reason ?? 'unknown' })
    else if (type === 'webhook.attempt_failed' || type === 'webhook.delivered') {
      attempts.inc({ outcome: outcome ?? 'unknown' })
      if (attemptFigure !== null) attemptSeconds.observe(attemptFigure)
    }
    if (type.startsWith('webhook.')) return
    if (type === 'execution.interrupted') rescues.inc({ reason: reason ?? 'unknown' })
    else executions.inc({ language: language ?? 'unknown', verdict: verdict ?? 'IE' })
    const { blobs_read: read, blobs_fetched: fetched } = row
    if (read !== null) blobReads.inc({ source: 'cache' }, read - (fetched ?? 0))
    if (fetched !== null) blobReads.inc({ source: 'database' }, fetched)
    for (const name of durations) {
      const figure = row[name]
      if (figure !== null) histograms[name].observe({ language: language ?? 'unknown' }, figure)
    }
  }
  const look = async (): Promise<void> => {
    // The first look only finds the end of the log.
    const since = cursor?.since ?? '18446744073709551615'
    const safe = cursor?.looks.findLast(({ begun }) => begun <= BigInt(since))?.position ?? 0
    const rows = await database<
      [ProgressRow, ...ProgressRow[]]
    >`select * from runledger.read_progress(${since}::xid8, ${safe})`
    for (const row of rows) observe(row)
    const [first] = rows
    const until = BigInt(first.until)
    const looks = [
      ...(cursor?.looks ?? []),
      { begun: BigInt(first.begun), position: first.newest_position },
    ]
    // Only the newest look that can serve as a bound is needed, and those after it.
    const usable = looks.findLastIndex(({ begun }) => begun <= until)
    cursor = { since: first.until, looks: looks.slice(Math.max(0, usable)) }
  }

  // Looks run one after another, so that no event is counted twice.
  let last: Promise<void> = look().catch(() => {})
  return () => {
    const next = last.then(look)
    last = next.catch(() => {})
    return next
  }
}
