// Creates partitions before they are needed, and removes old bodies and blobs. Every worker tries at its start and every
// hour; the database admits one worker at a time.
import { setTimeout as sleep } from 'node:timers/promises'
import { backOff } from '#back-off'
import { purgeBlobs } from '#blob'
import type { Database } from '#database'
import type { Logger } from '#log'
import { purgeBodies } from '#result'
import { reachFailpoint } from './failpoint.ts'

const hourMilliseconds = 3_600_000
/**
 * Pauses after failed passes: short at first, because a reader that held a lock is soon gone, then
 * longer, because an outage lasts.
 */
const retryMilliseconds = { first: 1000, longest: 60_000 }

interface RetentionOptions {
  readonly database: Database
  /** Days, counted from a submission's end. */
  readonly retentionDays: number
  readonly log: Logger
  readonly intervalMilliseconds?: number
  /** Called after each pass that did not fail. */
  readonly onPass?: () => void
}

/** Starts the passes. `stop` resolves after the running batch. */
export function startRetention({
  database,
  retentionDays,
  log,
  intervalMilliseconds = hourMilliseconds,
  onPass = () => {},
}: RetentionOptions): { stop(): Promise<void> } {
  const stopping = new AbortController()
  const { signal } = stopping

  const pass = async (): Promise<void> => {
    reachFailpoint('retention.before_make')
    const made = await database`select name from runledger.make_partitions() name`
    reachFailpoint('retention.after_make')
    if (made.length > 0)
      log.info({ partitions: made.map(({ name }) => name as string) }, 'partition.made')
    reachFailpoint('retention.before_purge')
    const purged = await purgeBodies(database, retentionDays, undefined, signal)
    reachFailpoint('retention.after_purge')
    if (purged.submissions > 0 || purged.partitions.length > 0)
      log.info({ ...purged }, 'submission.purged')
    const blobs = await purgeBlobs(database, retentionDays, signal)
    if (blobs > 0) log.info({ blobs }, 'blob.purged')
    onPass()
  }
  const run = async (): Promise<void> => {
    let failures = 0
    while (!signal.aborted) {
      await pass().then(
        () => (failures = 0),
        (error: unknown) => {
          failures += 1
          log.warn({ err: error }, 'retention.failed')
        },
      )
      const retry = failures === 0 ? Number.POSITIVE_INFINITY : backOff(failures, retryMilliseconds)
      const pause = Math.min(intervalMilliseconds, retry)
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
