// A worker's claim to be alive. It holds a session lock, which a killed process frees at once, and renews a lease,
// which a frozen one does not. Without renewal it ends its runs before others begin them.
import { hostname } from 'node:os'
import { createDatabase, json } from '#database'
import type { Database } from '#database'
import { createId } from '#id'
import type { Logger } from '#log'
import { reachFailpoint } from './failpoint.ts'
import type { DesiredState } from './order.ts'
import { repeat } from './repeat.ts'
import { untilAvailable } from './retry.ts'

const renewalsPerLease = 30
// Shares of a lease after which an unanswered renewal gets a new connection, and the worker fences itself.
const answerWithin = 1 / 3
const fencedAfter = 2 / 3
// Renewing takes a millisecond. Also bounds how long a silent connection is kept.
const longestStatementSeconds = 2

/** The reason with which runs end when the worker cannot renew. */
export class LeaseExpiredError extends Error {
  override readonly name = 'LeaseExpiredError'
}

/** Under which id a worker runs now, and for how long. */
export interface WorkerIdentity {
  /** In the log. A worker that was given up goes on under a new id. */
  readonly workerId: string
  /** Fires when runs of this id must end, as others may have taken them over. */
  readonly signal: AbortSignal
}

export interface Lease extends WorkerIdentity {
  /** Renews now, as the worker's description or its languages have changed. */
  renew(): void
  /** Says that the worker ends in an orderly way. */
  stop(): Promise<void>
}

export interface Announcement {
  readonly url: string
  readonly slots: number
  /** What it runs now: versions, command lines and limits of each language. Asked at each renewal, which tells of a change. */
  readonly languages: () => object
  /** Its release and how its boxes are made. */
  readonly description?: { readonly version: string; readonly isolation: object }
  /** Without renewal others give the worker up; after two thirds it stops by itself. */
  readonly leaseSeconds: number
  /** The ids under which graphile-worker locks this worker's jobs. */
  readonly queuePoolIds: () => readonly string[]
  /** Why it takes no submissions; null when it takes them. */
  readonly suspendedBecause?: () => string | null
  /** Called with the orders that came with a renewal; askedAt, by performance.now(). */
  readonly onOrder?: (wanted: DesiredState, askedAt: number) => void
  readonly log: Logger
}

/** Resolves once registered, however long the database is away. */
export async function announceWorker(announcement: Announcement): Promise<Lease> {
  const { url, slots, languages, leaseSeconds, queuePoolIds, log } = announcement
  const { description = {}, suspendedBecause = () => null, onOrder } = announcement
  const leaseMilliseconds = leaseSeconds * 1000
  let workerId = createId()
  /** The id under which it was given up. */
  let succeeds: string | undefined
  let fence = new AbortController()
  /** What this session has said that it runs, as JSON; null before. */
  let registered: string | null = null
  let renewedAt = performance.now()
  let session = openSession()

  // The lock lives as long as its session.
  function openSession(): Database {
    const opened = createDatabase({
      url,
      connections: 1,
      name: 'runledger lease',
      statementSeconds: Math.min(longestStatementSeconds, leaseSeconds * answerWithin),
      holdsSession: true,
      onClose() {
        if (opened !== session) return
        registered = null
        renewing?.hurry()
      },
    })
    return opened
  }

  function endRuns(reason: string): void {
    log.warn({ worker: workerId, reason }, 'worker.fenced')
    fence.abort(new LeaseExpiredError(reason))
    fence = new AbortController()
  }

  async function renew(): Promise<void> {
    // The lease begins, by the database's clock, no earlier than this.
    const sentAt = performance.now()
    const offered = languages()
    const described = JSON.stringify(offered)
    if (registered !== described) {
      reachFailpoint('lease.before_register')
      await session`
        select runledger.register_worker(
          ${workerId}, ${hostname()}, ${process.pid}, ${slots}, ${json(session, offered)}, ${leaseSeconds},
          ${json(session, { ...description, succeeds })}
        )`
      registered = described
      reachFailpoint('lease.after_register')
    }
    const [row] = await session<{ wanted: DesiredState | null }[]>`
      select runledger.renew_worker(${workerId}, ${[...queuePoolIds()]}, ${suspendedBecause()}) as wanted`
    const wanted = row?.wanted ?? null
    if (wanted !== null) {
      renewedAt = sentAt
      onOrder?.(wanted, sentAt)
      return
    }
    endRuns('given up by the others')
    succeeds = workerId
    workerId = createId()
    registered = null
    await renew()
  }

  // A connection whose other end vanished is silent for minutes, longer than a lease.
  async function renewInTime(): Promise<void> {
    const timer = setTimeout(() => {
      const silent = session
      registered = null
      session = openSession()
      void silent.end({ timeout: 0 }).catch(() => {})
    }, leaseMilliseconds * answerWithin)
    try {
      await renew()
    } finally {
      clearTimeout(timer)
    }
  }

  let renewing: ReturnType<typeof repeat> | undefined
  await untilAvailable(renewInTime, log)
  renewing = repeat(renewInTime, leaseMilliseconds / renewalsPerLease, (error) =>
    log.warn({ err: error }, 'worker.lease_not_renewed'),
  )
  const watching = setInterval(() => {
    if (performance.now() - renewedAt < leaseMilliseconds * fencedAfter) return
    endRuns('the lease could not be renewed')
    renewedAt = performance.now()
  }, leaseMilliseconds / renewalsPerLease)

  return {
    get workerId() {
      return workerId
    },
    get signal() {
      return fence.signal
    },
    renew() {
      renewing.hurry()
    },
    async stop() {
      clearInterval(watching)
      await renewing.stop()
      await session`select runledger.stop_worker(${workerId})`.catch(() => {})
      await session.end({ timeout: 2 })
    },
  }
}
