// Starts real executors for tests and reads their outcomes as text.
// TIME_FACTOR (default 1) stretches every time limit and bound, for machines that are many times slower.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { createExecutor, defaultLimits, languages } from '#executor'
import type { Executor, ExecutorOptions, Language, Limits, Outcome, Phase } from '#executor'

/** How many times slower than a usual machine this one may be. */
export const timeFactor = Number(process.env['TIME_FACTOR'] ?? 1)

/** Limits of all languages: the defaults, stretched, with `run` changed. */
export function scaleLimits(
  run: Partial<Limits['run']> = {},
  compile: Partial<Limits['run']> = {},
): Record<Language, Limits> {
  const stretch = (limits: Limits['run'], changes: Partial<Limits['run']>): Limits['run'] => {
    const changed = { ...limits, ...changes }
    return {
      ...changed,
      cpuSeconds: changed.cpuSeconds * timeFactor,
      wallSeconds: changed.wallSeconds * timeFactor,
    }
  }
  const scaled = languages.map((language) => {
    const limits = defaultLimits[language]
    return [
      language,
      {
        compile: limits.compile && stretch(limits.compile, compile),
        run: stretch(limits.run, run),
      },
    ]
  })
  return Object.fromEntries(scaled) as Record<Language, Limits>
}

/** An executor with a directory of its own; both are gone after the test. */
export async function startExecutor(
  t: Test,
  options: Partial<ExecutorOptions> = {},
): Promise<Executor> {
  const directory = mkdtempSync(join(tmpdir(), 'runledger-test-'))
  t.teardown(() => rmSync(directory, { recursive: true, force: true }))
  const executor = await createExecutor({
    slots: 2,
    // Test files run side by side; no two of them should share a uid.
    firstUid: 60_000 + (process.pid % 500) * 8,
    limits: scaleLimits(),
    cacheBytes: 64 * 1024 * 1024,
    cacheDirectory: directory,
    ...options,
  })
  t.teardown(() => executor.close())
  return executor
}

/** A phase with its outputs as text. */
export type TextPhase = Omit<Phase, 'stdout' | 'stderr'> & { stdout: string; stderr: string }

export interface TextOutcome extends Omit<Outcome, 'compile' | 'run'> {
  compile: TextPhase | null
  run: TextPhase | null
}

function readText(phase: Phase | null): TextPhase | null {
  if (phase === null) return null
  const [stdout, stderr] = [phase.stdout, phase.stderr].map((bytes) =>
    Buffer.from(bytes).toString(),
  )
  return { ...phase, stdout: stdout!, stderr: stderr! }
}

/** Executes a program given as text. */
export async function execute(
  executor: Executor,
  language: Language,
  code: string,
  stdin: string | Uint8Array = '',
  signal?: AbortSignal,
): Promise<TextOutcome> {
  const outcome = await executor.execute(
    { language, code: Buffer.from(code), stdin: Buffer.from(stdin) },
    signal,
  )
  return { ...outcome, compile: readText(outcome.compile), run: readText(outcome.run) }
}

/** Executes a program that compiles, and returns its run. @throws when it did not compile. */
export async function run(
  executor: Executor,
  language: Language,
  code: string,
  stdin: string | Uint8Array = '',
): Promise<TextPhase> {
  const outcome = await execute(executor, language, code, stdin)
  if (outcome.run === null) throw new Error(`did not compile: ${outcome.compile?.stderr}`)
  return outcome.run
}
