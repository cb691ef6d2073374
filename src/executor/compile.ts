// Compiles a program with a resident compiler or in a box, unless its result is cached (artefact-cache.ts).
import { isDeepStrictEqual } from 'node:util'
import { eitherOf, unlessAborted } from '#abort'
import { compileMessageBytes, SandboxError } from '#contract'
import type { Command, ExecutionRequest, Phase, PhaseLimits, PhaseRequest, Source } from '#contract'
import type { Artefact, Compiler } from '#toolchain'
import { hashSource } from './artefact-cache.ts'
import type { ArtefactCache, Compiled } from './artefact-cache.ts'
import type { InstalledLanguage } from './languages.ts'
import { withFiles } from './request-files.ts'

/** Runs one command of a toolchain in a fresh box. */
export type RunCommand = (
  command: Command,
  details: Omit<PhaseRequest, 'command' | 'cores' | 'ranOutOfMemory'>,
) => Promise<Phase>

/** A program that is ready to run, or failed to compile. */
export interface Prepared {
  /** The compile phase; null for a language without a compiler. */
  readonly phase: Phase | null
  /** The source for a language without a compiler; null when the program does not compile. */
  readonly artefact: Artefact | null
  readonly cached: boolean
}

/**
 * Compiles a program, or returns its cached compilation.
 * @returns undefined when the request was stopped before the end, or while it waited.
 * @throws the signal's reason when aborted; {SandboxError} when the limits have none for the compiler.
 */
export async function compileOnce(
  runCommand: RunCommand,
  cache: ArtefactCache,
  installed: InstalledLanguage,
  request: ExecutionRequest,
  signal: AbortSignal,
): Promise<Prepared | undefined> {
  const { language, code, files = [], compileArguments = [], cacheScope, stop } = request
  const { compiler } = installed.toolchain
  if (compiler === null)
    return { phase: null, artefact: { content: code, entry: '' }, cached: false }
  const limits = (request.limits ?? installed.limits).compile
  if (limits === null) throw new SandboxError('limits.read', `${language} has no compile limits`)
  const source = { code, files, arguments: compileArguments }
  const isPlain = files.length === 0 && compileArguments.length === 0
  // A resident compiler supports only one file and the usual limits.
  const isUsual = isPlain && isDeepStrictEqual(limits, installed.limits.compile)
  const resident = isUsual ? installed.residents : null

  const compile = async (): Promise<Compiled> => {
    const phase =
      (await resident?.compile(cacheScope, code, eitherOf(signal, stop))) ??
      (await runCommand(withFiles(files, compiler.command(source, limits.memoryBytes)), {
        limits,
        stderrKeptBytes: compileMessageBytes,
        stop,
      }))
    return readCompiled(blameMemory(phase, limits), compiler, source, isPlain)
  }

  const key = hashSource(language, compiler.identity, source, limits)
  const compiling = cache.compile({ owner: cacheScope, key }, compile, isCertain, stop)
  const done = await unlessAborted(compiling, stop)
  // `stop` also ends a resident compilation, which leaves no phase to return.
  if (done === undefined) signal.throwIfAborted()
  return done && { ...done.compiled, cached: done.cached }
}

/** Reads the artefact from the compiler's stdout. @throws when a plain compilation's output is not a program. */
function readCompiled(
  { stdout, ...rest }: Phase,
  compiler: Compiler,
  source: Source,
  isPlain: boolean,
): Compiled {
  // The compiler's stdout carried the program, so it is not reported as output.
  const phase = { ...rest, stdout: new Uint8Array(), stdoutTruncated: false }
  if (phase.ending !== 'exited' || phase.exitCode !== 0) return { phase, artefact: null }
  try {
    return { phase, artefact: compiler.readArtefact(Buffer.from(stdout), source) }
  } catch (error) {
    // Only a submission's compiler arguments or further files can influence what its compiler writes.
    if (isPlain) throw error
    const message = '[what the compiler wrote is not a program]\n'
    const stderr = Buffer.concat([phase.stderr, Buffer.from(message)])
    return { phase: { ...phase, exitCode: 1, stderr }, artefact: null }
  }
}

/**
 * Changes a time limit to `memory_limit` when the compiler's memory was full. Such a compiler spends its time on reading its
 * own pages again, so too little memory is the cause and the time limit only a consequence.
 */
export function blameMemory(phase: Phase, { memoryBytes }: PhaseLimits): Phase {
  const isFull = phase.usage.memoryPeakBytes >= memoryBytes * fullShare
  const ranOut = phase.ending === 'wall_limit' || phase.ending === 'cpu_limit'
  return isFull && ranOut ? { ...phase, ending: 'memory_limit' } : phase
}

/** Below 1, because the kernel counts memory in batches of some pages per processor. */
const fullShare = 0.98

/** True when compiling again would give the same result: neither a limit nor a signal ended the compiler. */
function isCertain({ phase, artefact }: Compiled): boolean {
  return artefact !== null || (phase.ending === 'exited' && phase.exitCode === 1)
}
