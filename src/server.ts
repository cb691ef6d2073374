// The Procfile's web entry: configuration → log → database → routes → listen; on a signal the same way back.
import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createSecureContext } from 'node:tls'
import { ConfigError, exitForConfig, readOrExit, readWebConfig } from '#config'
import { createConsole } from '#console'
import { checkLogin, createDatabase, surviveLostConnections } from '#database'
import { describeError } from '#error-text'
import { createHttp, createServer } from '#http'
import { createLog } from '#log'
import { findNewestMigration } from '#migration-file'
import { readSigningKey } from '#receipt'
import type { SigningKey } from '#receipt'
import { createStreams, createWaiter } from '#result'
import { startSweep } from '#sweep'
import { parseRanges } from '#webhook-address'

// The database ends a statement after these; with the heartbeat, a silent connection too. Requests give up sooner
// (http/deadline.ts).
const statementSeconds = 2
// All that a lost worker held is given back in one transaction.
const sweepSeconds = 10
// Platforms kill 30 s after the signal; requests that wait for a result end before.
const drainSeconds = 20
// Routers go on sending for a moment on kept connections.
const farewellMilliseconds = 500
const lastSeconds = 27

/** Retrying helps against none of these. */
const listenRefusals: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use by another process',
  EACCES: 'is not for this user to listen on',
  EADDRNOTAVAIL: 'is not an address of this host',
  ENOTFOUND: 'is not an address of this host',
}

const config = readOrExit(() => {
  const read = readWebConfig()
  const { ranges, issues } = parseRanges(read.WEBHOOK_ALLOWED_RANGES)
  if (issues.length > 0) throw new ConfigError(`  WEBHOOK_ALLOWED_RANGES: ${issues.join('; ')}`)
  return {
    ...read,
    webhookAllowedRanges: ranges,
    tls: readTls(read.TLS_CERT, read.TLS_KEY),
    receiptKey: readReceiptKey(read.RECEIPT_KEY),
  }
})
const log = createLog('web', config.LOG_LEVEL)
surviveLostConnections((error) => log.warn({ err: error }, 'database.connection_lost'))
const database = createDatabase({
  url: config.DATABASE_URL,
  connections: config.DATABASE_CONNECTIONS,
  name: 'runledger web',
  statementSeconds,
  heartbeat: true,
})
// No role is asked for: a release may be about to grant it. /readyz reports one that is missing.
const refusal = await checkLogin(database, config.DATABASE_URL, [])
if (refusal !== null) exitForConfig(`DATABASE_URL: ${refusal}`)
const waiter = createWaiter(database, (error) => log.warn({ err: error }, 'waiter.failed'))
const streams = createStreams(database, (error) => log.warn({ err: error }, 'stream.failed'))
// Its own connection: full pools must not keep lost workers from being found.
const sweepDatabase = createDatabase({
  url: config.DATABASE_URL,
  connections: 1,
  name: 'runledger sweep',
  statementSeconds: sweepSeconds,
})
const sweep = startSweep(sweepDatabase, log)
const app = createHttp({
  database,
  waiter,
  streams,
  log,
  newestMigration: findNewestMigration(),
  trustProxy: config.TRUST_PROXY,
  syncWaitSeconds: config.SYNC_WAIT_SECONDS,
  queueCapacity: config.QUEUE_CAPACITY,
  webhookAllowedRanges: config.webhookAllowedRanges,
  receiptKey: config.receiptKey,
  console: createConsole(),
})
const { server, sayFarewell } = createServer(app, { tls: config.tls })
// Without TLS and proxy, nobody beyond this machine may reach it.
const host = config.HOST ?? (config.tls === null && !config.TRUST_PROXY ? '127.0.0.1' : '::')
server.on('error', (error: NodeJS.ErrnoException) => {
  const reason = listenRefusals[error.code ?? '']
  if (reason !== undefined) exitForConfig(`HOST, PORT: ${host} port ${config.PORT} ${reason}`)
  log.fatal({ err: error, host, port: config.PORT }, 'web.failed')
  process.exit(1)
})
server.listen(config.PORT, host, () => {
  const { port } = server.address() as AddressInfo
  log.info({ host, port, tls: config.tls !== null }, 'web.started')
})

let stopping = false
async function stop(signal: string): Promise<void> {
  if (stopping) return
  stopping = true
  log.info({ signal }, 'web.stopping')
  // Without a database the driver would wait for ever; nothing is left to save.
  setTimeout(() => process.exit(1), lastSeconds * 1000).unref()
  sayFarewell()
  await sleep(farewellMilliseconds)
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  // Clients of streams go on at another process.
  await streams.close()
  const drained = setTimeout(() => server.closeAllConnections(), drainSeconds * 1000)
  const waiters = setTimeout(() => void waiter.close(), (drainSeconds - 1) * 1000)
  await closed
  clearTimeout(drained)
  clearTimeout(waiters)
  await Promise.all([waiter.close(), sweep.stop()])
  await Promise.all([database, sweepDatabase].map((pool) => pool.end({ timeout: 5 })))
  log.info('web.stopped')
  // A LISTEN connection that the driver was making anew when its pool ended keeps the event loop.
  process.exit(0)
}
process.on('SIGTERM', (signal) => void stop(signal))
process.on('SIGINT', (signal) => void stop(signal))

function readTls(
  cert: string | undefined,
  key: string | undefined,
): { cert: string; key: string } | null {
  if (cert === undefined || key === undefined) return null
  try {
    const pair = { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') }
    createSecureContext(pair) // throws unless they are PEM and belong together
    return pair
  } catch (error) {
    throw new ConfigError(`  TLS_CERT, TLS_KEY: ${describeError(error)}`)
  }
}

function readReceiptKey(text: string | undefined): SigningKey | null {
  try {
    return text === undefined ? null : readSigningKey(text)
  } catch (error) {
    throw new ConfigError(`  RECEIPT_KEY: ${describeError(error)}`)
  }
}
