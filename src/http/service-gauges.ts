// Gauges of the whole service, the same on every web process: the present queue and workers, and what the reconciler found in
// the ledger. Each gauge is a column of a query's result.
import { Gauge } from 'prom-client'
import type { Registry } from 'prom-client'
import type { Database } from '#database'

type Row = Readonly<Record<string, unknown>>

/** The help text of a gauge with one column; or help text and several columns, each a value of the label. */
type ServiceGauge =
  string | { readonly help: string; readonly label: string; readonly columns: readonly string[] }

interface Family {
  readonly read: (database: Database) => PromiseLike<readonly Row[]>
  /** Columns that become labels; a family without labels has one row. */
  readonly labels?: readonly string[]
  /** Gauges by name, which is also the name of the column. */
  readonly gauges: Readonly<Record<string, ServiceGauge>>
}

const families: readonly Family[] = [
  {
    read: (database) => database<Row[]>`
      select *, suspended_workers as workers_suspended, paused_workers as workers_paused, deliveries_pending as webhooks_pending
      from runledger.read_load()`,
    gauges: {
      unfinished_submissions: {
        help: 'Unfinished submissions: waiting to be admitted by the limit of their key, queued for a worker, or running.',
        label: 'state',
        columns: ['waiting', 'queued', 'running'],
      },
      oldest_waiting_seconds: 'Age of the oldest submission that does not run yet.',
      oldest_queued_seconds:
        'How long the oldest submission that a worker could take has waited for a worker. The wait for the limit of its key does not count.',
      workers: 'Live workers.',
      workers_suspended: 'Live workers that take no submissions, because their sandbox failed.',
      workers_paused:
        "Live workers that take no submissions because of an operator's command: pause, drain or restart.",
      slots: 'Programs that can run at once on the live workers that take submissions.',
      webhooks_pending: 'Webhooks of finished submissions that are not delivered yet.',
    },
  },
  {
    read: (database) => database<Row[]>`
      select count(*) as workers_lost from audit.worker
      where stopped_at > now() - interval '1 hour' and state = 'lost'`,
    gauges: {
      workers_lost:
        'Workers that fell silent and were declared lost in the last hour; their submissions went to other workers.',
    },
  },
  {
    read: (database) => database<Row[]>`
      select language, coalesce(waiting.count, 0) as waiting_submissions, coalesce(working.count, 0) as language_workers
      from (
        select language, count(*) from runledger.unfinished where status = 'queued' group by language
      ) waiting
      full join (
        select offered.key as language, count(*)
        from audit.worker w
        cross join lateral jsonb_each(w.languages) offered
        where w.stopped_at is null and w.state = 'working' and not offered.value ? 'awaits_trial'
        group by offered.key
      ) working using (language)`,
    labels: ['language'],
    gauges: {
      waiting_submissions: 'Submissions that do not run yet, by language.',
      language_workers: 'Live workers that take submissions, by language.',
    },
  },
  {
    read: (database) => database<Row[]>`
      select tier, language, priority, waiting as class_waiting_submissions, oldest_seconds as class_oldest_waiting_seconds
      from runledger.read_class_load()`,
    labels: ['tier', 'language', 'priority'],
    gauges: {
      class_waiting_submissions:
        'Submissions that do not run yet, by tier, language and priority; only for the 200 such classes with the most waiting submissions.',
      class_oldest_waiting_seconds:
        'Age of the oldest submission that does not run yet, by tier, language and priority.',
    },
  },
  {
    read: (database) => database<Row[]>`
      select drift, broken_chain, invariant,
        coalesce(extract(epoch from checked_at), 0)::double precision as ledger_checked_timestamp_seconds,
        coalesce(extract(epoch from walked_at), 0)::double precision as ledger_walked_timestamp_seconds
      from runledger.ledger_check`,
    gauges: {
      ledger_findings: {
        help: 'Rows of audit.drift, audit.broken_chain (invariant counts these too) and audit.invariant. Every ten seconds the newest 1,000 events are checked, the next 1,000 of a walk through the whole log, and the first hundred streams with findings.',
        label: 'check',
        columns: ['drift', 'broken_chain', 'invariant'],
      },
      ledger_checked_timestamp_seconds: 'When the ledger was last checked, in Unix time; 0: never.',
      ledger_walked_timestamp_seconds:
        'When the walk through the whole log was last completed, in Unix time; 0: never.',
    },
  },
  {
    read: (database) => database<Row[]>`
      select coalesce(sum(blob_bytes), 0)::bigint as blob_bytes from runledger.account`,
    gauges: { blob_bytes: 'Bytes of the blobs of all accounts, as they count against quotas.' },
  },
]

/** Creates the gauges. Returns a function that reads the database and sets them. */
export function createServiceGauges(database: Database, registry: Registry): () => Promise<void> {
  const setters = families.map(({ read, labels = [], gauges }) => {
    const set = Object.entries(gauges).map(([name, gauge]) =>
      createSetter(name, gauge, labels, registry),
    )
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
  name: string,
  described: ServiceGauge,
  labels: readonly string[],
  registry: Registry,
): (rows: readonly Row[]) => void {
  const { help, label, columns } =
    typeof described === 'string' ? { help: described, label: null, columns: [name] } : described
  const labelNames = label === null ? [...labels] : [...labels, label]
  const gauge = new Gauge({ name: `runledger_${name}`, help, labelNames, registers: [registry] })
  return (rows) => {
    // Labels whose row is gone must not keep their last value.
    if (labels.length > 0) gauge.reset()
    for (const row of rows) {
      const whose = Object.fromEntries(labels.map((column) => [column, String(row[column])]))
      for (const column of columns)
        gauge.set(label === null ? whose : { ...whose, [label]: column }, Number(row[column]))
    }
  }
}
