// The history of a worker, for `audit ID`. The worker's row has its start, its present state and its end; the log has the
// operators' commands to it.
import type { Database } from '#database'

/** Columns of audit.worker, and the ids of the submissions that the worker runs. */
interface WorkerRow {
  readonly host: string
  readonly pid: number
  readonly slots: number
  readonly version: string | null
  readonly languages: readonly string[]
  readonly state: string
  readonly started_at: Date
  readonly renewed_at: Date
  readonly stopped_at: Date | null
  readonly suspended_at: Date | null
  readonly suspended_because: string | null
  readonly running: readonly string[]
}

/** One line of a history. */
export interface Moment {
  readonly at: Date
  readonly text: string
}

interface WorkerLife {
  readonly host: string
  readonly moments: readonly Moment[]
  /** The worker's present state, in a sentence. */
  readonly present: string
}

/** Reads the history of a worker; null when no worker has this id. */
export async function readWorkerLife(sql: Database, id: string): Promise<WorkerLife | null> {
  const [worker] = await sql<WorkerRow[]>`
    select
      w.host, w.pid, w.slots, w.version, w.state, w.started_at, w.renewed_at, w.stopped_at, w.suspended_at, w.suspended_because,
      array(
        select coalesce(one.value ->> 'version', one.key) from jsonb_each(w.languages) one order by one.key
      ) as languages,
      array(select r.submission_id::text from audit.running r where r.worker_id = w.id order by 1) as running
    from audit.worker w where w.id = ${id}`
  if (worker === undefined) return null
  const { host, state, running } = worker
  const runs = running.length === 0 ? '' : `; it runs ${running.join(', ')}`
  return { host, moments: listMoments(worker), present: `It is ${state}${runs}.` }
}

function listMoments(worker: WorkerRow): Moment[] {
  const { pid, slots, version, languages, state, stopped_at: stopped } = worker
  const { renewed_at: renewed, suspended_at: suspended } = worker
  const moments = [
    {
      at: worker.started_at,
      text: `It started as process ${pid}, of release ${version ?? '?'}, with ${slots} ${slots === 1 ? 'slot' : 'slots'}; it runs ${languages.join(', ') || 'nothing'}.`,
    },
  ]
  if (suspended !== null)
    moments.push({ at: suspended, text: `It was suspended: ${worker.suspended_because}.` })
  if (state === 'lost' || state === 'gone')
    moments.push({ at: renewed, text: 'Its last heartbeat.' })
  if (stopped !== null)
    moments.push({
      at: stopped,
      text:
        state === 'lost'
          ? 'It was lost: other workers requeued its submissions.'
          : 'It ended by itself, after it had finished or requeued its submissions.',
    })
  return moments
}
