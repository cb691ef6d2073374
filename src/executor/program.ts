// Takes one program through its phases in a slot: compiles it, unless the result is cached, then runs it. This module decides
// only the order of the phases.
import { unlessAborted } from '#abort'
import type {
  Command,
  Execute,
  ExecutionRequest,
  Language,
  Outcome,
  Phase,
  RunInput,
  Runs,
} from '#contract'
import type { ArtefactCache } from './artefact-cache.ts'
import { compileOnce } from './compile.ts'
import type { RunCommand } from './compile.ts'
import { prepareInteractor } from './interactor.ts'
import { findInstalled } from './languages.ts'
import type { InstalledLanguage } from './languages.ts'
import { withFiles, exceptOwn } from './request-files.ts'
import type { Pause, PhaseRunner } from './tenancy.ts'
import { createTotalTime } from './total-time.ts'
import type { TotalTime } from './total-time.ts'

/** What the programs of an executor share. */
export interface Shared {
  /** Compiled programs of all languages. */
  readonly cache: ArtefactCache
  /** For a request's interactor and checker programs. */
  readonly installed: ReadonlyMap<Language, InstalledLanguage>
}

/**
 * Takes a program through its phases.
 * @param more.pause gives the slot back between two runs; without it the program keeps its slot.
 * @param more.total the remaining time budget; by default a new one with the request's `totalSeconds`.
 */
export async function runProgram(
  shared: Shared,
  runPhase: PhaseRunner,
  language: InstalledLanguage,
  request: ExecutionRequest,
  signal: AbortSignal,
  {
    pause,
    total = createTotalTime(request.totalSeconds),
  }: { pause?: Pause; total?: TotalTime } = {},
): Promise<Outcome> {
  const { files = [], stop, cores, network, mergesStderr } = request
  const { toolchain } = language
  const { ranOutOfMemory } = toolchain
  const runCommand: RunCommand = async (command, details) => {
    const limits = total.narrow(details.limits)
    const phase = await runPhase({ command, cores, ranOutOfMemory, ...details, limits })
    return total.judge(phase, limits, details.limits)
  }
  const limits = request.limits ?? language.limits
  const done = await compileOnce(runCommand, shared.cache, language, request, signal)
  if (done === undefined) return nothingDone
  const { phase: compilePhase, artefact, cached: compileCached } = done
  if (compilePhase !== null && !compileCached) total.spend(compilePhase)
  signal.throwIfAborted()
  if (artefact === null || stop?.aborted === true)
    return { compile: compilePhase, compileCached, run: null }
  const besides = [...files, ...(request.runFiles ?? [])]
  const command = giveVariables(
    withFiles(besides, toolchain.run(artefact, limits.run.memoryBytes)),
    request,
  )
  if (compilePhase !== null) request.live?.compiled(compilePhase)
  const tap = request.runs === undefined ? request.live?.tap : undefined
  const outputFiles = request.outputFiles && exceptOwn(request.outputFiles, command)
  const parts = { ...shared, runCommand, total, signal }
  const interactor = await prepareInteractor(parts, request, limits)
  if (interactor === undefined && request.interactor !== undefined)
    return { compile: compilePhase, compileCached, run: null }
  const runOnce = async (input: RunInput): Promise<Phase | undefined> => {
    const argv = [...command.argv, ...(input.arguments ?? request.arguments ?? [])]
    const beside = interactor?.describe(input, cores)
    const details = {
      stdin: input.stdin,
      limits: limits.run,
      stop,
      tap,
      network,
      mergesStderr,
      outputFiles,
      interactor: beside,
    }
    const phase = await unlessAborted(runCommand({ ...command, argv }, details), stop)
    if (phase === undefined) return undefined
    total.spend(longest(phase))
    return interactor?.judge(phase, beside) ?? phase
  }
  const execute: Execute = (other) => {
    const its = findInstalled(shared.installed, other.language)
    return runProgram(shared, runPhase, its, { ...other, stop, cores }, signal, { total })
  }
  const phase =
    request.runs === undefined
      ? ((await runOnce({ stdin: request.stdin })) ?? null)
      : await runEach(request.runs, runOnce, execute, pause, stop)
  if (phase === null) signal.throwIfAborted()
  return { compile: compilePhase, compileCached, run: phase }
}

/** Returns the longer one of two phases that ran side by side. */
function longest(phase: Phase): Phase {
  const other = phase.interactor?.phase ?? phase
  return other.usage.wallSeconds > phase.usage.wallSeconds ? other : phase
}

/** The outcome of a program that was stopped before its first phase ended. */
export const nothingDone: Outcome = { compile: null, compileCached: false, run: null }

/**
 * Runs the program once for each input.
 * @param runOnce resolves with undefined when the request was stopped while it waited.
 * @returns the first run; null when the program was stopped before it.
 */
async function runEach(
  { inputs, onRun, between }: Runs,
  runOnce: (input: RunInput) => Promise<Phase | undefined>,
  execute: Execute,
  pause: Pause | undefined,
  stop: AbortSignal | undefined,
): Promise<Phase | null> {
  /** Gives the slot back for a while if `between` asks for it. False when the request is stopped. */
  const goOn = async (): Promise<boolean> => {
    const lent = pause && (await between?.())
    if (pause && lent) await pause(lent.resumed)
    return stop?.aborted !== true
  }
  let first: Phase | null = null
  let index = 0
  for await (const input of inputs) {
    const run = await runOnce(input)
    if (run === undefined) break
    first ??= run
    if (!(await onRun(run, index, execute)) || stop?.aborted === true) break
    if ((await unlessAborted(goOn(), stop)) !== true) break
    index += 1
  }
  return first
}

/**
 * Adds the caller's variables, which override the command's. With a sanitizer it turns off the leak check, which traces its own
 * process: boxes forbid that, so correct programs would fail.
 */
function giveVariables(
  command: Command,
  { compileArguments = [], environment = {} }: ExecutionRequest,
): Command {
  const sanitized = compileArguments.some((word) => word.startsWith('-fsanitize='))
  const unchecked = { ASAN_OPTIONS: 'detect_leaks=0', LSAN_OPTIONS: 'detect_leaks=0' }
  const own = { ...(sanitized && unchecked), ...command.environment, ...environment }
  return Object.keys(own).length === 0 ? command : { ...command, environment: own }
}
