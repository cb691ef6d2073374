// The interactor: a program that exchanges input and output with the tested program while both run. It is compiled once for a
// request; each run gets its own description.
import type { ExecutionRequest, Limits, Phase, PhaseRequest, RunInput } from '#contract'
import { compileOnce } from './compile.ts'
import type { RunCommand } from './compile.ts'
import { findInstalled } from './languages.ts'
import type { Shared } from './program.ts'
import { withFiles } from './request-files.ts'
import type { TotalTime } from './total-time.ts'

interface Parts extends Shared {
  readonly runCommand: RunCommand
  readonly total: TotalTime
  readonly signal: AbortSignal
}

export interface Interactor {
  /** Describes the interactor's phase for one run; undefined when it does not compile. */
  describe(input: RunInput, cores: number | undefined): PhaseRequest | undefined
  /** Adds the interactor's result to the program's phase. @param given its description. */
  judge(phase: Phase, given: PhaseRequest | undefined): Phase
}

/**
 * Compiles a request's interactor.
 * @param limits of the program: the interactor waits for it, so its wall limit is that of the program plus its own.
 * @returns undefined when the request has no interactor or was stopped.
 */
export async function prepareInteractor(
  { runCommand, cache, installed, total, signal }: Parts,
  { interactor, cacheScope, stop }: Pick<ExecutionRequest, 'interactor' | 'cacheScope' | 'stop'>,
  limits: Limits,
): Promise<Interactor | undefined> {
  if (interactor === undefined) return undefined
  const language = findInstalled(installed, interactor.language)
  const { ranOutOfMemory, run } = language.toolchain
  const request = { ...interactor, cacheScope, stdin: new Uint8Array(), stop }
  const done = await compileOnce(runCommand, cache, language, request, signal)
  if (done === undefined || stop?.aborted === true) return undefined
  const { phase: compile, artefact, cached } = done
  if (compile !== null && !cached) total.spend(compile)
  const own = language.limits.run
  const usual = { ...own, wallSeconds: limits.run.wallSeconds + own.wallSeconds }
  return {
    describe({ interactor: given = {} }, cores) {
      if (artefact === null) return undefined
      const files = [...(interactor.files ?? []), ...(given.runFiles ?? [])]
      const command = withFiles(files, run(artefact, own.memoryBytes))
      return {
        command: { ...command, argv: [...command.argv, ...(given.arguments ?? [])] },
        limits: total.narrow(usual),
        cores,
        ranOutOfMemory,
        stop,
      }
    },
    judge(phase, given) {
      if (compile !== null && artefact === null)
        return { ...phase, interactor: { phase: compile, endedFirst: true, isCompiler: true } }
      if (phase.interactor === undefined || given === undefined) return phase
      const ended = total.judge(phase.interactor.phase, given.limits, usual)
      return { ...phase, interactor: { ...phase.interactor, phase: ended } }
    },
  }
}
