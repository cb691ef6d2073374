// Starts real executors for tests and reads their outcomes as text.
// JAVA_HOME picks the JDK, as the worker's does.
// TIME_FACTOR (default 1) stretches every time limit and bound, for machines that are many times slower.
import { mkdirSync, readFileSync, readdirSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import type { SourceFile } from '#contract'
import { createExecutor } from '#executor'
import type { ExecutionRequest, Executor, ExecutorOptions, Outcome, Phase } from '#executor'
import { defaultLimits, mapLanguages } from '#language'
import type { Language, Limits, PhaseLimits } from '#language'
import { makeDirectory } from './directory.ts'

/** How many times slower than a usual machine this one may be. */
export const timeFactor = Number(process.env['TIME_FACTOR'] ?? 1)

/** The languages that have accelerators. */
export const accelerated = ['python', 'cpp', 'java'] as const satisfies Language[]

export type Accelerated = (typeof accelerated)[number]

/** Returns the limits of all languages: the defaults with changes, their times stretched by timeFactor. */
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

/** Limits with enough time on a slow and busy machine, for tests that are not about time. */
export const patientLimits = scaleLimits(
  { cpuSeconds: 60, wallSeconds: 120 },
  { cpuSeconds: 120, wallSeconds: 240 },
)

/** Returns a pattern for the error of a sandbox that failed at this step. */
export function failsAt(step: string, message = /./): Error {
  return Object.assign(new Error(), { name: 'SandboxError', step, message })
}

/** The directory in which keepers are compiled for tests. The name of each is derived from its sources. */
export const keeperDirectory = join(tmpdir(), `runledger-test-keeper-${process.getuid?.()}`)

/**
 * Lets the executor with this cache directory share compiled keepers and tried languages with all tests. Sharing is safe,
 * because both are named after what they were made from.
 */
export function shareKeeper(cacheDirectory: string): void {
  for (const part of ['keeper', 'trial']) {
    mkdirSync(`${keeperDirectory}/${part}`, { recursive: true, mode: 0o700 })
    symlinkSync(`${keeperDirectory}/${part}`, `${cacheDirectory}/${part}`)
  }
}

/** The first host uid of this test process's slots. Test files run at the same time, and no two may share a uid. */
export const firstUid = 1_000_000 + process.pid * 16

/** PF_EXITING of linux/sched.h: the process has run its last instruction, even if it is no zombie yet. */
const exiting = 4

/** True for a process that no longer runs. @throws when there is no process with this pid. */
export function isExiting(pid: number): boolean {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // Field 9, counted from the last bracket, because the second field, the name, may hold spaces and brackets.
  const flags = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[6])
  return (flags & exiting) !== 0
}

/**
 * Returns the host pids of live processes with the uid of a slot of this test process, without processes named `keeper`.
 * Exiting processes no longer run, and zombies are left to the host's init.
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

/** With ACCELERATORS=off, every run of every test is a fresh process. */
export const plainOptions: Partial<ExecutorOptions> =
  process.env['ACCELERATORS'] === 'off' ? { accelerators: [], cacheBytes: 0 } : {}

/** Starts an executor with a cache directory of its own. Both are removed after the test. */
export async function startExecutor(
  t: Test,
  options: Partial<ExecutorOptions> = {},
): Promise<Executor> {
  const directory = makeDirectory(t)
  shareKeeper(directory)
  const executor = await createExecutor({
    slots: 2,
    firstUid,
    // No Java by default, because javac compiles our compiler for each test file: a second of CPU and more.
    languages: ['python', 'cpp'],
    proves: false,
    limits: patientLimits,
    cacheBytes: 64 * 1024 * 1024,
    cacheDirectory: directory,
    settings: { JAVA_HOME: process.env['JAVA_HOME'] },
    // Most tests need no other accelerator: a resident compiler takes two seconds of CPU to start, precompiled headers fifteen.
    accelerators: ['fork-server'],
    ...options,
    ...plainOptions,
  })
  t.teardown(() => executor.close())
  return executor
}

/** Returns a phase that ended well and said nothing, except for what is given. */
export function describePhase(given: Partial<Phase> = {}): Phase {
  return {
    ending: 'exited',
    exitCode: 0,
    signal: null,
    stdout: new Uint8Array(),
    stderr: new Uint8Array(),
    stdoutTruncated: false,
    stderrTruncated: false,
    usage: { cpuSeconds: 0, wallSeconds: 0, memoryPeakBytes: 0 },
    ...given,
  }
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

/** The default cache scope of a test's programs. */
export const cacheScope = 'test'

/** What a test asks for beside the program and its input. */
export type More = Partial<ExecutionRequest> & {
  /** Abandons the execution. */
  readonly signal?: AbortSignal
}

/** Executes a program given as text. */
export async function execute(
  executor: Executor,
  language: Language,
  code: string | Uint8Array,
  stdin: string | Uint8Array = '',
  { signal, ...more }: More = {},
): Promise<TextOutcome> {
  const outcome = await executor.execute(
    { language, code: Buffer.from(code), stdin: Buffer.from(stdin), cacheScope, ...more },
    signal,
  )
  return { ...outcome, compile: readText(outcome.compile), run: readText(outcome.run) }
}

/** Executes a program that compiles, and returns its run. @throws when it did not compile. */
export async function run(...asked: Parameters<typeof execute>): Promise<TextPhase> {
  const outcome = await execute(...asked)
  if (outcome.run === null) throw new Error(`did not compile: ${outcome.compile?.stderr}`)
  return outcome.run
}

/** Returns the files of a request, given their contents by their names. */
export function layFiles(contents: Readonly<Record<string, string>>): SourceFile[] {
  return Object.entries(contents).map(([name, text]) => ({ name, content: Buffer.from(text) }))
}
