// The Procfile's worker entry: configuration → log → database → executor (which checks the host) → lease → queue → sweep
// and retention. On a signal it takes no more, lets runs finish, gives back the rest and ends.
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { ConfigError, exitForConfig, readOrExit, readWorkerConfig } from '#config'
import type { LimitOverride } from '#config'
import { checkLogin, createDatabase, surviveLostConnections, untilAbsent } from '#database'
import { listLacks } from '#detail'
import { describeError } from '#error-text'
import { claimUids, countSpares, createBlobCache, createExecutor, SandboxError } from '#executor'
import type { Executor } from '#executor'
import {
  announceWorker,
  createOrderFollower,
  createSuspension,
  describeLimits,
  fetchBlob,
  orderItself,
  startQueue,
  startRetention,
  startSweep,
} from '#job'
import { defaultLimits } from '#language'
import type { Language, Limits } from '#language'
import { createLog } from '#log'
import metadata from '#package' with { type: 'json' }
import { createDeliverySettings, parseRanges, trustAuthorities } from '#webhook'

// Platforms kill 30 s after the signal.
const drainSeconds = 20
const lastSeconds = 27
// A worker that stops waits so long for a database that does not answer; then it ends, and others give back what it ran.
const absentSeconds = 7
// Statements take milliseconds. A silent connection is kept as long.
const statementSeconds = 2
// All that a lost worker held is given back in one transaction.
const sweepSeconds = 10
const retentionSeconds = 60
const dayMilliseconds = 86_400_000
// So long the log may take to be on stdout.
const logMilliseconds = 250

const config = readOrExit(() => {
  const read = readWorkerConfig()
  const { ranges, issues } = parseRanges(read.WEBHOOK_ALLOWED_RANGES)
  if (issues.length > 0) throw new ConfigError(`  WEBHOOK_ALLOWED_RANGES: ${issues.join('; ')}`)
  return { ...read, webhookAllowedRanges: ranges, webhookTrust: readTrust(read.WEBHOOK_CA) }
})
const log = createLog('worker', config.LOG_LEVEL)
surviveLostConnections((error) => log.warn({ err: error }, 'database.connection_lost'))
const limits = applyOverrides(config.limits)

const database = createDatabase({
  url: config.DATABASE_URL,
  connections: config.DATABASE_CONNECTIONS,
  name: 'runledger worker',
  statementSeconds,
})
const refusal = await checkLogin(database, config.DATABASE_URL, [
  'runledger_worker',
  'runledger_queue',
])
if (refusal !== null) exitForConfig(`DATABASE_URL: ${refusal}`)
// The executor and the lease call what is made after them.
let renew = (): void => {}
let tick = (): void => {}
const notInstalled: Language[] = []
const executor = await startExecutor()
const blobs = createBlobCache({
  directory: `${config.CACHE_DIRECTORY}/blob`,
  capacityBytes: config.BLOB_CACHE_BYTES,
  fetch: (accountId, name) => fetchBlob(database, log, accountId, name),
})
// Its own connection: busy pools must not keep lost workers from being found.
const sweepDatabase = createDatabase({
  url: config.DATABASE_URL,
  connections: 1,
  name: 'runledger sweep',
  statementSeconds: sweepSeconds,
})
// A statement removes a thousand rows, and nobody waits for it.
const retentionDatabase = createDatabase({
  url: config.DATABASE_URL,
  connections: 1,
  name: 'runledger retention',
  statementSeconds: retentionSeconds,
})
const giveBack = new AbortController()
const poolIds: string[] = []
const isPaused = (): boolean => orders.isPaused
const missingAbilities = listLacks(executor)
const suspension = createSuspension({ executor, log, onChange: () => lease.renew() })
const orders = createOrderFollower({
  record: (wanted, signal) => orderItself(database, lease, wanted, { signal }, log),
  log,
})
const lease = await announceWorker({
  url: config.DATABASE_URL,
  slots: executor.slots,
  languages: () =>
    Object.fromEntries(
      [
        ...Object.entries(executor.runtimes),
        // Submissions in these are accepted, and wait for the trial.
        ...Object.entries(executor.awaited).map(
          ([name, runtime]) => [name, { ...runtime, awaits_trial: true }] as const,
        ),
      ].map(([name, runtime]) => [
        name,
        { ...runtime, limits: describeLimits(limits[name as Language]), lacks: missingAbilities },
      ]),
    ),
  description: { version: metadata.version, isolation: executor.isolation },
  leaseSeconds: config.LEASE_SECONDS,
  queuePoolIds: () => poolIds,
  suspendedBecause: () => suspension.because,
  onOrder(wanted, askedAt) {
    orders.follow(wanted, askedAt)
    tick()
  },
  log,
})
renew = () => lease.renew()
const started = Promise.withResolvers<void>()
const queue = await startQueue({
  url: config.DATABASE_URL,
  execute: {
    database,
    executor,
    limits,
    lease,
    log,
    shutdown: giveBack.signal,
    suspension,
    isPaused,
    blobs,
    // While the queue starts there is nothing to stop yet.
    onExhausted: (reason) => void started.promise.then(() => stop(reason, 1)),
  },
  executions: executor.slots,
  deliver: {
    database,
    settings: createDeliverySettings({
      version: metadata.version,
      allowedRanges: config.webhookAllowedRanges,
      allowedPorts: config.WEBHOOK_ALLOWED_PORTS,
      trust: config.webhookTrust,
      totalSeconds: config.WEBHOOK_TIMEOUT_SECONDS,
      connectSeconds: config.WEBHOOK_CONNECT_SECONDS,
    }),
    schedule: config.WEBHOOK_SCHEDULE_SECONDS,
    perHost: config.WEBHOOK_PER_HOST,
    // An account could use a thousand host names to take every place.
    perAccount: Math.ceil(config.WEBHOOK_CONCURRENCY / 2),
    get workerId() {
      return lease.workerId
    },
    log,
    signal: giveBack.signal,
  },
  deliveries: config.WEBHOOK_CONCURRENCY,
  isPaused,
  log,
})
poolIds.push(...queue.poolIds)
tick = () => queue.tick()
lease.renew()
const sweep = startSweep(sweepDatabase, log)
const retention = startRetention({
  database: retentionDatabase,
  retentionDays: config.RETENTION_DAYS,
  log,
  onPass: () => blobs.forgetUnused(config.RETENTION_DAYS * dayMilliseconds),
})
// Mostly a lost connection; the platform starts a new worker.
queue.ended.then(
  () => stop('queue ended', 1),
  (error: unknown) => {
    log.error({ err: error }, 'queue.failed')
    return stop('queue failed', 1)
  },
)
process.on('SIGTERM', (signal) => void stop(signal, 0))
process.on('SIGINT', (signal) => void stop(signal, 0))
for (const signal of ['SIGTSTP', 'SIGCONT'] as const)
  process.on(signal, () => void orders.signal(signal))
void orders.over.then(endWhenIdle)
log.info(
  {
    worker: lease.workerId,
    slots: executor.slots,
    isolation: executor.isolation,
    languages: Object.keys(executor.runtimes),
    absent: notInstalled,
  },
  'worker.started',
)
let stopping = false
started.resolve()

/** Gives nothing back, however long runs take. A signal ends it sooner. */
async function endWhenIdle(reason: 'drained' | 'restarted'): Promise<void> {
  await queue.idle()
  await stop(reason, 0)
}

async function stop(reason: string, exitCode: number): Promise<void> {
  if (stopping) return
  stopping = true
  log.info({ reason }, 'worker.stopping')
  const drained = setTimeout(() => giveBack.abort(), drainSeconds * 1000)
  // Others find the rest once this worker's lock and lease are gone (job/lease.ts).
  setTimeout(() => process.exit(1), lastSeconds * 1000).unref()
  void endWithoutDatabase()
  suspension.stop()
  await queue.stop()
  clearTimeout(drained)
  const executorClosed = executor.close().catch((error: unknown) => {
    // The next worker's start clears it away.
    log.error({ err: error }, 'executor.left_over')
  })
  await Promise.allSettled([retention.stop(), sweep.stop(), lease.stop(), executorClosed])
  await Promise.all(
    [database, sweepDatabase, retentionDatabase].map((pool) => pool.end({ timeout: 1 })),
  )
  log.info('worker.stopped')
  if (reason === 'restarted') await beginAgain()
  // After an outage graphile-worker may keep the event loop for a minute.
  process.exit(exitCode)
}

/** What ran is given back by others. */
async function endWithoutDatabase(): Promise<void> {
  // On a connection of its own: in any pool it may stand behind statements that wait, though the database is there.
  const url = config.DATABASE_URL
  const asked = createDatabase({ url, connections: 1, name: 'runledger end', statementSeconds })
  await untilAbsent(asked, absentSeconds)
  log.warn({ seconds: absentSeconds }, 'worker.stopped_without_database')
  await sleep(logMilliseconds)
  process.exit(1)
}

/** In the same process, as whoever started it watches that one and takes its end for the worker's. */
async function beginAgain(): Promise<void> {
  await sleep(logMilliseconds)
  process.execve?.(process.execPath, [
    process.execPath,
    ...process.execArgv,
    ...process.argv.slice(1),
  ])
}

async function startExecutor(): Promise<Executor> {
  try {
    return await createExecutor({
      slots: config.SLOTS,
      spares: countSpares(config.SLOTS),
      firstUid: await claimFirstUid(),
      limits,
      cacheBytes: config.CACHE_BYTES,
      cacheDirectory: config.CACHE_DIRECTORY,
      box: config.BOX,
      onChange: () => renew(),
      onFallback: (reason) => log.warn({ reason }, 'executor.fallback'),
      settings: config.settings,
      ...(config.LANGUAGES && { languages: config.LANGUAGES }),
      onMissing({ isBroken, ...missing }) {
        if (isBroken) log.warn(missing, 'language.missing')
        else notInstalled.push(missing.language)
      },
    })
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error
    log.fatal({ step: error.step }, 'worker.refused')
    process.stderr.write(
      `${error.message}\nThe worker does not start without isolation, or without any language. \`make doctor\` checks this host.\n`,
    )
    process.exit(69) // EX_UNAVAILABLE of sysexits
  }
}

/** One for each slot, spare ones too, and each resident compiler. An unprivileged worker has only its own. */
async function claimFirstUid(): Promise<number> {
  const wanted = config.FIRST_UID
  if (process.getuid?.() !== 0) return wanted
  const { firstUid } = await claimUids(wanted, 3 * config.SLOTS)
  if (firstUid !== wanted) log.info({ wanted, firstUid }, 'worker.uids_moved')
  return firstUid
}

function applyOverrides(overrides: readonly LimitOverride[]): Record<Language, Limits> {
  const result = structuredClone(defaultLimits) as Record<Language, Limits>
  for (const { language, phase, limit, value } of overrides) {
    const before = result[language][phase]
    if (before !== null)
      result[language] = { ...result[language], [phase]: { ...before, [limit]: value } }
  }
  return result
}

function readTrust(path: string | undefined): ReturnType<typeof trustAuthorities> {
  try {
    return trustAuthorities(path === undefined ? '' : readFileSync(path, 'utf8'))
  } catch (error) {
    throw new ConfigError(`  WEBHOOK_CA: ${describeError(error)}`)
  }
}
