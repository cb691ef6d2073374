// A worker's end: it takes no more, lets runs finish, gives back the rest and ends, before the platform kills it.
import { setTimeout as sleep } from 'node:timers/promises'
import { createDatabase } from '#database'
import type { End, Worker } from './connect.ts'
import { statementSeconds } from './make.ts'

// Platforms kill 30 s after the signal.
const drainSeconds = 20
const lastSeconds = 27
// A worker that stops waits so long for a database that does not answer; then it ends, and others give back what it ran.
const absentSeconds = 7
const askMilliseconds = 500
// So long the log may take to be on stdout.
const logMilliseconds = 250

/** Ends the process. */
export async function stopWorker(worker: Worker, { reason, exitCode }: End): Promise<never> {
  const { queue, executor, suspension, retention, sweep, lease, giveBack, pools, log } = worker
  log.info({ reason }, 'worker.stopping')
  const drained = setTimeout(() => giveBack.abort(), drainSeconds * 1000)
  // Others find the rest once this worker's lock and lease are gone (job/lease.ts).
  setTimeout(() => process.exit(1), lastSeconds * 1000).unref()
  void endWithoutDatabase(worker)
  suspension.stop()
  await queue.stop()
  clearTimeout(drained)
  const executorClosed = executor.close().catch((error: unknown) => {
    // The next worker's start clears it away.
    log.error({ err: error }, 'executor.left_over')
  })
  await Promise.allSettled([retention.stop(), sweep.stop(), lease.stop(), executorClosed])
  await Promise.all(Object.values(pools).map((pool) => pool.end({ timeout: 1 })))
  log.info('worker.stopped')
  if (reason === 'restarted') await beginAgain()
  // After an outage graphile-worker may keep the event loop for a minute.
  process.exit(exitCode)
}

/** Other workers requeue what ran. */
async function endWithoutDatabase({ settings, log }: Worker): Promise<void> {
  // On a connection of its own: in any pool it may stand behind statements that wait, though the database is there.
  const url = settings.DATABASE_URL
  const asked = createDatabase({ url, connections: 1, name: 'runledger end', statementSeconds })
  // Counted by questions, not by the clock: a process that was frozen has asked nothing meanwhile.
  for (let silent = 0; silent * askMilliseconds < absentSeconds * 1000; silent += 1) {
    asked`select 1`.then(
      () => (silent = 0),
      () => {},
    )
    await sleep(askMilliseconds)
  }
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
