// Starts real executors for tests and reads their outcomes as text.
// JAVA_HOME picks the JDK, as the worker's does.
// TIME_FACTOR (default 1) stretches every time limit and bound, for machines that are many times slower.
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { createExecutor } from '#executor'
import type { ExecutionRequest, Executor, ExecutorOptions, Outcome, Phase } from '#executor'
import { defaultLimits, mapLanguages } from '#language'
import type { Language, Limits, PhaseLimits } from '#language'

/** How many times slower than a usual machine this one may be. */
export const timeFactor = Number(process.env['TIME_FACTOR'] ?? 1)

/** The languages that have accelerators: what tests look at that are not about languages. */
export const accelerated = ['python', 'cpp', 'java'] as const satisfies Language[]

export type Accelerated = (typeof accelerated)[number]

/** Limits of all languages: the defaults, stretched, with `run` changed. */
export function scaleLimits(
  run: Partial<PhaseLimits> = {},
  compile: Partial<PhaseLimits> = {},
): Record<Language, Limits> {
  const scale = (language: Language): Limits => {
    const { compile: compileDefault, run: runDefault } = defaultLimits[language]
    return {
      compile: compileDefault && stretch({ ...compileDefault, ...compile }),
      run: stretch({ ...runDefault, ...run }),
    }
  }
  return mapLanguages(({ name }) => scale(name))
}

function stretch(limits: PhaseLimits): PhaseLimits {
  return {
    ...limits,
    cpuSeconds: limits.cpuSeconds * timeFactor,
    wallSeconds: limits.wallSeconds * timeFactor,
  }
}

/** Wall time is the machine's: where it is not what is tested, programs have enough of it however busy that is. */
export const patientLimits = scaleLimits({ wallSeconds: 120 }, { wallSeconds: 120 })

/** What a rejection must look like: our failure, at this step. */
export function failsAt(step: string, message = /./): Error {
  return Object.assign(new Error(), { name: 'SandboxError', step, message })
}

/** Where keepers are compiled for tests; each is named by what it was made from. */
export const keeperDirectory = join(tmpdir(), `runledger-test-keeper-${process.getuid?.()}`)

/**
 * The keeper of an executor with this directory is compiled, and each language tried, once for all tests: both are named by
 * what they were made from.
 */
export function shareKeeper(cacheDirectory: string): void {
  for (const part of ['keeper', 'trial']) {
    mkdirSync(`${keeperDirectory}/${part}`, { recursive: true, mode: 0o700 })
    symlinkSync(`${keeperDirectory}/${part}`, `${cacheDirectory}/${part}`)
  }
}

/** First host uid of this test process's slots: test files run side by side, and no two may share one. */
export const firstUid = 1_000_000 + process.pid * 16

/** PF_EXITING of linux/sched.h: it has run its last instruction, whether or not it is a zombie already. */
const exiting = 4

/** True for a process that runs no more. @throws when there is none of this pid. */
export function isExiting(pid: number): boolean {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // Field 9; the second field, the name, may itself hold spaces and brackets.
  const flags = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[6])
  return (flags & exiting) !== 0
}

/**
 * Host pids of living processes that run as a slot of this test process, without keepers and what waits in their boxes.
 * What is exiting runs no more; zombies are left to the host's init.
 */
export function findBoxProcesses(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const status = readFileSync(`/proc/${pid}/status`, 'utf8')
        const uid = Number(/^Uid:\t(\d+)/m.exec(status)?.[1])
        if (/^Name:\tkeeper$/m.test(status)) return false
        return uid >= firstUid && uid < firstUid + 16 && !isExiting(pid)
      } catch {
        return false
      }
    })
}

/** ACCELERATORS=off: nothing is faster than a fresh process, in any test. */
export const plainOptions: Partial<ExecutorOptions> =
  process.env['ACCELERATORS'] === 'off' ? { accelerators: [], cacheBytes: 0 } : {}

/** An executor with a directory of its own; both are gone after the test. */
export async function startExecutor(
  t: Test,
  options: Partial<ExecutorOptions> = {},
): Promise<Executor> {
  const directory = mkdtempSync(join(tmpdir(), 'runledger-test-'))
  t.teardown(() => rmSync(directory, { recursive: true, force: true }))
  shareKeeper(directory)
  const executor = await createExecutor({
    slots: 2,
    firstUid,
    languages: accelerated,
    proves: false,
    limits: patientLimits,
    cacheBytes: 64 * 1024 * 1024,
    cacheDirectory: directory,
    settings: { JAVA_HOME: process.env['JAVA_HOME'] },
    // Most tests need no other: a resident compiler takes two seconds of CPU to start, precompiled headers fifteen.
    accelerators: ['fork-server'],
    ...options,
    ...plainOptions,
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

export function readText(phase: Phase | null): TextPhase | null {
  if (phase === null) return null
  const [stdout, stderr] = [phase.stdout, phase.stderr].map((bytes) =>
    Buffer.from(bytes).toString(),
  )
  return { ...phase, stdout: stdout!, stderr: stderr! }
}

/** Whose programs they are, unless a test says. */
export const cacheScope = 'test'

/** Executes a program given as text. */
export async function execute(
  executor: Executor,
  language: Language,
  code: string | Uint8Array,
  stdin: string | Uint8Array = '',
  signal?: AbortSignal,
  scope = cacheScope,
  more: Partial<ExecutionRequest> = {},
): Promise<TextOutcome> {
  const outcome = await executor.execute(
    { language, code: Buffer.from(code), stdin: Buffer.from(stdin), cacheScope: scope, ...more },
    signal,
  )
  return { ...outcome, compile: readText(outcome.compile), run: readText(outcome.run) }
}

/** Executes a program that compiles, and returns its run. @throws when it did not compile. */
export async function run(
  executor: Executor,
  language: Language,
  code: string | Uint8Array,
  stdin: string | Uint8Array = '',
): Promise<TextPhase> {
  const outcome = await execute(executor, language, code, stdin)
  if (outcome.run === null) throw new Error(`did not compile: ${outcome.compile?.stderr}`)
  return outcome.run
}
