// A host whose sandbox fails must not spend the chances of every submission that its worker takes. After a failure of the
// sandbox the worker takes nothing until a program of its own has run as it should: if that was an accident, after
// milliseconds; if the host is sick, after growing pauses, while other workers go on.
import { setTimeout as sleep } from 'node:timers/promises'
import { backOff } from '#back-off'
import { describeError } from '#error-text'
import { SandboxError } from '#executor'
import type { Executor } from '#executor'
import { catalogue } from '#language'
import type { Language } from '#language'
import type { Logger } from '#log'

/** Whether a worker takes submissions. */
export interface Suspension {
  /** True while it takes none. */
  readonly suspended: boolean
  /** What failed last, such as `python: box.start: …`; null while it takes some. */
  readonly because: string | null
  /** Resolves when it takes some again, or stops. */
  readonly over: Promise<void>
  /** A run of this language ended in a failure of ours, with this error. */
  noteFailure(language: Language, error?: unknown): void
  /** A run ended as runs should. */
  noteSuccess(): void
  /** Ends the suspension for good: the worker takes nothing any more. */
  stop(): void
}

export interface SuspensionOptions {
  readonly executor: Executor
  readonly log: Logger
  /** Called when it begins and when it is over. */
  readonly onChange?: () => void
  readonly firstPauseMilliseconds?: number
}

// Longer than a trial may take under the default limits, and than a program may keep the slot that it waits for.
const trialMilliseconds = 60_000
const longestPauseMilliseconds = 30_000

// As much as a submission's input may be: a disk that takes less is what the trial is to find.
const input = Buffer.alloc(65_536, 'x')

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
  // Since the last run that ended as it should: a trial that passes does not outweigh runs that fail.
  let failures = 0
  let suspended = false
  let because: string | null = null
  let over = Promise.resolve()

  async function passTrial(language: Language): Promise<void> {
    for (;;) {
      const pause = failures < 2 ? 0 : backOff(failures - 1, pauses)
      await sleep(pause, undefined, { signal })
      try {
        await runTrial(executor, language, signal)
        return
      } catch (error) {
        signal.throwIfAborted()
        failures += 1
        because = describeFailure(language, error)
        log.warn({ err: error, language, failures }, 'worker.trial_failed')
      }
    }
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
      // That a language is not installed says nothing of the sandbox, and no trial in it would ever end well.
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

/** Throws what the executor throws, and when the program did not do what it always does. */
async function runTrial(
  executor: Executor,
  language: Language,
  stopped: AbortSignal,
): Promise<void> {
  // Another text each time: what is compiled already would prove nothing of the compiler's box.
  const { trial, lineComment } = catalogue[language]
  const code = Buffer.from(`${trial}\n${lineComment} ${Date.now()}-${performance.now()}\n`)
  const { compile, run } = await executor.execute(
    { language, code, stdin: input, cacheScope: 'trial' },
    AbortSignal.any([stopped, AbortSignal.timeout(trialMilliseconds)]),
  )
  if (run?.exitCode === 0 && Buffer.from(run.stdout).toString() === `${input.byteLength}\n`) return
  throw new Error(
    `the trial ended as ${JSON.stringify({ compile: compile?.ending, run: run?.ending, status: run?.exitCode })}`,
  )
}
