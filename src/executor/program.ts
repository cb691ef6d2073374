// Takes one program through its phases in a slot: compile unless that was done before, then run.
// What a phase is, and what a language needs, is decided elsewhere; here is only their order.
import { isDeepStrictEqual } from 'node:util'
import { unlessAborted } from '#abort'
import { compileMessageBytes, SandboxError } from '#contract'
import type {
  BoxFile,
  Command,
  Execute,
  ExecutionRequest,
  Language,
  Limits,
  Outcome,
  Phase,
  PhaseLimits,
  PhaseRequest,
  RunInput,
  Runs,
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

/** @param cache of compiled programs, for all languages. @param offers by which a program's own checker is run. */
export function createProgramRunner(
  cache: ArtefactCache,
  offers: ReadonlyMap<Language, Offer>,
): ProgramRunner {
  let phases = 0

  function runCommand(
    runPhase: PhaseRunner,
    { paths, ranOutOfMemory }: Toolchain,
    command: Command,
    details: Pick<
      PhaseRequest,
      'stdin' | 'limits' | 'stop' | 'tap' | 'stderrKeptBytes' | 'outputFiles'
    >,
  ): Promise<Phase> {
    phases += 1
    return runPhase({ name: String(phases), command, paths, ranOutOfMemory, ...details })
  }

  async function compile(
    runPhase: PhaseRunner,
    { toolchain, residents }: Offer,
    compiler: Compiler,
    { source, limits, isUsual, stop }: Compilation,
    signal: AbortSignal,
  ): Promise<Compiled> {
    const { code, files } = source
    // A compiler that is up already knows one file and the usual limits.
    const resident = isUsual ? residents : null
    const command = (): Command => beside(files, compiler.command(source, limits.memoryBytes))
    const compiled =
      (await resident?.compile(code, eitherOf(signal, stop))) ??
      (await runCommand(runPhase, toolchain, command(), {
        stdin: new Uint8Array(),
        limits,
        stderrKeptBytes: compileMessageBytes,
        stop,
      }))
    const { stdout, ...rest } = compiled
    // The compiler's stdout carried the program; it is no output for anyone to read.
    const phase = { ...rest, stdout: new Uint8Array(), stdoutTruncated: false }
    const succeeded = phase.ending === 'exited' && phase.exitCode === 0
    if (!succeeded) return { phase, artefact: null }
    try {
      return { phase, artefact: compiler.readArtefact(Buffer.from(stdout), source) }
    } catch (error) {
      // Only with words or files of its own can a program have a hand in what its compiler writes.
      if (files.length === 0 && source.arguments.length === 0) throw error
      const message = '[what the compiler wrote is not a program]\n'
      const stderr = Buffer.concat([phase.stderr, Buffer.from(message)])
      return { phase: { ...phase, exitCode: 1, stderr }, artefact: null }
    }
  }

  const run: ProgramRunner = async (runPhase, offer, request, signal) => {
    const { code, files = [], cacheScope, stop } = request
    const { toolchain } = offer
    const { compiler } = toolchain
    const limits = request.limits ?? offer.limits
    let compilePhase: Phase | null = null
    let compileCached = false
    let artefact: Artefact | null = { content: code, entry: '' }
    if (compiler !== null) {
      const compilation = describeCompilation(request, limits.compile, offer.limits.compile)
      const key = hashSource(
        request.language,
        compiler.identity,
        compilation.source,
        compilation.limits,
      )
      const compiling = cache.compile(
        { owner: cacheScope, key },
        () => compile(runPhase, offer, compiler, compilation, signal),
        isCertain,
        stop,
      )
      const done = await unlessAborted(compiling, stop)
      // It waited, or a resident compiler had it, which keeps nothing of it.
      if (done === undefined) {
        signal.throwIfAborted()
        return nothingDone
      }
      const { compiled, cached } = done
      compilePhase = compiled.phase
      compileCached = cached
      artefact = compiled.artefact
    }
    signal.throwIfAborted()
    if (artefact === null || stop?.aborted === true)
      return { compile: compilePhase, compileCached, run: null }
    const besides = [...files, ...(request.runFiles ?? [])]
    const command = beside(besides, toolchain.run(artefact, limits.run.memoryBytes))
    if (compilePhase !== null) request.live?.compiled(compilePhase)
    const tap = request.runs === undefined ? request.live?.tap : undefined
    const asked = request.outputFiles && {
      outputFiles: withoutOwn(request.outputFiles, command),
    }
    const runOnce = (input: RunInput): Promise<Phase | undefined> => {
      const argv = [...command.argv, ...(input.arguments ?? request.arguments ?? [])]
      const details = { stdin: input.stdin, limits: limits.run, stop, tap, ...asked }
      return unlessAborted(runCommand(runPhase, toolchain, { ...command, argv }, details), stop)
    }
    const phase =
      request.runs === undefined
        ? ((await runOnce({ stdin: request.stdin })) ?? null)
        : await runEach(request.runs, runOnce, stop, (other) =>
            run(runPhase, findOffer(offers, other.language), { ...other, stop }, signal),
          )
    if (phase === null) signal.throwIfAborted()
    return { compile: compilePhase, compileCached, run: phase }
  }
  return run
}

/** @throws {SandboxError} for a language that is not installed here. */
export function findOffer(offers: ReadonlyMap<Language, Offer>, language: Language): Offer {
  const offer = offers.get(language)
  if (offer === undefined)
    throw new SandboxError('language.missing', `${language} is not installed here`)
  return offer
}

/** What became of a program that was stopped before anything of it was. */
export const nothingDone: Outcome = { compile: null, compileCached: false, run: null }

/** @returns the first run; null when it was stopped before it. */
async function runEach(
  { inputs, onRun }: Runs,
  /** Undefined: it was stopped while it waited. */
  runOnce: (input: RunInput) => Promise<Phase | undefined>,
  stop: AbortSignal | undefined,
  execute: Execute,
): Promise<Phase | null> {
  let first: Phase | null = null
  let index = 0
  for await (const input of inputs) {
    const run = await runOnce(input)
    if (run === undefined) break
    first ??= run
    if (!(await onRun(run, index, execute)) || stop?.aborted === true) break
    index += 1
  }
  return first
}

/** What a compiler is given, and what it may take. */
interface Compilation {
  readonly source: Source
  readonly limits: PhaseLimits
  /** One file, no further words, the language's own limits. */
  readonly isUsual: boolean
  readonly stop: AbortSignal | undefined
}

/** @throws {SandboxError} when the language's limits say nothing of a compiler. */
function describeCompilation(
  { language, code, files = [], compileArguments = [], stop }: ExecutionRequest,
  limits: PhaseLimits | null,
  usual: PhaseLimits | null,
): Compilation {
  if (limits === null) throw new SandboxError('limits.read', `${language} has no compile limits`)
  const isUsual =
    files.length === 0 && compileArguments.length === 0 && isDeepStrictEqual(limits, usual)
  return { source: { code, files, arguments: compileArguments }, limits, isUsual, stop }
}

/** Lays files beside a command's own. One that has the name of one of these stands in nobody's place: it is an error. */
function beside(files: readonly SourceFile[], command: Command): Command {
  if (files.length === 0) return command
  const own = command.files.map(({ path }) => path)
  const further = files.map(({ name, content }): BoxFile => ({
    path: `/box/${name}`,
    content,
    executable: false,
  }))
  // Also a file that would have to be a directory of the other.
  const taken = further.find(({ path }) =>
    own.some((one) => one === path || one.startsWith(`${path}/`) || path.startsWith(`${one}/`)),
  )
  if (taken === undefined) return { ...command, files: [...command.files, ...further] }
  const message = `${taken.path.slice('/box/'.length)}: this name is taken`
  return { ...command, argv: ['/bin/sh', '-c', 'echo "$1" >&2; exit 1', 'sh', message] }
}

/** A program's own file is none that it left, though it may have changed it: not every kind of box lets it. */
function withoutOwn(names: readonly string[], { files }: Command): string[] {
  const own = new Set(files.map(({ path }) => path))
  return names.filter((name) => !own.has(`/box/${name}`))
}

/** Of a signal that is always there and one that may be. */
export function eitherOf(signal: AbortSignal, other: AbortSignal | undefined): AbortSignal {
  return other === undefined ? signal : AbortSignal.any([signal, other])
}

/** The same source will compile, or fail to, in the same way: neither a limit nor a signal had a part in it. */
function isCertain({ phase, artefact }: Compiled): boolean {
  return artefact !== null || (phase.ending === 'exited' && phase.exitCode === 1)
}
