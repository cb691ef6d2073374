// A host whose sandbox fails must not spend submissions' attempts. After a failure the worker takes nothing until a
// trial program has run well, tried after growing pauses.
import { setTimeout as sleep } from 'node:timers/promises'
import { backOff } from '#back-off'
import { describeError } from '#error-text'
import { SandboxError, tryLanguage } from '#executor'
import type { Executor } from '#executor'
import type { Language } from '#language'
import type { Logger } from '#log'

export interface Suspension {
  /** True while it takes none. */
  readonly suspended: boolean
  /** The last failure, such as `python: box.start: …`; null when not suspended. */
  readonly because: string | null
  /** Resolves when it takes submissions again, or stops. */
  readonly over: Promise<void>
  /** A run of this language failed through our fault. */
  noteFailure(language: Language, error?: unknown): void
  noteSuccess(): void
  /** Stays suspended for good. */
  stop(): void
}

export interface SuspensionOptions {
  readonly executor: Executor
  readonly log: Logger
  /** At its beginning and its end. */
  readonly onChange?: () => void
  readonly firstPauseMilliseconds?: number
}

const longestPauseMilliseconds = 30_000

/** Creates it; the worker is trusted at first, because the executor has proved itself at its start. */
export function createSuspension({
  executor,
  log,
  onChange = () => {},
  firstPauseMilliseconds = 1000,
}: SuspensionOptions): Suspension {
  const pauses = { first: firstPauseMilliseconds, longest: longestPauseMilliseconds }
  const stopping = new AbortController()
  const { signal } = stopping
  // Since the last good run: a passed trial does not outweigh failing runs.
  let failures = 0
  let suspended = false
  let because: string | null = null
  let over = Promise.resolve()

  async function passTrial(language: Language): Promise<void> {
    for (;;) {
      const pause = failures < 2 ? 0 : backOff(failures - 1, pauses)
      await sleep(pause, undefined, { signal })
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

  /** One that is offered, where the one that failed is no more. */
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
    suspended = false
    because = null
    log.info({ language, seconds: (performance.now() - since) / 1000 }, 'worker.resumed')
    onChange()
  }

  return {
    get suspended() {
      return suspended
    },
    get because() {
      return because
    },
    get over() {
      return over
    },
    noteFailure(language, error) {
      if (suspended || signal.aborted) return
      // A missing language says nothing of the sandbox, and no trial in it would pass.
      if (executor.runtimes[language] === undefined) return
      failures += 1
      log.warn({ language, failures }, 'worker.suspended')
      suspended = true
      because = describeFailure(language, error)
      over = endWithTrial(language)
      onChange()
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
  return `${language}: ${step}${error === undefined ? 'its sandbox failed' : describeError(error)}`
}
