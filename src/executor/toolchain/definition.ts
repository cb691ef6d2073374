// The interface between the executor and a language. Languages know nothing of boxes, cgroups or each other.
import type { PrestartedRuntime, Command, ForkServer, HostPath, Source } from '#contract'
import type { LanguageSettings } from '#language'
import type { ToolHost } from './tool.ts'

export interface Workshop {
  /** The workers' directory for prepared files, which outlives them. The preparation creates it if missing. */
  readonly directory: string
  /** Aborted when the worker ends. */
  readonly signal: AbortSignal
  /** The worker's end waits for this; it must not reject. */
  readonly track: (work: Promise<void>) => void
}

/** A compiled program, or the source for a language without a compiler. */
export interface Artefact {
  readonly content: Uint8Array
  /** What the run must start, for example a main class; may be empty. */
  readonly entry: string
}

/** A compiler that stays in a box and compiles source after source (resident/process.ts). */
export interface ResidentCompiler {
  /** Returns the command that starts it. Its empty first answer says that it is ready. Each request is a source. */
  command(memoryBytes: number): Command
  /**
   * Reads an answer: the result that the compiler's command would have given. Null in doubt: a box then compiles the source
   * again.
   * @throws when the bytes are not an answer.
   */
  readAnswer(answer: Buffer): { exitCode: number; stdout: Buffer; stderr: Buffer } | null
}

/**
 * Starts to make files that later runs use, in the background.
 * @returns the toolchain that uses the prepared files; it has no other accelerators.
 * @throws when the preparation cannot start.
 */
export type Preparation = (workshop: Workshop) => Toolchain

/** Ways that are faster than a fresh process. Where one is missing, a fresh process gives the same result. */
export interface Accelerators {
  readonly 'fork-server'?: ForkServer
  /**
   * Describes a runtime that is started before its program, with the options of most programs and a memory limit in bytes.
   * Languages that share a runtime return the same object.
   */
  readonly prestart?: (memoryBytes: number) => PrestartedRuntime
  readonly 'resident-compiler'?: ResidentCompiler
  readonly preparation?: Preparation
}

export interface Compiler {
  /** The compiler's command line as a person would type it. */
  readonly commandLine: readonly string[]
  /** Everything that decides the result besides the source; part of the cache key. */
  readonly identity: string
  /** Returns the command that compiles in a box. It writes the result to stdout and messages to stderr. */
  command(source: Source, memoryBytes: number): Command
  /**
   * Reads the artefact from the command's stdout.
   * @throws when the bytes are not an artefact of this compiler.
   */
  readArtefact(stdout: Buffer, source: Source): Artefact
}

/** A language as installed on this host. */
export interface Toolchain {
  /** The exact version, such as `GCC 12.2.0`. */
  readonly version: string
  readonly location: string
  readonly compiler: Compiler | null
  /** The program's command line as a person would type it. */
  readonly commandLine: readonly string[]
  /** Host paths that boxes show read-only, beside the base system's programs and libraries. */
  readonly paths: readonly HostPath[]
  /** The programs that identify the language: when one is replaced, the language is tried again. */
  readonly files: readonly string[]
  /** Files and directories that a run reads; the worker reads them first. */
  readonly warmPaths: readonly string[]
  run(artefact: Artefact, memoryBytes: number): Command
  /** True when the result shows that the runtime ran out of memory below the kernel's limit. By default nothing shows it. */
  readonly ranOutOfMemory?: (exitCode: number, stderr: Buffer) => boolean
  readonly accelerators: Accelerators
}

/**
 * Finds a language on a host. Changes nothing there.
 * @throws {ToolError}, or another error that says why the language is not available.
 */
export type FindToolchain = (host: ToolHost, settings: LanguageSettings) => Promise<Toolchain>
