// Stops a web process before the platform kills it: notifies routers, ends streams so that clients continue them at another
// process, and answers waiting callers.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Web } from './connect.ts'

// Platforms kill a process 30 s after the signal, so requests that wait for a result are ended before that.
const drainSeconds = 20
const lastSeconds = 27
// Routers keep sending on open connections for a moment.
const farewellMilliseconds = 500

/** Stops the web process and exits. */
export async function stopWeb(web: Web, signal: NodeJS.Signals): Promise<never> {
  const { http, waiter, streams, sweep, pools, log } = web
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
