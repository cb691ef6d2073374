// A worker's claim to be alive. The worker holds a session lock, which a killed process frees at once, and renews a lease,
// which a frozen process does not. Without renewal the worker ends its runs before other workers start them.
import { hostname } from 'node:os'
import { repeat } from '#back-off'
import { createDatabase, json, untilAvailable } from '#database'
import { createId } from '#id'
import type { Logger } from '#log'
import { reachFailpoint } from './failpoint.ts'
import type { DesiredState } from './command.ts'

const renewalsPerLease = 30
// Shares of a lease: the longest that a renewal may take, and the time after which the worker fences itself.
const answerWithin = 1 / 3
const fencedAfter = 2 / 3
// Renewing takes a millisecond. A connection that is silent for longer is closed (database/socket.ts).
const longestStatementSeconds = 2

/** The reason with which runs end when the worker cannot renew its lease. */
export class LeaseExpiredError extends Error {
  override readonly name = 'LeaseExpiredError'
}

/** The id under which a worker runs now, and the signal that ends the runs of this id. */
export interface WorkerIdentity {
  /** The id in the log. A worker that was declared lost continues under a new id. */
  readonly workerId: string
  /** Fires when the runs of this id must end, because other workers may have taken them over. */
  readonly signal: AbortSignal
}

export interface Lease extends WorkerIdentity {
  /**
   * Registers the worker and renews the lease from then on. Resolves once registered, however
   * long the database is unavailable.
   */
  announce(announcement: Announcement): Promise<void>
  /** Renews at once, because the worker's state or its languages changed. Does nothing before `announce`. */
  renew(): void
  /** Stops renewing, and reports that the worker ends in an orderly way. */
  stop(): Promise<void>
}

interface Announcement {
  readonly slots: number
  /**
   * Returns the languages that the worker runs now, each with versions, command lines and limits. Each renewal
   * calls it and reports a change.
   */
  readonly languages: () => object
  /** The worker's release and how it isolates programs. */
  readonly description: { readonly version: string; readonly isolation: object }
  /** Returns why the worker takes no submissions; null when it takes them. */
  readonly suspendedBecause: () => string | null
  /** Returns the ids under which graphile-worker locks this worker's jobs. */
  readonly listPoolIds: () => readonly string[]
  /** Called at each renewal with the wanted state. `askedAt` is when the renewal was sent, by performance.now(). */
  readonly onRenewed: (wanted: DesiredState, askedAt: number) => void
}

/**
 * Creates a lease. It has an id before it is announced.
 * @param leaseSeconds Other workers declare this one lost after this time without renewal. It ends its own runs after two
 *   thirds of it.
 */
export function createLease(url: string, leaseSeconds: number, log: Logger): Lease {
  const leaseMilliseconds = leaseSeconds * 1000
  let workerId = createId()
  /**
   * The id to register under. After the worker was declared lost it is a new one, which becomes `workerId` once it is
   * registered and has the worker's commands.
   */
  let nextId = workerId
  /** The id under which the worker was declared lost. */
  let succeeds: string | undefined
  let fence = new AbortController()
  /** The languages that this session has registered, as JSON; null before. */
  let registered: string | null = null
  /** The languages that any session registered last. */
  let logged: string | null = null
  let renewedAt = performance.now()
  let renewing: ReturnType<typeof repeat> | undefined
  let watching: NodeJS.Timeout | undefined
  const session = createDatabase({
    url,
    connections: 1,
    name: 'runledger lease',
    statementSeconds: Math.min(longestStatementSeconds, leaseSeconds * answerWithin),
    // The lock lives as long as its connection, so a new one registers again.
    onClose() {
      registered = null
      renewing?.hurry()
    },
  })

  function endRuns(reason: string): void {
    log.warn({ worker: workerId, reason }, 'worker.fenced')
    fence.abort(new LeaseExpiredError(reason))
    fence = new AbortController()
  }

  async function renew(announcement: Announcement): Promise<void> {
    const { slots, languages, description, suspendedBecause, listPoolIds } = announcement
    // By the database's clock the lease starts no earlier than this.
    const sentAt = performance.now()
    const offered = languages()
    const described = JSON.stringify(offered)
    if (registered !== described) {
      reachFailpoint('lease.before_register')
      await session`
        select runledger.register_worker(
          ${nextId}, ${hostname()}, ${process.pid}, ${slots}, ${json(session, offered)}, ${leaseSeconds},
          ${json(session, { ...description, succeeds })}
        )`
      workerId = nextId
      registered = described
      if (logged !== null && logged !== described)
        log.info({ worker: workerId, languages: Object.keys(offered) }, 'worker.languages')
      logged = described
      reachFailpoint('lease.after_register')
    }
    const [row] = await session<{ wanted: DesiredState | null }[]>`
      select runledger.renew_worker(${workerId}, ${[...listPoolIds()]}, ${suspendedBecause()}) as wanted`
    const wanted = row?.wanted ?? null
    if (wanted !== null) {
      renewedAt = sentAt
      announcement.onRenewed(wanted, sentAt)
      return
    }
    endRuns('given up by the others')
    succeeds = workerId
    nextId = createId()
    registered = null
    await renew(announcement)
  }

  /** Ends this worker's runs once the lease is so old that other workers may take them over. */
  function watchAge(): void {
    if (performance.now() - renewedAt < leaseMilliseconds * fencedAfter) return
    endRuns('the lease could not be renewed')
    renewedAt = performance.now()
  }

  return {
    get workerId() {
      return workerId
    },
    get signal() {
      return fence.signal
    },
    async announce(announcement) {
      const renewOnce = (): Promise<void> => renew(announcement)
      renewedAt = performance.now()
      await untilAvailable(renewOnce, log)
      renewing = repeat(renewOnce, leaseMilliseconds / renewalsPerLease, (error) =>
        log.warn({ err: error }, 'worker.lease_not_renewed'),
      )
      watching = setInterval(watchAge, leaseMilliseconds / renewalsPerLease)
    },
    renew: () => renewing?.hurry(),
    async stop() {
      clearInterval(watching)
      await renewing?.stop()
      await session`select runledger.stop_worker(${workerId})`.catch(() => {})
      await session.end({ timeout: 2 })
    },
  }
}
