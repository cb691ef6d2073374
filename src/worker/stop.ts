// Stops a worker before the platform kills it: it takes no more jobs, lets runs finish, requeues the rest and exits.
import { setTimeout as sleep } from 'node:timers/promises'
import { createDatabase } from '#database'
import type { End, Worker } from './connect.ts'
import { statementSeconds } from './make.ts'

// Platforms kill a process 30 s after the signal.
const drainSeconds = 20
const lastSeconds = 27
// A stopping worker waits this long for a database that does not answer. Then it exits, and other workers requeue its runs.
const absentSeconds = 7
const askMilliseconds = 500
// The time that the log may take to reach stdout.
const logMilliseconds = 250

/** Stops the worker and ends the process. */
export async function stopWorker(worker: Worker, { reason, exitCode }: End): Promise<never> {
  const { queue, executor, suspension, retention, sweep, lease, giveBack, pools, log } = worker
  log.info({ reason }, 'worker.stopping')
  const drained = setTimeout(() => giveBack.abort(), drainSeconds * 1000)
  // Other workers find the rest once this worker's lock and lease are gone (job/lease.ts).
  setTimeout(() => process.exit(1), lastSeconds * 1000).unref()
  void endWithoutDatabase(worker)
  suspension.stop()
  await queue.stop()
  clearTimeout(drained)
  const executorClosed = executor.close().catch((error: unknown) => {
    // The next worker clears the leftovers away when it starts.
    log.error({ err: error }, 'executor.left_over')
  })
  await Promise.allSettled([retention.stop(), sweep.stop(), lease.stop(), executorClosed])
  await Promise.all(Object.values(pools).map((pool) => pool.end({ timeout: 1 })))
  log.info('worker.stopped')
  if (reason === 'restarted') await beginAgain()
  // After an outage graphile-worker may keep the event loop alive for a minute.
  process.exit(exitCode)
}

/** Exits when the database does not answer. Other workers then requeue this worker's runs. */
async function endWithoutDatabase({ settings, log }: Worker): Promise<void> {
  // A connection of its own, because in a pool the question could wait behind other statements although the database answers.
  const url = settings.DATABASE_URL
  const asked = createDatabase({ url, connections: 1, name: 'runledger end', statementSeconds })
  // Counts questions, not time, because a frozen process asks nothing meanwhile.
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

/** Restarts in the same process, because a supervisor takes the end of this process for the end of the worker. */
async function beginAgain(): Promise<void> {
  await sleep(logMilliseconds)
  process.execve?.(process.execPath, [
    process.execPath,
    ...process.execArgv,
    ...process.argv.slice(1),
  ])
}
