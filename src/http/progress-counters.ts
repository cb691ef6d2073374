// Metrics that count the events of the log since this process started: what ended, was lost or was delivered.
import type { Histogram, Registry } from 'prom-client'
import { errorCode, sqlState } from '#database'
import type { Database } from '#database'
import { abandonReasons, verdicts } from '#event'
import { languages } from '#language'
import { createFigures } from './figure.ts'

/** How far the event log was read; see sql/functions/metrics.sql. */
interface Cursor {
  readonly since: string
  readonly looks: readonly { readonly begun: bigint; readonly position: number }[]
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

// The first look only finds the end of the log, because nothing is greater.
const greatest = { transaction: '18446744073709551615', position: '9223372036854775807' }
/** More events than are recorded while one transaction is open. */
const openPositions = 100_000

/** Returns a position before all events that were not read yet. Without such a bound a look would read the whole log. */
function findSafe(cursor: Cursor | null): string {
  if (cursor === null) return greatest.position
  const { since, looks } = cursor
  const safe = looks.findLast(({ begun }) => begun <= BigInt(since))
  return String(safe?.position ?? Math.max(0, (looks[0]?.position ?? 0) - openPositions))
}

/** @returns a function that counts what was recorded since its last call. */
export function createProgressCounters(
  database: Database,
  registry: Registry,
): () => Promise<void> {
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
    const since = cursor?.since ?? greatest.transaction
    const rows = await database<[ProgressRow, ...ProgressRow[]]>`
      select * from runledger.read_progress(${since}::xid8, ${findSafe(cursor)}::bigint)`.catch(
      (error: unknown) => {
        // The next look would read even more, so what has happened up to then is not counted.
        if (errorCode(error) === sqlState.queryCanceled) cursor = null
        throw error
      },
    )
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
