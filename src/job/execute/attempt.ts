// Starts attempts: execution.started is logged before a program runs (start.ts).
import { setTimeout as sleep } from 'node:timers/promises'
import { errorCode, sqlState } from '#database'
import type { Database } from '#database'
import type { Executor } from '#executor'
import { reachFailpoint } from '#failpoint'
import { createId } from '#id'
import { languages } from '#language'
import type { Language, Limits } from '#language'
import type { Lease, WorkerIdentity } from '#lease'
import type { Logger } from '#log'
import { untilAvailable } from '#retry'
import { createStart } from './start.ts'

export interface AttemptDependencies {
  readonly database: Database
  readonly executor: Executor
  readonly limits: Readonly<Record<Language, Limits>>
  readonly log: Logger
  /** `renew` asks at once what operators want of the worker. */
  readonly lease: WorkerIdentity & Partial<Pick<Lease, 'renew'>>
  /** Fires when the process must give its runs back. */
  readonly shutdown: AbortSignal
}

export interface Attempt {
  readonly submission: string
  /** The attempt's id. */
  readonly run: string
  /** Of its execution.started: the fencing token. */
  readonly version: number
  /** The worker's id at the start, and the signal that it is no longer ours. */
  readonly identity: WorkerIdentity
  readonly accountId: string
  readonly language: Language
  /** Null when the body is gone. */
  readonly code: Buffer | null
  readonly stdin: Buffer
  readonly expectedStdout: Buffer | null
  /** As it is kept. */
  readonly options: Buffer | null
  /** What all of it may run, by the clock. */
  readonly totalSeconds: number
  /** That its programs may use at once, as execution.started has it, if it does. */
  readonly cores: number | undefined
  /** Somebody is sent its record. */
  readonly hasWebhook: boolean
}

/** A tier's, where its key was removed by hand. */
const usualTotalSeconds = 600

// Then a worker that was taken for lost is back under a new id, and one that is to take nothing has heard so.
const returnMilliseconds = 200

/**
 * Begins the attempt of a submission whose job this worker was handed.
 * @returns null when there is nothing to do; `put_back` when the worker is to take nothing.
 */
type Begin = (submission: string, language: string) => Promise<Attempt | 'put_back' | null>

/** @param startedIds this process's runs; second jobs of theirs are not started. */
export function createBegin(
  dependencies: AttemptDependencies,
  startedIds: Iterable<string>,
): Begin {
  const { lease, shutdown, log } = dependencies
  const start = createStart(dependencies, startedIds)

  return async (submission, named) => {
    const language = languages.find((name) => name === named)
    if (language === undefined) return null
    let run = createId()
    for (;;) {
      const { workerId: worker, signal } = lease
      reachFailpoint('execute.before_start')
      try {
        const row = await untilAvailable(() => start({ worker, submission, run, language }), log)
        reachFailpoint('execute.after_start')
        if (row === null) return null
        return {
          ...row,
          run,
          language,
          identity: { workerId: worker, signal },
          // Null when the row was removed by hand: no cache is shared.
          accountId: row.accountId ?? submission,
          totalSeconds: row.totalSeconds ?? usualTotalSeconds,
          cores: row.cores ?? undefined,
        }
      } catch (error) {
        const code = errorCode(error)
        if (code === sqlState.takesNothing) {
          lease.renew?.()
          await sleep(returnMilliseconds)
          return 'put_back'
        }
        if (code === sqlState.workerGivenUp) {
          if (shutdown.aborted) return 'put_back'
          await sleep(returnMilliseconds)
        } else if (code !== sqlState.uniqueViolation) {
          throw error
        }
        // What began under an earlier id is lost with that, and two attempts never have the same. Or another start came first:
        // next time it runs elsewhere or has ended.
        run = createId()
      }
    }
  }
}
