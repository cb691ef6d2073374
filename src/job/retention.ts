// What has to happen with the passing of time alone: partitions are made before they are needed, and bodies go when their
// time is up. Every worker looks, at its start and each hour; the database lets one at a time do it.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '#database'
import type { Logger } from '#log'
import { purgeBodies } from '#result'
import { passMilestone } from './milestone.ts'

const hourMilliseconds = 3_600_000
const retryMilliseconds = 60_000

/** What retention works with. */
export interface RetentionOptions {
  readonly database: Database
  /** Bodies are kept for so long after their submission's end. */
  readonly retentionDays: number
  readonly log: Logger
  readonly intervalMilliseconds?: number
}

/** Starts it. `stop` resolves after the batch that is under way. */
export function startRetention({
  database,
  retentionDays,
  log,
  intervalMilliseconds = hourMilliseconds,
}: RetentionOptions): { stop(): Promise<void> } {
  const stopping = new AbortController()
  const { signal } = stopping

  const pass = async (): Promise<void> => {
    passMilestone('retention.before_make')
    const made = await database`select name from runledger.make_partitions() name`
    passMilestone('retention.after_make')
    if (made.length > 0)
      log.info({ partitions: made.map(({ name }) => name as string) }, 'partition.made')
    passMilestone('retention.before_purge')
    const purged = await purgeBodies(database, retentionDays, undefined, signal)
    passMilestone('retention.after_purge')
    if (purged.submissions > 0 || purged.partitions.length > 0)
      log.info({ ...purged }, 'submission.purged')
  }
  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      const done = await pass().then(
        () => true,
        (error: unknown) => {
          log.warn({ err: error }, 'retention.failed')
          return false
        },
      )
      const pause = done ? intervalMilliseconds : Math.min(intervalMilliseconds, retryMilliseconds)
      await sleep(pause, undefined, { signal }).catch(() => {})
    }
  }
  const running = run()

  return {
    async stop() {
      stopping.abort()
      await running
    },
  }
}
