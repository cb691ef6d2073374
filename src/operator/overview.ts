// One look at the whole service: what waits and for how long, what runs where, how it ended of late, and whether the ledger
// holds. It costs the database one statement, however long the log is, and however many look.
import { cachedRead } from '#database'
import type { Database } from '#database'

/** Of figures in seconds. */
export interface Percentiles {
  readonly p50: number
  readonly p95: number
  readonly p99: number
}

/** Submissions of the last minutes. */
export interface RecentEnds {
  /** So far back they reach: five minutes, or less where much happens. */
  readonly seconds: number
  readonly received: number
  readonly ended: number
  /** From receipt to the start of the attempt that ended it; null where none completed, as with the next two. */
  readonly waited: Percentiles | null
  /** Wall time of the program. */
  readonly ran: Percentiles | null
  /** From receipt to end. */
  readonly took: Percentiles | null
  /** Counts, with `cancelled` among them. */
  readonly verdicts: Readonly<Record<string, number>>
  readonly languages: Readonly<Record<string, number>>
}

export interface SeenWorker {
  readonly id: string
  readonly host: string
  readonly pid: number
  readonly state: string
  readonly wanted: string
  readonly version: string | null
  readonly box: string | null
  readonly cgroup: string | null
  readonly slots: number
  readonly busy: number
  readonly started_at: string
  readonly heartbeat_seconds: number
  readonly suspended_at: string | null
  readonly suspended_because: string | null
  readonly languages: readonly string[]
}

/** Null in a limit: there is none. */
export interface BusyAccount {
  readonly id: string
  readonly name: string
  readonly waiting: number
  readonly running: number
  readonly blob_bytes: number
  readonly keys: readonly {
    readonly id: string
    readonly label: string
    readonly name: string | null
    readonly tier: string
    readonly unfinished: number
    /** They have one of the places that the tier gives. */
    readonly admitted: number
    readonly concurrent_executions: number | null
    /** Of the last 60 seconds; 0 for a tier without a limit, which counts none. */
    readonly requests: number
    readonly requests_per_minute: number | null
    readonly blob_bytes: number | null
  }[]
}

/** What the reconciler found when it last looked; see runledger.check_ledger. */
export interface LedgerHealth {
  readonly drift: number
  readonly broken_chain: number
  readonly invariant: number
  readonly checked_at: string | null
  /** When a walk through the whole log last came to its end. */
  readonly walked_at: string | null
  /** The walk that is under way has looked at what is older. */
  readonly walked_up_to: string
  /** The first ten streams in which something was found. */
  readonly suspects: readonly string[]
}

export interface Overview {
  readonly at: string
  /** What has waited longest; null when nothing waits. */
  readonly oldest: {
    readonly id: string
    readonly seconds: number
    readonly language: string
    readonly account: string | null
    readonly priority: 'normal' | 'low'
  } | null
  readonly load: {
    /** For a place of their key. */
    readonly waiting: number
    /** For a worker. */
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
  readonly languages: readonly {
    readonly language: string
    readonly waiting: number
    /** Of those that wait. */
    readonly low: number
    readonly running: number
    readonly oldest_seconds: number
  }[]
  /** The twenty with most unfinished submissions. */
  readonly accounts: readonly BusyAccount[]
  readonly workers: readonly SeenWorker[]
  readonly recent: RecentEnds
  readonly ledger: LedgerHealth
}

const keptMilliseconds = 1000

export async function readOverview(sql: Database): Promise<Overview> {
  const [{ overview }] = await sql<[{ overview: Overview }]>`
    select overview from audit.overview`
  return overview
}

/** One statement a second at most, and none while nobody asks. */
/** Shared by all who ask. */
export function createCachedOverview(sql: Database): () => Promise<Overview> {
  return cachedRead(() => readOverview(sql), keptMilliseconds)
}
