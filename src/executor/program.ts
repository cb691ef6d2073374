// Takes one program through its phases in a slot: compile unless that was done before, then run.
// What a phase is, and what a language needs, is decided elsewhere; here is only their order.
import { compileMessageBytes, SandboxError } from '#contract'
import type {
  BoxFile,
  Command,
  ExecutionRequest,
  Limits,
  Outcome,
  Phase,
  PhaseLimits,
  Source,
  SourceFile,
} from '#contract'
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
    details: { stdin: Uint8Array; limits: PhaseLimits; stderrKeptBytes?: number },
  ): Promise<Phase> {
    phases += 1
    return runPhase({ name: String(phases), command, paths, ranOutOfMemory, ...details })
  }

  async function compile(
    runPhase: PhaseRunner,
    { toolchain, residents }: Offer,
    compiler: Compiler,
    { source, limits, isUsual }: Compilation,
    signal: AbortSignal,
  ): Promise<Compiled> {
    const { code, files } = source
    // A compiler that is up already knows one file and the usual limits.
    const resident = isUsual ? residents : null
    const command = (): Command => beside(files, compiler.command(source, limits.memoryBytes))
    const compiled =
      (await resident?.compile(code, signal)) ??
      (await runCommand(runPhase, toolchain, command(), {
        stdin: new Uint8Array(),
        limits,
        stderrKeptBytes: compileMessageBytes,
      }))
    const { stdout, ...rest } = compiled
    // The compiler's stdout carried the program; it is no output for anyone to read.
    const phase = { ...rest, stdout: new Uint8Array(), stdoutTruncated: false }
    const succeeded = phase.ending === 'exited' && phase.exitCode === 0
    return {
      phase,
      artefact: succeeded ? compiler.readArtefact(Buffer.from(stdout), source) : null,
    }
  }

  return async (runPhase, offer, request, signal) => {
    const { code, stdin, files = [], cacheScope } = request
    const { toolchain } = offer
    const { compiler } = toolchain
    const limits = request.limits ?? offer.limits
    let compilePhase: Phase | null = null
    let compileCached = false
    let artefact: Artefact | null = { content: code, entry: '' }
    if (compiler !== null) {
      const compilation = describeCompilation(request, limits.compile)
      const key = hashSource(
        request.language,
        compiler.identity,
        compilation.source,
        compilation.limits,
      )
      const { compiled, cached } = await cache.compile(
        { owner: cacheScope, key },
        () => compile(runPhase, offer, compiler, compilation, signal),
        isCertain,
      )
      compilePhase = compiled.phase
      compileCached = cached
      artefact = compiled.artefact
    }
    if (artefact === null) return { compile: compilePhase, compileCached, run: null }
    const command = beside(files, toolchain.run(artefact, limits.run.memoryBytes))
    const argv = [...command.argv, ...(request.arguments ?? [])]
    const run = await runCommand(
      runPhase,
      toolchain,
      { ...command, argv },
      { stdin, limits: limits.run },
    )
    return { compile: compilePhase, compileCached, run }
  }
}

/** What a compiler is given, and what it may take. */
interface Compilation {
  readonly source: Source
  readonly limits: PhaseLimits
  /** One file, no further words, the language's own limits. */
  readonly isUsual: boolean
}

/** @throws {SandboxError} when the language's limits say nothing of a compiler. */
function describeCompilation(
  { language, code, files = [], compileArguments = [], limits: own }: ExecutionRequest,
  limits: PhaseLimits | null,
): Compilation {
  if (limits === null) throw new SandboxError('limits.read', `${language} has no compile limits`)
  const isUsual = files.length === 0 && compileArguments.length === 0 && own === undefined
  return { source: { code, files, arguments: compileArguments }, limits, isUsual }
}

/** Lays files beside a command's own. One that has the name of one of these stands in nobody's place: it is an error. */
function beside(files: readonly SourceFile[], command: Command): Command {
  if (files.length === 0) return command
  const own = new Set(command.files.map(({ path }) => path))
  const further = files.map(({ name, content }): BoxFile => ({
    path: `/box/${name}`,
    content,
    executable: false,
  }))
  const taken = further.find(({ path }) => own.has(path))
  if (taken === undefined) return { ...command, files: [...command.files, ...further] }
  const message = `${taken.path.slice('/box/'.length)}: this name is the main file's`
  return { ...command, argv: ['/bin/sh', '-c', 'echo "$1" >&2; exit 1', 'sh', message] }
}

/** The same source will compile, or fail to, in the same way: neither a limit nor a signal had a part in it. */
function isCertain({ phase, artefact }: Compiled): boolean {
  return artefact !== null || (phase.ending === 'exited' && phase.exitCode === 1)
}
