// Second phase of a start: connects the parts. The worker registers, takes jobs, sweeps for lost
// workers and removes old data.
import { describeLimits, startQueue, startRetention, startSweep } from '#job'
import type { JobOptions } from '#job'
import type { Language } from '#language'
import metadata from '#package' with { type: 'json' }
import { createDeliverySettings } from '#webhook'
import type { Parts } from './make.ts'

const dayMilliseconds = 86_400_000

/** Why a worker ends, and its exit status. */
export interface End {
  readonly reason: string
  readonly exitCode: number
}

export interface Worker extends Parts {
  readonly queue: Awaited<ReturnType<typeof startQueue>>
  readonly sweep: ReturnType<typeof startSweep>
  readonly retention: ReturnType<typeof startRetention>
  /** Resolves, once, when the worker should end. */
  readonly over: Promise<End>
}

/** Connects the parts. Resolves once the worker is registered and takes jobs, however long the database is unavailable. */
export async function connectParts(parts: Parts): Promise<Worker> {
  const { executor, lease, commands, suspension, pools, settings, blobs, log } = parts
  const { promise: over, resolve: end } = Promise.withResolvers<End>()
  lease.onRenewed(commands.follow)
  await lease.announce({
    slots: executor.slots,
    languages: () => describeLanguages(parts),
    description: { version: metadata.version, isolation: executor.isolation },
    suspendedBecause: () => suspension.because,
  })
  const queue = await startQueue(queueOptions(parts, (reason) => end({ reason, exitCode: 1 })))
  lease.lockAs(() => queue.poolIds)
  lease.onRenewed(() => queue.tick())
  const sweep = startSweep(pools.sweep, log)
  const retention = startRetention({
    database: pools.retention,
    retentionDays: settings.RETENTION_DAYS,
    log,
    onPass: () => blobs.forgetUnused(settings.RETENTION_DAYS * dayMilliseconds),
  })
  // Mostly because a connection was lost. The platform then starts a new worker.
  queue.ended.then(
    () => end({ reason: 'queue ended', exitCode: 1 }),
    (error: unknown) => {
      log.error({ err: error }, 'queue.failed')
      end({ reason: 'queue failed', exitCode: 1 })
    },
  )
  // A drained or restarted worker requeues nothing, however long its runs take. A signal ends it sooner.
  const endWhenIdle = async (): Promise<void> => {
    const reason = await commands.over
    await queue.idle()
    end({ reason, exitCode: 0 })
  }
  void endWhenIdle()
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => end({ reason: signal, exitCode: 0 }))
  for (const signal of ['SIGTSTP', 'SIGCONT'] as const)
    process.on(signal, () => {
      void commands.signal(signal).then(queue.tick)
      queue.tick()
    })
  return { ...parts, queue, sweep, retention, over }
}

/** Returns the languages as the worker's row has them. */
function describeLanguages({ executor, settings: { limits } }: Parts): object {
  // Submissions in these languages are accepted, and wait until the language has passed its trial.
  const awaited = Object.entries(executor.awaited).map(
    ([name, runtime]) => [name, { ...runtime, awaits_trial: true }] as const,
  )
  return Object.fromEntries(
    [...Object.entries(executor.runtimes), ...awaited].map(([name, runtime]) => [
      name,
      { ...runtime, limits: describeLimits(limits[name as Language]) },
    ]),
  )
}

function queueOptions(parts: Parts, onExhausted: (reason: string) => void): JobOptions {
  const { executor, lease, commands, settings, log } = parts
  const { database } = parts.pools
  const { signal } = parts.giveBack
  const isPaused = (): boolean => commands.isPaused
  return {
    url: settings.DATABASE_URL,
    execute: {
      database,
      patientDatabase: parts.pools.patient,
      executor,
      limits: settings.limits,
      lease,
      log,
      shutdown: signal,
      suspension: parts.suspension,
      blobs: parts.blobs,
      onExhausted,
    },
    executions: executor.slots,
    deliver: {
      database,
      settings: createDeliverySettings({
        version: metadata.version,
        allowedRanges: settings.webhookAllowedRanges,
        allowedPorts: settings.WEBHOOK_ALLOWED_PORTS,
        trust: settings.webhookTrust,
        totalSeconds: settings.WEBHOOK_TIMEOUT_SECONDS,
        connectSeconds: settings.WEBHOOK_CONNECT_SECONDS,
      }),
      schedule: settings.WEBHOOK_SCHEDULE_SECONDS,
      perHost: settings.WEBHOOK_PER_HOST,
      // Otherwise one account could use a thousand host names and occupy all deliveries.
      perAccount: Math.ceil(settings.WEBHOOK_CONCURRENCY / 2),
      get workerId() {
        return lease.workerId
      },
      log,
      signal,
    },
    deliveries: settings.WEBHOOK_CONCURRENCY,
    isPaused,
    log,
  }
}
