// A worker's claim to be alive. It holds a session lock, which a killed process frees at once, and renews a lease,
// which a frozen one does not. Without renewal it ends its runs before others begin them.
import { hostname } from 'node:os'
import { createDatabase, json } from '#database'
import type { Database } from '#database'
import { createId } from '#id'
import type { Logger } from '#log'
import { reachFailpoint } from './failpoint.ts'
import type { DesiredState } from './command.ts'
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
  /** In the log. A worker that was taken for lost goes on under a new id. */
  readonly workerId: string
  /** Fires when runs of this id must end, as others may have taken them over. */
  readonly signal: AbortSignal
}

export interface Lease extends WorkerIdentity {
  /** Registers the worker and renews from then on. Resolves once registered, however long the database is away. */
  announce(announcement: Announcement): Promise<void>
  /** Calls it with what is wanted, as it comes with each renewal; askedAt, by performance.now(). */
  onRenewed(listener: (wanted: DesiredState, askedAt: number) => void): void
  /** From now on each renewal names the ids under which graphile-worker locks this worker's jobs. */
  lockAs(listPoolIds: () => readonly string[]): void
  /** Renews now, as the worker's description or its languages have changed; nothing before it is announced. */
  renew(): void
  /** Says that the worker ends in an orderly way. */
  stop(): Promise<void>
}

interface LeaseOptions {
  readonly url: string
  /** Without renewal others give the worker up; after two thirds it stops by itself. */
  readonly leaseSeconds: number
  readonly log: Logger
}

interface Announcement {
  readonly slots: number
  /** What it runs now: versions, command lines and limits of each language. Asked at each renewal, which reports a change. */
  readonly languages: () => object
  /** Its release and how its boxes are made. */
  readonly description?: { readonly version: string; readonly isolation: object }
  /** Why it takes no submissions; null when it takes them. */
  readonly suspendedBecause?: () => string | null
}

/** A lease that is not announced yet: it has an id. */
export function createLease({ url, leaseSeconds, log }: LeaseOptions): Lease {
  const leaseMilliseconds = leaseSeconds * 1000
  const listeners: ((wanted: DesiredState, askedAt: number) => void)[] = []
  let listPoolIds = (): readonly string[] => []
  let workerId = createId()
  /** To register under: another id once this one was taken for lost, in force when it is registered and has its commands. */
  let nextId = workerId
  /** The id under which it was taken for lost. */
  let succeeds: string | undefined
  let fence = new AbortController()
  /** What this session has said that it runs, as JSON; null before. */
  let registered: string | null = null
  /** What it last said, whatever the session. */
  let logged: string | null = null
  let renewedAt = performance.now()
  let session = openSession()
  let renewing: ReturnType<typeof repeat> | undefined
  let watching: NodeJS.Timeout | undefined

  // The lock lives as long as its session.
  function openSession(): Database {
    const opened = createDatabase({
      url,
      connections: 1,
      name: 'runledger lease',
      statementSeconds: Math.min(longestStatementSeconds, leaseSeconds * answerWithin),
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

  async function renew(announcement: Announcement): Promise<void> {
    const { slots, languages, description = {}, suspendedBecause = () => null } = announcement
    // The lease begins, by the database's clock, no earlier than this.
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
        log.info({ worker: workerId, ...compareLanguages(logged, offered) }, 'worker.languages')
      logged = described
      reachFailpoint('lease.after_register')
    }
    const [row] = await session<{ wanted: DesiredState | null }[]>`
      select runledger.renew_worker(${workerId}, ${[...listPoolIds()]}, ${suspendedBecause()}) as wanted`
    const wanted = row?.wanted ?? null
    if (wanted !== null) {
      renewedAt = sentAt
      for (const listener of listeners) listener(wanted, sentAt)
      return
    }
    endRuns('given up by the others')
    succeeds = workerId
    nextId = createId()
    registered = null
    await renew(announcement)
  }

  // A connection whose other end vanished is silent for minutes, longer than a lease.
  async function renewInTime(announcement: Announcement): Promise<void> {
    const timer = setTimeout(() => {
      const silent = session
      registered = null
      session = openSession()
      void silent.end({ timeout: 0 }).catch(() => {})
    }, leaseMilliseconds * answerWithin)
    try {
      await renew(announcement)
    } finally {
      clearTimeout(timer)
    }
  }

  /** Ends what runs once the lease is so old that others may take it over. */
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
      const renewOnce = (): Promise<void> => renewInTime(announcement)
      renewedAt = performance.now()
      await untilAvailable(renewOnce, log)
      renewing = repeat(renewOnce, leaseMilliseconds / renewalsPerLease, (error) =>
        log.warn({ err: error }, 'worker.lease_not_renewed'),
      )
      watching = setInterval(watchAge, leaseMilliseconds / renewalsPerLease)
    },
    onRenewed(listener) {
      listeners.push(listener)
    },
    lockAs(list) {
      listPoolIds = list
      renewing?.hurry()
    },
    renew() {
      renewing?.hurry()
    },
    async stop() {
      clearInterval(watching)
      await renewing?.stop()
      await session`select runledger.stop_worker(${workerId})`.catch(() => {})
      await session.end({ timeout: 2 })
    },
  }
}

/** @param before as JSON. */
function compareLanguages(before: string, now: object): object {
  const were = new Map(Object.entries(JSON.parse(before) as object))
  const are = new Map(Object.entries(now))
  const differs = (name: string): boolean =>
    JSON.stringify(were.get(name)) !== JSON.stringify(are.get(name))
  return {
    languages: [...are.keys()],
    added: [...are.keys()].filter((name) => !were.has(name)),
    removed: [...were.keys()].filter((name) => !are.has(name)),
    changed: [...are.keys()].filter((name) => were.has(name) && differs(name)),
  }
}
