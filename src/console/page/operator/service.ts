// What the operators' view asks of its service.
import { RunledgerError } from '#client'
import { call, pause, persist } from '../call.ts'
import type { Follower } from './seen.ts'
import type { Series } from './series.ts'

/** Parts of what GET /api/operator/overview tells; times are ISO 8601, ages and durations seconds. */
export interface Overview {
  readonly at: string
  readonly read_only: boolean
  readonly oldest: {
    readonly seconds: number
    readonly language: string
    readonly account: string | null
    readonly priority: string
  } | null
  readonly load: {
    readonly waiting: number
    readonly queued: number
    readonly running: number
    readonly oldest_queued_seconds: number
    readonly workers: number
    readonly slots: number
    readonly deliveries_pending: number
  }
  readonly languages: readonly {
    readonly language: string
    readonly waiting: number
    readonly low: number
    readonly running: number
    readonly oldest_seconds: number
  }[]
  readonly workers: readonly SeenWorker[]
  readonly accounts: readonly BusyAccount[]
  readonly recent: Recent
  readonly ledger: Ledger
  readonly refusals: { readonly seconds: number; readonly counts: Readonly<Record<string, number>> }
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
  readonly heartbeat_seconds: number
  readonly suspended_at: string | null
  readonly suspended_because: string | null
  readonly languages: readonly string[]
}

export interface BusyAccount {
  readonly id: string
  readonly name: string
  readonly waiting: number
  readonly running: number
  readonly blob_bytes: number
  readonly keys: readonly {
    readonly id: string
    readonly label: string
    readonly tier: string
    readonly admitted: number
    readonly concurrent_executions: number | null
    readonly requests: number
    readonly requests_per_minute: number | null
    readonly blob_bytes: number | null
  }[]
}

export interface Percentiles {
  readonly p50: number
  readonly p95: number
  readonly p99: number
}

export interface Recent {
  readonly seconds: number
  readonly received: number
  readonly ended: number
  readonly waited: Percentiles | null
  readonly ran: Percentiles | null
  readonly took: Percentiles | null
  readonly verdicts: Readonly<Record<string, number>>
}

export interface Ledger {
  readonly drift: number
  readonly broken_chain: number
  readonly invariant: number
  readonly checked_at: string | null
  readonly walked_at: string | null
  readonly walked_up_to: string
  readonly suspects: readonly string[]
}

export type OrderWord = 'pause' | 'drain' | 'resume'

const path = '/api/operator/'
const busyMilliseconds = 1000
const afterFailureMilliseconds = 5000

/** @throws {RunledgerError} for a key that is not valid. */
export async function tryOperatorKey(apiKey: string): Promise<void> {
  await call('GET', `${path}overview`, { apiKey })
}

/** Tells how the service stands, each second. */
export const followOverview = createFollower<Overview>('overview', 1000)

/** Tells how the last hours went, and again when that may have changed. */
export const followSeries = createFollower<Series>('series', 15_000)

/** After a failure it goes on, seldom. */
function createFollower<T>(name: string, everyMilliseconds: number): Follower<T> {
  return async (signal, tell, fail) => {
    for (;;) {
      let milliseconds = everyMilliseconds
      try {
        tell(await persist(signal, () => call<T>('GET', `${path}${name}`, { signal })))
      } catch (error) {
        if (!(error instanceof RunledgerError)) throw error
        fail(error)
        milliseconds = Math.max(milliseconds, afterFailureMilliseconds)
      }
      await pause(milliseconds, signal)
    }
  }
}

export async function orderWorker(id: string, word: OrderWord): Promise<void> {
  await call('POST', `${path}workers/${encodeURIComponent(id)}/${word}`)
}

export interface BulkRequest {
  readonly action: string
  readonly filter: Readonly<Record<string, string>>
  readonly campaign?: string
  readonly secret?: string
}

export interface BulkStep {
  readonly until: string
  readonly count: number
  readonly next: string | null
  readonly busy: boolean
}

/** Steps until all was looked at; tells the sum after each. @returns the sum. @throws {RunledgerError} */
export async function runBulk(
  request: BulkRequest,
  isDry: boolean,
  signal: AbortSignal,
  tell: (sum: number, until: string) => void,
): Promise<number> {
  let { filter } = request
  let after: string | null = null
  let sum = 0
  for (;;) {
    const body: object = { ...request, filter, dry_run: isDry, after }
    const step: BulkStep = await persist(signal, () =>
      call<BulkStep>('POST', `${path}bulk`, { body, signal }),
    )
    sum += step.count
    tell(sum, step.until)
    if (step.next === null) return sum
    after = step.next
    filter = { ...filter, until: step.until }
    if (step.busy) await pause(busyMilliseconds, signal)
  }
}

/** What a walk through the ledger has found so far. */
export interface Verified {
  readonly events: number
  readonly found: number
  /** Streams in which something was found. */
  readonly suspects: readonly string[]
}

interface VerifyStep {
  readonly events: number
  readonly drift: number
  readonly broken_chain: number
  readonly invariant: number
  readonly suspects: readonly string[]
  readonly next: string | null
  readonly share: number | null
  readonly busy: boolean
}

/** Steps until the end of the log; tells the sum, and how much of it is done, after each. @throws {RunledgerError} */
export async function verifyLedger(
  signal: AbortSignal,
  tell: (soFar: Verified, share: number) => void,
): Promise<Verified> {
  let sum: Verified = { events: 0, found: 0, suspects: [] }
  let after: string | null = null
  for (;;) {
    const body: object = { after }
    const step: VerifyStep = await persist(signal, () =>
      call<VerifyStep>('POST', `${path}verify`, { body, signal }),
    )
    sum = {
      events: sum.events + step.events,
      found: sum.found + step.drift + step.broken_chain + step.invariant,
      suspects: [...sum.suspects, ...step.suspects].slice(0, 10),
    }
    if (step.share !== null) tell(sum, step.share)
    if (step.next === null && !step.busy) return sum
    after = step.next
    if (step.busy) await pause(busyMilliseconds, signal)
  }
}
