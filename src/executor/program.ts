// Takes one program through its phases in a slot: compile unless that was done before, then run.
// What a phase is, and what a language needs, is decided elsewhere; here is only their order.
import type { Artefact, Compiler, Toolchain } from '#toolchain'
import type {
  Command,
  ExecutionRequest,
  Language,
  Limits,
  Outcome,
  Phase,
  PhaseLimits,
} from '#contract'
import { compileMessageBytes, SandboxError } from '#contract'
import type { ResidentCompilers } from '#resident'
import { hashSource } from './artefact-cache.ts'
import type { ArtefactCache, Compiled } from './artefact-cache.ts'
import type { PhaseRunner } from './tenancy.ts'

/** Takes a program through its phases. */
export type ProgramRunner = (
  runPhase: PhaseRunner,
  request: ExecutionRequest,
  signal: AbortSignal,
) => Promise<Outcome>

/**
 * @param limits of every language, for both phases.
 * @param residents the compilers that are kept up; a language without is compiled in a box each time.
 */
export function createProgramRunner(
  toolchains: Readonly<Record<Language, Toolchain>>,
  cache: ArtefactCache,
  limits: Readonly<Record<Language, Limits>>,
  residents: Readonly<Partial<Record<Language, ResidentCompilers | null>>>,
): ProgramRunner {
  let phases = 0

  function runCommand(
    runPhase: PhaseRunner,
    toolchain: Toolchain,
    command: Command,
    details: { stdin: Uint8Array; limits: PhaseLimits; stderrKeptBytes?: number },
  ): Promise<Phase> {
    phases += 1
    const { paths, ranOutOfMemory } = toolchain
    const name = String(phases)
    return runPhase({ name, command, paths, ranOutOfMemory, ...details })
  }

  async function compile(
    runPhase: PhaseRunner,
    { language, code }: ExecutionRequest,
    compiler: Compiler,
    signal: AbortSignal,
  ): Promise<Compiled> {
    const wanted = limits[language].compile
    if (wanted === null) throw new SandboxError('limits.read', `${language} has no compile limits`)
    const compiled =
      (await residents[language]?.compile(code, signal)) ??
      (await runCommand(
        runPhase,
        toolchains[language],
        compiler.command(code, wanted.memoryBytes),
        { stdin: new Uint8Array(), limits: wanted, stderrKeptBytes: compileMessageBytes },
      ))
    const { stdout, ...rest } = compiled
    // The compiler's stdout carried the program; it is no output for anyone to read.
    const phase = { ...rest, stdout: new Uint8Array(), stdoutTruncated: false }
    const succeeded = phase.ending === 'exited' && phase.exitCode === 0
    return { phase, artefact: succeeded ? compiler.readArtefact(Buffer.from(stdout), code) : null }
  }

  return async (runPhase, request, signal) => {
    const { language, code, stdin, cacheScope } = request
    const toolchain = toolchains[language]
    const { compiler } = toolchain
    let compilePhase: Phase | null = null
    let compileCached = false
    let artefact: Artefact | null = { content: code, entry: '' }
    if (compiler !== null) {
      const key = hashSource(language, compiler.identity, code)
      const { compiled, cached } = await cache.compile(
        { owner: cacheScope, key },
        () => compile(runPhase, request, compiler, signal),
        isCertain,
      )
      compilePhase = compiled.phase
      compileCached = cached
      artefact = compiled.artefact
    }
    if (artefact === null) return { compile: compilePhase, compileCached, run: null }
    const wanted = limits[language].run
    const command = toolchain.run(artefact, wanted.memoryBytes)
    const run = await runCommand(runPhase, toolchain, command, { stdin, limits: wanted })
    return { compile: compilePhase, compileCached, run }
  }
}

/** The same source will compile, or fail to, in the same way: neither a limit nor a signal had a part in it. */
function isCertain({ phase, artefact }: Compiled): boolean {
  return artefact !== null || (phase.ending === 'exited' && phase.exitCode === 1)
}
