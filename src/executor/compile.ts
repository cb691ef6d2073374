// Compiles a program, unless that was done before (artefact-cache.ts): by a compiler that is up already, or in a box.
import { isDeepStrictEqual } from 'node:util'
import { eitherOf, unlessAborted } from '#abort'
import { compileMessageBytes, SandboxError } from '#contract'
import type { Command, ExecutionRequest, Phase, PhaseLimits, PhaseRequest, Source } from '#contract'
import type { Artefact, Compiler } from '#toolchain'
import { hashSource } from './artefact-cache.ts'
import type { ArtefactCache, Compiled } from './artefact-cache.ts'
import type { Offer } from './languages.ts'
import { withFiles } from './request-files.ts'

/** Runs one command of a toolchain in a fresh box. */
export type RunCommand = (
  command: Command,
  details: Omit<PhaseRequest, 'command' | 'cores' | 'ranOutOfMemory'>,
) => Promise<Phase>

/** What a program is before it runs. */
export interface Prepared {
  /** Null for a language without a compiler. */
  readonly phase: Phase | null
  /** The source where there is no compiler; null when it does not compile. */
  readonly artefact: Artefact | null
  readonly cached: boolean
}

/**
 * @returns undefined when it was stopped before the end, or while it waited.
 * @throws the signal's reason when aborted; {SandboxError} when the language's limits say nothing of a compiler.
 */
export async function compileOnce(
  runCommand: RunCommand,
  cache: ArtefactCache,
  offer: Offer,
  request: ExecutionRequest,
  signal: AbortSignal,
): Promise<Prepared | undefined> {
  const { language, code, files = [], compileArguments = [], cacheScope, stop } = request
  const { compiler } = offer.toolchain
  if (compiler === null)
    return { phase: null, artefact: { content: code, entry: '' }, cached: false }
  const limits = (request.limits ?? offer.limits).compile
  if (limits === null) throw new SandboxError('limits.read', `${language} has no compile limits`)
  const source = { code, files, arguments: compileArguments }
  const isPlain = files.length === 0 && compileArguments.length === 0
  // A compiler that is up already knows one file and the usual limits.
  const isUsual = isPlain && isDeepStrictEqual(limits, offer.limits.compile)
  const resident = isUsual ? offer.residents : null

  const compile = async (): Promise<Compiled> => {
    const phase =
      (await resident?.compile(cacheScope, code, eitherOf(signal, stop))) ??
      (await runCommand(withFiles(files, compiler.command(source, limits.memoryBytes)), {
        stdin: new Uint8Array(),
        limits,
        stderrKeptBytes: compileMessageBytes,
        stop,
      }))
    return readCompiled(blameMemory(phase, limits), compiler, source, isPlain)
  }

  const key = hashSource(language, compiler.identity, source, limits)
  const compiling = cache.compile({ owner: cacheScope, key }, compile, isCertain, stop)
  const done = await unlessAborted(compiling, stop)
  // A resident compiler that is stopped keeps nothing of it.
  if (done === undefined) signal.throwIfAborted()
  return done && { ...done.compiled, cached: done.cached }
}

/** @throws when a plain compilation has written what is no program. */
function readCompiled(
  { stdout, ...rest }: Phase,
  compiler: Compiler,
  source: Source,
  isPlain: boolean,
): Compiled {
  // The compiler's stdout carried the program; it is no output for anyone to read.
  const phase = { ...rest, stdout: new Uint8Array(), stdoutTruncated: false }
  if (phase.ending !== 'exited' || phase.exitCode !== 0) return { phase, artefact: null }
  try {
    return { phase, artefact: compiler.readArtefact(Buffer.from(stdout), source) }
  } catch (error) {
    // Only with words or files of its own can a program have a hand in what its compiler writes.
    if (isPlain) throw error
    const message = '[what the compiler wrote is not a program]\n'
    const stderr = Buffer.concat([phase.stderr, Buffer.from(message)])
    return { phase: { ...phase, exitCode: 1, stderr }, artefact: null }
  }
}

/**
 * A compiler that fills its memory spends its time on reading its own pages anew: that its clock ran out is an accident of the
 * machine's, and that it had too little memory is the reason.
 */
export function blameMemory(phase: Phase, { memoryBytes }: PhaseLimits): Phase {
  const isFull = phase.usage.memoryPeakBytes >= memoryBytes * fullShare
  const ranOut = phase.ending === 'wall_limit' || phase.ending === 'cpu_limit'
  return isFull && ranOut ? { ...phase, ending: 'memory_limit' } : phase
}

/** Kernels count in batches of some pages for each processor. */
const fullShare = 0.98

/** The same source will compile, or fail to, in the same way: neither a limit nor a signal had a part in it. */
function isCertain({ phase, artefact }: Compiled): boolean {
  return artefact !== null || (phase.ending === 'exited' && phase.exitCode === 1)
}
