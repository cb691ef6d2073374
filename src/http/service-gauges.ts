// Gauges of the whole service, the same on every web process: the queue and the workers as they are now, and what the
// reconciler found in the ledger.
import { Gauge } from 'prom-client'
import type { Registry } from 'prom-client'
import type { Database } from '#database'

type MakeGauge = (name: string, help: string, labelNames?: string[]) => Gauge

function createGauges(registry: Registry): MakeGauge {
  return (name, help, labelNames = []) =>
    new Gauge({ name: `runledger_${name}`, help, labelNames, registers: [registry] })
}

/** Creates the gauges of the queue and the workers; the result sets them. */
export function createLoadGauges(database: Database, registry: Registry): () => Promise<void> {
  const gauge = createGauges(registry)
  const unfinished = gauge(
    'unfinished_submissions',
    'Submissions without an end: waiting for a place of their key, queued for a worker, running.',
    ['state'],
  )
  const oldest = gauge(
    'oldest_waiting_seconds',
    'Age of the oldest submission that does not run yet.',
  )
  const oldestQueued = gauge(
    'oldest_queued_seconds',
    'For how long the oldest submission that a worker could take has waited for one; not for a place of its key.',
  )
  const workers = gauge('workers', 'Live workers.')
  const suspended = gauge(
    'workers_suspended',
    'Live workers that take no submissions, because their sandbox failed.',
  )
  const paused = gauge(
    'workers_paused',
    'Live workers that take nothing, because an operator wants it so: paused, or draining.',
  )
  const slots = gauge('slots', 'Programs that the live workers which take any can run at once.')
  const deliveries = gauge(
    'webhooks_pending',
    'Webhooks of finished submissions that are not delivered yet.',
  )
  return async () => {
    const [load] = await database<[LoadRow]>`select * from runledger.read_load()`
    for (const state of ['waiting', 'queued', 'running'] as const) {
      unfinished.set({ state }, load[state])
    }
    oldest.set(load.oldest_waiting_seconds)
    oldestQueued.set(load.oldest_queued_seconds)
    workers.set(load.workers)
    suspended.set(load.suspended_workers)
    paused.set(load.paused_workers)
    slots.set(load.slots)
    deliveries.set(load.deliveries_pending)
  }
}

/** Creates the gauge of blobs; the result sets it. */
export function createBlobGauge(database: Database, registry: Registry): () => Promise<void> {
  const gauge = createGauges(registry)
  const stored = gauge('blob_bytes', 'Bytes that the blobs of all accounts count.')
  return async () => {
    const [row] = await database<[{ bytes: number }]>`
      select runledger.read_blob_load() as bytes`
    stored.set(row.bytes)
  }
}

/** Creates the gauges by language; the result sets them. */
export function createLanguageGauges(database: Database, registry: Registry): () => Promise<void> {
  const gauge = createGauges(registry)
  const waiting = gauge('waiting_submissions', 'Submissions that do not run yet, by language.', [
    'language',
  ])
  const workers = gauge('language_workers', 'Live workers that take submissions, by language.', [
    'language',
  ])
  return async () => {
    const rows = await database<LanguageLoadRow[]>`select * from runledger.read_language_load()`
    waiting.reset()
    workers.reset()
    for (const row of rows) {
      waiting.set({ language: row.language }, row.waiting)
      workers.set({ language: row.language }, row.workers)
    }
  }
}

/** Creates the gauges of what waits by tier, language and priority; the result sets them. */
export function createClassGauges(database: Database, registry: Registry): () => Promise<void> {
  const gauge = createGauges(registry)
  const labels = ['tier', 'language', 'priority']
  const waiting = gauge(
    'class_waiting_submissions',
    'Submissions that do not run yet, by tier, language and priority; of the 200 such classes of which most wait.',
    labels,
  )
  const oldest = gauge(
    'class_oldest_waiting_seconds',
    'Age of the oldest submission that does not run yet, by tier, language and priority.',
    labels,
  )
  return async () => {
    const rows = await database<ClassLoadRow[]>`select * from runledger.read_class_load()`
    waiting.reset()
    oldest.reset()
    for (const { tier, language, priority, ...row } of rows) {
      waiting.set({ tier, language, priority }, row.waiting)
      oldest.set({ tier, language, priority }, row.oldest_seconds)
    }
  }
}

/** A row of runledger.read_class_load. */
interface ClassLoadRow {
  readonly tier: string
  readonly language: string
  readonly priority: string
  readonly waiting: number
  readonly oldest_seconds: number
}

/** A row of runledger.read_language_load. */
interface LanguageLoadRow {
  readonly language: string
  readonly waiting: number
  readonly workers: number
}

/** A row of runledger.read_load. */
interface LoadRow {
  readonly waiting: number
  readonly queued: number
  readonly running: number
  readonly oldest_waiting_seconds: number
  readonly oldest_queued_seconds: number
  readonly workers: number
  readonly suspended_workers: number
  readonly paused_workers: number
  readonly slots: number
  readonly deliveries_pending: number
}

/** Creates the gauges of what runledger.check_ledger found; the result sets them. */
export function createLedgerGauges(database: Database, registry: Registry): () => Promise<void> {
  const gauge = createGauges(registry)
  const findings = gauge(
    'ledger_findings',
    'Rows of audit.drift, audit.broken_chain (invariant counts these too) and audit.invariant. Looked at every ten seconds: the newest 1,000 events, the next 1,000 of a walk through the whole log, and the first hundred streams in which something was found.',
    ['check'],
  )
  const checked = gauge(
    'ledger_checked_timestamp_seconds',
    'When the ledger was last looked at, in Unix time; 0: never.',
  )
  const walked = gauge(
    'ledger_walked_timestamp_seconds',
    'When the walk through the whole log last came to its end, in Unix time; 0: never.',
  )
  return async () => {
    const [row] = await database<[LedgerRow]>`
      select drift, broken_chain, invariant,
        coalesce(extract(epoch from checked_at), 0)::double precision as checked,
        coalesce(extract(epoch from walked_at), 0)::double precision as walked
      from runledger.ledger_check`
    for (const check of ['drift', 'broken_chain', 'invariant'] as const) {
      findings.set({ check }, row[check])
    }
    checked.set(row.checked)
    walked.set(row.walked)
  }
}

/** The row of runledger.ledger_check. */
interface LedgerRow {
  readonly drift: number
  readonly broken_chain: number
  readonly invariant: number
  readonly checked: number
  readonly walked: number
}
