// Gauges of the whole service, the same on every web process: the queue and the workers as they are now, and what the
// reconciler found in the ledger. A gauge is a column of what a query answers.
import { Gauge } from 'prom-client'
import type { Registry } from 'prom-client'
import type { Database } from '#database'

type Row = Readonly<Record<string, unknown>>

interface ServiceGauge {
  readonly name: string
  readonly help: string
  /** A column; or several, each under its name in the label. */
  readonly of: string | { readonly label: string; readonly columns: readonly string[] }
}

interface Family {
  readonly read: (database: Database) => PromiseLike<readonly Row[]>
  /** Columns that say whose figure it is; without any there is one row. */
  readonly labels?: readonly string[]
  readonly gauges: readonly ServiceGauge[]
}

const families: readonly Family[] = [
  {
    read: (database) => database<Row[]>`select * from runledger.read_load()`,
    gauges: [
      {
        name: 'unfinished_submissions',
        help: 'Submissions without an end: waiting for a place of their key, queued for a worker, running.',
        of: { label: 'state', columns: ['waiting', 'queued', 'running'] },
      },
      {
        name: 'oldest_waiting_seconds',
        help: 'Age of the oldest submission that does not run yet.',
        of: 'oldest_waiting_seconds',
      },
      {
        name: 'oldest_queued_seconds',
        help: 'For how long the oldest submission that a worker could take has waited for one; not for a place of its key.',
        of: 'oldest_queued_seconds',
      },
      { name: 'workers', help: 'Live workers.', of: 'workers' },
      {
        name: 'workers_suspended',
        help: 'Live workers that take no submissions, because their sandbox failed.',
        of: 'suspended_workers',
      },
      {
        name: 'workers_paused',
        help: 'Live workers that take nothing, because an operator wants it so: paused, or draining.',
        of: 'paused_workers',
      },
      {
        name: 'slots',
        help: 'Programs that the live workers which take any can run at once.',
        of: 'slots',
      },
      {
        name: 'webhooks_pending',
        help: 'Webhooks of finished submissions that are not delivered yet.',
        of: 'deliveries_pending',
      },
    ],
  },
  {
    read: (database) => database<Row[]>`
      select count(*) as lost from audit.worker
      where stopped_at > now() - interval '1 hour' and state = 'lost'`,
    gauges: [
      {
        name: 'workers_lost',
        help: 'Workers that fell silent in the last hour and were given up; what they ran went to others.',
        of: 'lost',
      },
    ],
  },
  {
    read: (database) => database<Row[]>`select * from runledger.read_language_load()`,
    labels: ['language'],
    gauges: [
      {
        name: 'waiting_submissions',
        help: 'Submissions that do not run yet, by language.',
        of: 'waiting',
      },
      {
        name: 'language_workers',
        help: 'Live workers that take submissions, by language.',
        of: 'workers',
      },
    ],
  },
  {
    read: (database) => database<Row[]>`select * from runledger.read_class_load()`,
    labels: ['tier', 'language', 'priority'],
    gauges: [
      {
        name: 'class_waiting_submissions',
        help: 'Submissions that do not run yet, by tier, language and priority; of the 200 such classes of which most wait.',
        of: 'waiting',
      },
      {
        name: 'class_oldest_waiting_seconds',
        help: 'Age of the oldest submission that does not run yet, by tier, language and priority.',
        of: 'oldest_seconds',
      },
    ],
  },
  {
    read: (database) => database<Row[]>`
      select drift, broken_chain, invariant,
        coalesce(extract(epoch from checked_at), 0)::double precision as checked,
        coalesce(extract(epoch from walked_at), 0)::double precision as walked
      from runledger.ledger_check`,
    gauges: [
      {
        name: 'ledger_findings',
        help: 'Rows of audit.drift, audit.broken_chain (invariant counts these too) and audit.invariant. Looked at every ten seconds: the newest 1,000 events, the next 1,000 of a walk through the whole log, and the first hundred streams in which something was found.',
        of: { label: 'check', columns: ['drift', 'broken_chain', 'invariant'] },
      },
      {
        name: 'ledger_checked_timestamp_seconds',
        help: 'When the ledger was last looked at, in Unix time; 0: never.',
        of: 'checked',
      },
      {
        name: 'ledger_walked_timestamp_seconds',
        help: 'When the walk through the whole log last came to its end, in Unix time; 0: never.',
        of: 'walked',
      },
    ],
  },
  {
    read: (database) =>
      database<Row[]>`select coalesce(sum(blob_bytes), 0)::bigint as bytes from runledger.account`,
    gauges: [
      { name: 'blob_bytes', help: 'Bytes that the blobs of all accounts count.', of: 'bytes' },
    ],
  },
]

/** Creates them; the result sets them. */
export function createServiceGauges(database: Database, registry: Registry): () => Promise<void> {
  const setters = families.map(({ read, labels = [], gauges }) => {
    const set = gauges.map((gauge) => createSetter(gauge, labels, registry))
    return async () => {
      const rows = await read(database)
      for (const one of set) one(rows)
    }
  })
  return async () => {
    await Promise.all(setters.map((set) => set()))
  }
}

function createSetter(
  { name, help, of }: ServiceGauge,
  labels: readonly string[],
  registry: Registry,
): (rows: readonly Row[]) => void {
  const { label, columns } = typeof of === 'string' ? { label: null, columns: [of] } : of
  const labelNames = label === null ? [...labels] : [...labels, label]
  const gauge = new Gauge({ name: `runledger_${name}`, help, labelNames, registers: [registry] })
  return (rows) => {
    // Whose row is gone has no figure.
    if (labels.length > 0) gauge.reset()
    for (const row of rows) {
      const whose = Object.fromEntries(labels.map((column) => [column, String(row[column])]))
      for (const column of columns)
        gauge.set(label === null ? whose : { ...whose, [label]: column }, Number(row[column]))
    }
  }
}
