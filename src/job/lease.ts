// A worker's claim to be alive: it holds a session lock, which a killed process frees at once, and renews a lease, which
// a frozen one does not. When it can no longer say that it lives, it ends what it runs by itself, before others begin it.
import { hostname } from 'node:os'
import { v7 as uuidv7 } from 'uuid'
import { createDatabase, json } from '#database'
import type { Database } from '#database'
import type { Logger } from '#log'
import { passMilestone } from './milestone.ts'
import type { Wanted } from './order.ts'
import { repeat } from './repeat.ts'
import { untilAvailable } from './retry.ts'

const renewalsPerLease = 30
// Parts of a lease: a renewal that is not answered by then is tried on a new connection; the worker fences itself.
const answerWithin = 1 / 3
const fencedAfter = 2 / 3
// Renewing takes a millisecond. The limit also says how soon a connection that has gone silent is replaced.
const longestStatementSeconds = 2

/** The reason with which runs are ended when the worker cannot say any more that it lives. */
export class LeaseExpiredError extends Error {
  override readonly name = 'LeaseExpiredError'
}

/** Who a worker is, and until when. */
export interface Claim {
  /** Who this worker is in the log. One that was given up meanwhile goes on under a new id. */
  readonly workerId: string
  /** Fires when runs begun under it must end, because others may have taken them over; then there is a new one. */
  readonly signal: AbortSignal
}

/** A worker's claim to be alive. */
export interface Lease extends Claim {
  /** Renews now: what the worker says of itself has changed. */
  renew(): void
  /** Says that the worker ends in an orderly way. */
  stop(): Promise<void>
}

/** A worker as it announces itself. */
export interface Announcement {
  readonly url: string
  readonly slots: number
  /** What it runs: versions, command lines and limits of each language. */
  readonly languages: object
  /** Its release and how its boxes are made. */
  readonly description?: { readonly version: string; readonly isolation: object }
  /** Not renewed for so long, the worker is given up by others; after two thirds of it, it stops by itself. */
  readonly leaseSeconds: number
  /** The ids under which graphile-worker locks this worker's jobs. */
  readonly queuePoolIds: () => readonly string[]
  /** Why it takes no submissions at present; null when it takes them. */
  readonly suspendedBecause?: () => string | null
  /** Told with each renewal what is wanted of this worker; askedAt: when it was asked, by performance.now(). */
  readonly onWanted?: (wanted: Wanted, askedAt: number) => void
  readonly log: Logger
}

/** Registers a worker and keeps its lock and lease. Resolves when it is registered, however long the database is away. */
export async function announceWorker(announcement: Announcement): Promise<Lease> {
  const { url, slots, languages, leaseSeconds, queuePoolIds, log } = announcement
  const { description = {}, suspendedBecause = () => null, onWanted } = announcement
  const leaseMilliseconds = leaseSeconds * 1000
  let workerId = uuidv7()
  /** Under which id it was given up. */
  let succeeds: string | undefined
  let fence = new AbortController()
  let registered = false
  let renewedAt = performance.now()
  let session = openSession()

  // One connection of its own: the lock lives as long as its session.
  function openSession(): Database {
    const opened = createDatabase({
      url,
      connections: 1,
      name: 'runledger lease',
      statementSeconds: Math.min(longestStatementSeconds, leaseSeconds * answerWithin),
      holdsSession: true,
      onClose() {
        if (opened !== session) return
        registered = false
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
    // By the database's clock the lease begins when the statement arrives: not before it was sent.
    const sentAt = performance.now()
    if (!registered) {
      passMilestone('lease.before_register')
      await session`
        select runledger.register_worker(
          ${workerId}, ${hostname()}, ${process.pid}, ${slots}, ${json(session, languages)}, ${leaseSeconds},
          ${json(session, { ...description, succeeds })}
        )`
      registered = true
      passMilestone('lease.after_register')
    }
    const [row] = await session<{ wanted: Wanted | null }[]>`
      select runledger.renew_worker(${workerId}, ${[...queuePoolIds()]}, ${suspendedBecause()}) as wanted`
    const wanted = row?.wanted ?? null
    if (wanted !== null) {
      renewedAt = sentAt
      onWanted?.(wanted, sentAt)
      return
    }
    endRuns('given up by the others')
    succeeds = workerId
    workerId = uuidv7()
    registered = false
    await renew()
  }

  // A connection whose other end vanished answers nothing for minutes: the lease does not have so long.
  async function renewInTime(): Promise<void> {
    const timer = setTimeout(() => {
      const silent = session
      registered = false
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
