// A language as the executor sees it. Languages know nothing of boxes, cgroups or each other.
import type { PrestartedRuntime, Command, ForkServer, HostPath, Source } from '#contract'
import type { LanguageSettings } from '#language'
import type { ToolHost } from './tool.ts'

export interface Workshop {
  /** It belongs to the workers and outlives them. Make it if missing. */
  readonly directory: string
  /** Aborted when the worker ends. */
  readonly signal: AbortSignal
  /** The worker's end waits for this; it must not reject. */
  readonly track: (work: Promise<void>) => void
}

/** What a compiler made, or the source without one. */
export interface Artefact {
  readonly content: Uint8Array
  /** For example a main class; may be empty. */
  readonly entry: string
}

export interface CompilerAnswer {
  readonly exitCode: number
  readonly stdout: Buffer
  readonly stderr: Buffer
}

/** A compiler that stays in a box (resident/process.ts). */
export interface ResidentCompiler {
  /** The command that starts it; an empty answer says that it is ready. Each request is a source. */
  command(memoryBytes: number): Command
  /**
   * What the compiler's command would have given. Null in doubt: a box then compiles anew.
   * @throws when it is no answer.
   */
  readAnswer(answer: Buffer): CompilerAnswer | null
}

/**
 * Begins what is made once, beside the runs; an executor waits at most for what takes a moment.
 * @returns the language as it will be, without accelerators of another kind.
 * @throws when it cannot.
 */
export type Preparation = (workshop: Workshop) => Toolchain | Promise<Toolchain>

/** What is faster than a fresh process, which does the same where it is missing. */
export interface Accelerators {
  readonly 'fork-server'?: ForkServer
  /** A runtime whose start need not be waited for: as most programs want it, under a memory limit in bytes. */
  readonly prestart?: (memoryBytes: number) => PrestartedRuntime
  readonly 'resident-compiler'?: ResidentCompiler
  readonly preparation?: Preparation
}

export interface Compiler {
  /** As a person would type it. */
  readonly commandLine: readonly string[]
  /** What decides the result besides the source; part of the cache key. */
  readonly identity: string
  /** Compiles in the box: result to stdout, messages to stderr. */
  command(source: Source, memoryBytes: number): Command
  /**
   * Reads the artefact from stdout.
   * @throws when this compiler does not write such bytes.
   */
  readArtefact(stdout: Buffer, source: Source): Artefact
}

/** A language as installed on this host. */
export interface Toolchain {
  /** Exact, such as `GCC 12.2.0`. */
  readonly version: string
  readonly location: string
  readonly compiler: Compiler | null
  /** The run's, as a person would type it. */
  readonly commandLine: readonly string[]
  /** Read-only, beyond the base system's programs and libraries. */
  readonly paths: readonly HostPath[]
  /** When one of these programs is replaced, the language is another. */
  readonly files: readonly string[]
  /** Files and directories that a run reads. */
  readonly warmPaths: readonly string[]
  run(artefact: Artefact, memoryBytes: number): Command
  /** True when the runtime ran out of memory below the kernel's limit. */
  readonly ranOutOfMemory: (exitCode: number, stderr: Buffer) => boolean
  readonly accelerators: Accelerators
}

/**
 * Makes nothing on the host.
 * @throws {ToolError}, or another error that says why the language cannot be had.
 */
export type FindToolchain = (host: ToolHost, settings: LanguageSettings) => Promise<Toolchain>
