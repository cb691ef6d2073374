// The Procfile's worker entry. It makes the worker's parts, each after those that it needs, registers, takes jobs, sweeps for
// lost workers and removes old data. The first reason to end stops it before the platform kills it: it takes no more jobs,
// lets runs finish, requeues the rest and exits.
import { fetchBlob } from '#blob'
import { commandItself, createCommandFollower } from '#command'
import { exitForConfig, readOrExit } from '#config'
import {
  checkLogin,
  createDatabase,
  shortenOutages,
  surviveLostConnections,
  workerRoles,
} from '#database'
import type { Database } from '#database'
import { createDeliverTask } from '#deliver'
import { createExecuteTask, createSuspension } from '#execute'
import { createBlobCache } from '#executor'
import { createLease } from '#lease'
import { createLog } from '#log'
import metadata from '#package' with { type: 'json' }
import { startQueue } from '#queue'
import type { Queue } from '#queue'
import { exitIfOlder } from '#release'
import { startRetention } from '#retention'
import { startSweep } from '#sweep'
import { describeLanguages, makeExecutor } from './executor.ts'
import { parseSettings } from './settings.ts'
import { endWithoutDatabase, startAgain } from './stop.ts'

// Statements take milliseconds. A connection whose statement has no answer for about this long is closed.
const statementSeconds = 2
// One transaction requeues a thousand attempts of lost workers.
const sweepSeconds = 10
// One statement removes a thousand rows, or writes a result of up to 45 MB, and no caller waits for it.
const patientSeconds = 60
// Platforms kill a process 30 s after the signal.
const drainSeconds = 20
const lastSeconds = 27
const dayMilliseconds = 86_400_000

const settings = readOrExit(parseSettings)
const { DATABASE_URL: url, RETENTION_DAYS: retentionDays } = settings
const log = createLog('worker', settings.LOG_LEVEL)
shortenOutages(log)
surviveLostConnections((error) => log.warn({ err: error }, 'database.connection_lost'))
// The sweep and retention have pools of their own, so that lost workers are found even when the other pools are busy.
const pools = {
  database: openPool('worker', settings.DATABASE_CONNECTIONS, statementSeconds),
  sweep: openPool('sweep', 1, sweepSeconds),
  retention: openPool('retention', 1, patientSeconds),
  /** For large results. */
  patient: openPool('results', 1, patientSeconds),
}
const { database } = pools
const refusal = await checkLogin(database, url, workerRoles)
if (refusal !== null) exitForConfig(`DATABASE_URL: ${refusal}`)
await exitIfOlder(database, log)

const lease = createLease(url, settings.LEASE_SECONDS, log)
const { executor, absent } = await makeExecutor(settings, log, lease.renew)
const blobs = createBlobCache({
  directory: `${settings.CACHE_DIRECTORY}/blob`,
  capacityBytes: settings.BLOB_CACHE_BYTES,
  fetch: (accountId, name) => fetchBlob(database, log, accountId, name),
})
const suspension = createSuspension({ executor, log, onChange: lease.renew })
const commands = createCommandFollower(
  (wanted, signal) => commandItself(database, lease, wanted, { signal }, log),
  log,
)
/** Fires when runs and deliveries under way must be requeued. */
const giveBack = new AbortController()
const { promise: over, resolve: end } = Promise.withResolvers<End>()

let queue: Queue | undefined
await lease.announce({
  slots: executor.slots,
  languages: () => describeLanguages(executor, settings.limits),
  description: { version: metadata.version, isolation: executor.isolation },
  suspendedBecause: () => suspension.because,
  listPoolIds: () => queue?.poolIds ?? [],
  onRenewed(wanted, askedAt) {
    commands.follow(wanted, askedAt)
    queue?.tick()
  },
})
queue = await openQueue()
// The renewal names the ids under which the queue locks jobs.
lease.renew()
const sweep = startSweep(pools.sweep, log)
const retention = startRetention({
  database: pools.retention,
  retentionDays,
  log,
  onPass: () => blobs.forgetUnused(retentionDays * dayMilliseconds),
})
awaitEnd(queue)
const { slots, isolation, runtimes } = executor
log.info(
  { worker: lease.workerId, slots, isolation, languages: Object.keys(runtimes), absent },
  'worker.started',
)
await stop(queue, await over)

function openPool(name: string, connections: number, seconds: number): Database {
  return createDatabase({ url, connections, name: `runledger ${name}`, statementSeconds: seconds })
}

function openQueue(): Promise<Queue> {
  const { signal } = giveBack
  return startQueue({
    url,
    database,
    execute: createExecuteTask({
      database,
      patientDatabase: pools.patient,
      executor,
      limits: settings.limits,
      lease,
      log,
      shutdown: signal,
      suspension,
      blobs,
      onExhausted: (reason) => end({ reason, exitCode: 1 }),
    }),
    executions: executor.slots,
    deliver: createDeliverTask({
      database,
      settings: settings.delivery,
      schedule: settings.WEBHOOK_SCHEDULE_SECONDS,
      perHost: settings.WEBHOOK_PER_HOST,
      // Otherwise one account could use a thousand host names and occupy all deliveries.
      perAccount: Math.ceil(settings.WEBHOOK_CONCURRENCY / 2),
      lease,
      log,
      signal,
    }),
    deliveries: settings.WEBHOOK_CONCURRENCY,
    isPaused: () => commands.isPaused,
    log,
  })
}

/** Why a worker ends, and its exit status. */
interface End {
  readonly reason: string
  readonly exitCode: number
}

/** Calls `end` with each reason to end. */
function awaitEnd({ ended, idle, tick }: Queue): void {
  // Mostly because a connection was lost. The platform then starts a new worker.
  ended.then(
    () => end({ reason: 'queue ended', exitCode: 1 }),
    (error: unknown) => {
      log.error({ err: error }, 'queue.failed')
      end({ reason: 'queue failed', exitCode: 1 })
    },
  )
  // A drained or restarted worker requeues nothing, however long its runs take. A signal ends it sooner.
  const endWhenIdle = async (): Promise<void> => {
    const reason = await commands.over
    await idle()
    end({ reason, exitCode: 0 })
  }
  void endWhenIdle()
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => end({ reason: signal, exitCode: 0 }))
  for (const signal of ['SIGTSTP', 'SIGCONT'] as const)
    process.on(signal, () => {
      void commands.signal(signal).then(tick)
      tick()
    })
}

async function stop({ stop: stopQueue }: Queue, { reason, exitCode }: End): Promise<never> {
  log.info({ reason }, 'worker.stopping')
  const drained = setTimeout(() => giveBack.abort(), drainSeconds * 1000)
  // Other workers find the rest once this worker's lock and lease are gone (job/lease.ts).
  setTimeout(() => process.exit(1), lastSeconds * 1000).unref()
  void endWithoutDatabase(openPool('end', 1, statementSeconds), log)
  suspension.stop()
  await stopQueue()
  clearTimeout(drained)
  const executorClosed = executor.close().catch((error: unknown) => {
    // The next worker clears the leftovers away when it starts.
    log.error({ err: error }, 'executor.left_over')
  })
  await Promise.allSettled([retention.stop(), sweep.stop(), lease.stop(), executorClosed])
  await Promise.all(Object.values(pools).map((pool) => pool.end({ timeout: 1 })))
  log.info('worker.stopped')
  if (reason === 'restarted') await startAgain()
  // After an outage graphile-worker may keep the event loop alive for a minute.
  process.exit(exitCode)
}
