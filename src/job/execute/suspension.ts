// Suspends a worker whose sandbox fails, so that the host does not spend submissions' attempts. After a failure a trial
// program shows whether the host is at fault. If the trial passes, the failure concerned that request only. If not, the
// worker takes no submissions until a trial passes; trials are repeated after growing pauses.
import { setTimeout as sleep } from 'node:timers/promises'
import { backOff } from '#back-off'
import { describeError } from '#error-text'
import { SandboxError, tryLanguage } from '#executor'
import type { Executor } from '#executor'
import type { Language } from '#language'
import type { Logger } from '#log'

export interface Suspension {
  /** True while the worker takes no submissions. */
  readonly suspended: boolean
  /** The last failure, such as `python: box.start: …`; null when not suspended. */
  readonly because: string | null
  /**
   * Reports that a run of this language failed through our fault. The run's slot is free again, but the worker takes no other
   * job instead of it before this resolves. Never rejects.
   * @returns true when a trial has passed, so the worker is well; false when it is not, or that is not known.
   */
  noteFailure(language: Language, error?: unknown): Promise<boolean>
  noteSuccess(): void
  /** Ends the trials. A suspended worker stays suspended. */
  stop(): void
}

interface SuspensionOptions {
  readonly executor: Executor
  readonly log: Logger
  /** Called when a suspension starts and when it ends. */
  readonly onChange?: () => void
  readonly firstPauseMilliseconds?: number
}

const longestPauseMilliseconds = 30_000

/** Creates the suspension. The worker is trusted at first, because the executor has proved itself at its start. */
export function createSuspension({
  executor,
  log,
  onChange = () => {},
  firstPauseMilliseconds = 1000,
}: SuspensionOptions): Suspension {
  const pauses = { first: firstPauseMilliseconds, longest: longestPauseMilliseconds }
  const stopping = new AbortController()
  const { signal } = stopping
  // Failed trials since the last good run. A trial that passes does not reset them, because the next one may fail again.
  let failures = 0
  let because: string | null = null

  async function passTrial(language: Language): Promise<void> {
    for (;;) {
      await sleep(backOff(failures, pauses), undefined, { signal })
      const tried = executor.runtimes[language] === undefined ? findOther(language) : language
      try {
        await tryLanguage(executor, tried, signal)
        return
      } catch (error) {
        signal.throwIfAborted()
        failures += 1
        because = describeFailure(tried, error)
        log.warn({ err: error, language: tried, failures }, 'worker.trial_failed')
      }
    }
  }

  /** Returns another offered language when the one that failed is no longer offered. */
  function findOther(language: Language): Language {
    const [other = language] = Object.keys(executor.runtimes) as Language[]
    return other
  }

  async function endWithTrial(language: Language): Promise<void> {
    const since = performance.now()
    try {
      await passTrial(language)
    } catch {
      return // the worker stops, and stays suspended
    }
    because = null
    log.info({ language, seconds: (performance.now() - since) / 1000 }, 'worker.resumed')
    onChange()
  }

  /** Suspends the worker. @param cause why the trial failed. */
  function suspend(language: Language, error: unknown, cause: unknown): void {
    if (because !== null || signal.aborted) return
    failures += 1
    log.warn({ err: cause, language, failures }, 'worker.trial_failed')
    log.warn({ language, failures }, 'worker.suspended')
    because = describeFailure(language, error ?? cause)
    void endWithTrial(language)
    onChange()
  }

  return {
    get suspended() {
      return because !== null
    },
    get because() {
      return because
    },
    async noteFailure(language, error) {
      if (because !== null || signal.aborted) return false
      // A missing language says nothing of the sandbox, and no trial in it would pass.
      if (executor.runtimes[language] === undefined) return false
      try {
        await tryLanguage(executor, language, signal)
        return true
      } catch (cause) {
        suspend(language, error, cause)
        return false
      }
    },
    noteSuccess() {
      failures = 0
    },
    stop() {
      stopping.abort()
    },
  }
}

function describeFailure(language: Language, error: unknown): string {
  const step = error instanceof SandboxError ? `${error.step}: ` : ''
  return `${language}: ${step}${describeError(error)}`
}
