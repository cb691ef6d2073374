// The ends of a worker that its own shutdown (worker.ts) does not reach.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '#database'
import type { Logger } from '#log'

// A stopping worker waits this long for a database that does not answer. Then it exits, and other workers requeue its runs.
const absentSeconds = 7
const askMilliseconds = 500
// The time that the log may take to reach stdout.
const logMilliseconds = 250

/**
 * Exits when the database does not answer. Other workers then requeue this worker's runs.
 * @param asked a pool of its own, where the question cannot wait behind other statements although the database answers.
 */
export async function endWithoutDatabase(asked: Database, log: Logger): Promise<void> {
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
export async function startAgain(): Promise<void> {
  await sleep(logMilliseconds)
  process.execve?.(process.execPath, [
    process.execPath,
    ...process.execArgv,
    ...process.argv.slice(1),
  ])
}
