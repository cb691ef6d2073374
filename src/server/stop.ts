// A web process's end: routers are notified, streams go on elsewhere, and waiting callers are answered, before the platform kills it.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Web } from './connect.ts'

// Platforms kill 30 s after the signal; requests that wait for a result end before.
const drainSeconds = 20
const lastSeconds = 27
// Routers go on sending for a moment on kept connections.
const farewellMilliseconds = 500

/** Ends the process. */
export async function stopWeb(web: Web, signal: NodeJS.Signals): Promise<never> {
  const { http, waiter, streams, sweep, pools, log } = web
  log.info({ signal }, 'web.stopping')
  // Without a database the driver would wait for ever; nothing is left to save.
  setTimeout(() => process.exit(1), lastSeconds * 1000).unref()
  http.sayFarewell()
  await sleep(farewellMilliseconds)
  const closed = new Promise<void>((resolve) => http.server.close(() => resolve()))
  // Clients of streams go on at another process.
  await streams.close()
  const drained = setTimeout(() => http.server.closeAllConnections(), drainSeconds * 1000)
  const waiters = setTimeout(() => void waiter.close(), (drainSeconds - 1) * 1000)
  await closed
  clearTimeout(drained)
  clearTimeout(waiters)
  await Promise.all([waiter.close(), sweep.stop()])
  await Promise.all(Object.values(pools).map((pool) => pool.end({ timeout: 5 })))
  log.info('web.stopped')
  // A LISTEN connection that the driver was making anew when its pool ended keeps the event loop.
  process.exit(0)
}
