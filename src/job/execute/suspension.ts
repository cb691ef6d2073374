// A host whose sandbox fails must not spend submissions' attempts. After a failure the worker takes nothing until a
// trial program has run well, tried after growing pauses.
import { setTimeout as sleep } from 'node:timers/promises'
import { backOff } from '#back-off'
import { describeError } from '#error-text'
import { SandboxError } from '#executor'
import type { Executor } from '#executor'
import { catalogue } from '#language'
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

// More than a trial takes by default, or a program may hold a slot.
const trialMilliseconds = 60_000
const longestPauseMilliseconds = 30_000

// As long as an input may be: finds a disk that takes less.
const input = Buffer.alloc(65_536, 'x')

/** Starts trusted, as the executor has proved itself at its start. */
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

/** @throws the executor's errors, or when the program's result is wrong. */
async function runTrial(
  executor: Executor,
  language: Language,
  stopped: AbortSignal,
): Promise<void> {
  // A cached compilation would prove nothing of the compiler's box.
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
