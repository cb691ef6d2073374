// Takes one program through its phases in a slot: compile unless that was done before, then run.
// What a phase is, and what a language needs, is decided elsewhere; here is only their order.
import { compileMessageBytes, SandboxError } from '#contract'
import type { Command, ExecutionRequest, Limits, Outcome, Phase, PhaseRequest } from '#contract'
import type { ResidentCompilers } from '#resident'
import type { Artefact, Compiler, Toolchain } from '#toolchain'
import { hashSource } from './artefact-cache.ts'
import type { ArtefactCache, Compiled } from './artefact-cache.ts'
import type { PhaseRunner } from './tenancy.ts'

/** A language as this executor runs it. */
export interface Offer {
  readonly toolchain: Toolchain
  /** For both phases. */
  readonly limits: Limits
  /** Compilers that are kept up; null: each source is compiled in a box of its own. */
  readonly residents: ResidentCompilers | null
}

/** Takes a program through its phases. */
export type ProgramRunner = (
  runPhase: PhaseRunner,
  offer: Offer,
  request: ExecutionRequest,
  signal: AbortSignal,
) => Promise<Outcome>

/** @param cache of compiled programs, for all languages. */
export function createProgramRunner(cache: ArtefactCache): ProgramRunner {
  let phases = 0

  function runCommand(
    runPhase: PhaseRunner,
    { paths, ranOutOfMemory }: Toolchain,
    command: Command,
    details: Pick<PhaseRequest, 'stdin' | 'limits' | 'stop'> & { stderrKeptBytes?: number },
  ): Promise<Phase> {
    phases += 1
    return runPhase({ name: String(phases), command, paths, ranOutOfMemory, ...details })
  }

  async function compile(
    runPhase: PhaseRunner,
    { toolchain, limits, residents }: Offer,
    compiler: Compiler,
    { language, code, stop }: ExecutionRequest,
    signal: AbortSignal,
  ): Promise<Compiled> {
    const wanted = limits.compile
    if (wanted === null) throw new SandboxError('limits.read', `${language} has no compile limits`)
    const compiled =
      (await residents?.compile(code, eitherOf(signal, stop))) ??
      (await runCommand(runPhase, toolchain, compiler.command(code, wanted.memoryBytes), {
        stdin: new Uint8Array(),
        limits: wanted,
        stderrKeptBytes: compileMessageBytes,
        stop,
      }))
    const { stdout, ...rest } = compiled
    // The compiler's stdout carried the program; it is no output for anyone to read.
    const phase = { ...rest, stdout: new Uint8Array(), stdoutTruncated: false }
    const succeeded = phase.ending === 'exited' && phase.exitCode === 0
    return { phase, artefact: succeeded ? compiler.readArtefact(Buffer.from(stdout), code) : null }
  }

  return async (runPhase, offer, request, signal) => {
    const { language, code, stdin, cacheScope, stop } = request
    const { toolchain, limits } = offer
    const { compiler } = toolchain
    let compilePhase: Phase | null = null
    let compileCached = false
    let artefact: Artefact | null = { content: code, entry: '' }
    if (compiler !== null) {
      const key = hashSource(language, compiler.identity, code)
      const { compiled, cached } = await cache.compile(
        { owner: cacheScope, key },
        () => compile(runPhase, offer, compiler, request, signal),
        isCertain,
        stop,
      )
      compilePhase = compiled.phase
      compileCached = cached
      artefact = compiled.artefact
    }
    signal.throwIfAborted()
    if (artefact === null || stop?.aborted === true)
      return { compile: compilePhase, compileCached, run: null }
    const command = toolchain.run(artefact, limits.run.memoryBytes)
    const run = await runCommand(runPhase, toolchain, command, {
      stdin,
      limits: limits.run,
      stop,
    })
    return { compile: compilePhase, compileCached, run }
  }
}

/** Of a signal that is always there and one that may be. */
export function eitherOf(signal: AbortSignal, other: AbortSignal | undefined): AbortSignal {
  return other === undefined ? signal : AbortSignal.any([signal, other])
}

/** The same source will compile, or fail to, in the same way: neither a limit nor a signal had a part in it. */
function isCertain({ phase, artefact }: Compiled): boolean {
  return artefact !== null || (phase.ending === 'exited' && phase.exitCode === 1)
}
