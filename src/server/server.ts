// The Procfile's web entry. It makes its parts, listens and sweeps (job/sweep.ts). On a signal it stops before the platform
// kills it: it notifies routers, ends streams so that clients continue them at another process, and answers waiting callers.
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { exitForConfig } from '#config'
import { createConsole } from '#console'
import { checkLogin, createDatabase, shortenOutages, surviveLostConnections } from '#database'
import type { Database } from '#database'
import { describeError } from '#error-text'
import { createHttp, createServer } from '#http'
import { createLog } from '#log'
import { findNewestMigration } from '#migration-file'
import { exitIfOlder } from '#release'
import { createStreams, createWaiter } from '#result'
import { startSweep } from '#sweep'
import { readSettings, readTls } from './settings.ts'

// The database ends a statement after these times. Requests stop waiting sooner (http/problem.ts).
const statementSeconds = 2
// Longer, because one transaction requeues a thousand attempts of lost workers.
const sweepSeconds = 10
// Platforms kill a process 30 s after the signal, so requests that wait for a result are ended before that.
const drainSeconds = 20
const lastSeconds = 27
// Routers keep sending on open connections for a moment.
const farewellMilliseconds = 500

/** Errors of listen that a retry does not repair, with the text for the operator. */
const listenRefusals: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use by another process',
  EACCES: 'is not for this user to listen on',
  EADDRNOTAVAIL: 'is not an address of this host',
  ENOTFOUND: 'is not an address of this host',
}

const settings = readSettings()
const { tls } = settings
const log = createLog('web', settings.LOG_LEVEL)
shortenOutages(log)
surviveLostConnections((error) => log.warn({ err: error }, 'database.connection_lost'))
// The sweep has a pool of its own, because a full pool must not keep lost workers from being found.
const pools = {
  database: openPool('runledger web', settings.DATABASE_CONNECTIONS, statementSeconds),
  sweep: openPool('runledger sweep', 1, sweepSeconds),
}
const { database } = pools
// No role is required here, because a release may be about to grant it. /readyz reports a missing role.
const refusal = await checkLogin(database, settings.DATABASE_URL, [])
if (refusal !== null) exitForConfig(`DATABASE_URL: ${refusal}`)
await exitIfOlder(database, log)
const waiter = createWaiter(database, (error) => log.warn({ err: error }, 'waiter.failed'))
const streams = createStreams(database, (error) => log.warn({ err: error }, 'stream.failed'))
const app = createHttp({
  database,
  waiter,
  streams,
  log,
  newestMigration: findNewestMigration(),
  trustProxy: settings.TRUST_PROXY,
  syncWaitSeconds: settings.SYNC_WAIT_SECONDS,
  queueCapacity: settings.QUEUE_CAPACITY,
  webhookRules: settings.webhookRules,
  corsOrigins: settings.CORS_ORIGINS,
  receiptKey: settings.receiptKey,
  doors: settings.doors,
  console: createConsole(),
})
const http = createServer(app, { tls })
listen()
// Without a certificate SIGHUP does nothing. It still needs a handler, because the default action ends the process.
process.on('SIGHUP', () => tls !== null && renewCertificate())
const { promise: over, resolve: end } = Promise.withResolvers<NodeJS.Signals>()
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, end)
const sweep = startSweep(pools.sweep, log)
await stop(await over)

function openPool(name: string, connections: number, seconds: number): Database {
  return createDatabase({
    url: settings.DATABASE_URL,
    connections,
    name,
    statementSeconds: seconds,
  })
}

function listen(): void {
  const { PORT: port, HOST, TRUST_PROXY } = settings
  // Without TLS and without a proxy the process listens on loopback only, so that no other machine can reach it.
  const host = HOST ?? (tls === null && !TRUST_PROXY ? '127.0.0.1' : '::')
  http.server.on('error', (error: NodeJS.ErrnoException) => {
    const reason = listenRefusals[error.code ?? '']
    if (reason !== undefined) exitForConfig(`HOST, PORT: ${host} port ${port} ${reason}`)
    log.fatal({ err: error, host, port }, 'web.failed')
    process.exit(1)
  })
  http.server.listen(port, host, () => {
    const { port: bound } = http.server.address() as AddressInfo
    log.info({ host, port: bound, tls: tls !== null }, 'web.started')
  })
}

/** Reads the certificate's files again. When they are wrong, the present certificate stays in use. */
function renewCertificate(): void {
  try {
    const renewed = readTls(settings.TLS_CERT, settings.TLS_KEY)
    if (renewed !== null) http.renewCertificate(renewed)
    log.info('web.certificate_read')
  } catch (error) {
    log.error({ reason: describeError(error).trim() }, 'web.certificate_not_read')
  }
}

async function stop(signal: NodeJS.Signals): Promise<never> {
  log.info({ signal }, 'web.stopping')
  // Exits in any case, because without a database the driver would wait for ever. Nothing is left to save.
  setTimeout(() => process.exit(1), lastSeconds * 1000).unref()
  http.sayFarewell()
  await sleep(farewellMilliseconds)
  const closed = new Promise<void>((resolve) => http.server.close(() => resolve()))
  // Clients of streams reconnect to another process.
  await streams.close()
  const drained = setTimeout(() => http.server.closeAllConnections(), drainSeconds * 1000)
  const waiters = setTimeout(() => void waiter.close(), (drainSeconds - 1) * 1000)
  await closed
  clearTimeout(drained)
  clearTimeout(waiters)
  await Promise.all([waiter.close(), sweep.stop()])
  await Promise.all(Object.values(pools).map((pool) => pool.end({ timeout: 5 })))
  log.info('web.stopped')
  // An explicit exit, because a LISTEN connection that the driver was reopening when its pool ended keeps the event loop alive.
  process.exit(0)
}
