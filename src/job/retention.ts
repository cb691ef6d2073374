// Makes partitions before they are needed and removes old bodies. Every worker tries at its start and each hour; the
// database admits one at a time.
import { setTimeout as sleep } from 'node:timers/promises'
import { backOff } from '#back-off'
import { purgeBlobs } from '#blob'
import type { Database } from '#database'
import type { Logger } from '#log'
import { purgeBodies } from '#result'
import { reachFailpoint } from './failpoint.ts'

const hourMilliseconds = 3_600_000
/** After a failed pass: a reader who held a lock is gone the next moment, a database that is away is not. */
const retryMilliseconds = { first: 1000, longest: 60_000 }

interface RetentionOptions {
  readonly database: Database
  /** Counted from a submission's end. */
  readonly retentionDays: number
  readonly log: Logger
  readonly intervalMilliseconds?: number
  /** Called when all is done that was due. */
  readonly onPass?: () => void
}

/** `stop` resolves after the running batch. */
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
