// What a language is to the executor: a command that compiles, one that runs, the files both need, and what is faster than
// a fresh process where it can be had. The languages know nothing of boxes, cgroups or each other.
import type { Command, ForkServer, HostPath, Source } from '#contract'
import type { LanguageSettings } from '#language'
import type { ToolHost } from './tool.ts'

/** Where a language may prepare things beside the runs. */
export interface Workshop {
  /** A directory of the workers' own, to be made if missing; it outlives them. */
  readonly directory: string
  /** Aborted when the worker ends. */
  readonly signal: AbortSignal
  /** Lets the worker's end wait for this work. It must not reject. */
  readonly track: (work: Promise<void>) => void
}

/** What a compiler made, or the source itself for a language without one. */
export interface Artefact {
  readonly content: Uint8Array
  /** What the run command must name beside the file, such as a main class; empty if nothing. */
  readonly entry: string
}

/** What a compiler said and made. */
export interface CompilerAnswer {
  readonly exitCode: number
  readonly stdout: Buffer
  readonly stderr: Buffer
}

/** A compiler that stays in a box of its own and answers one request after the other (resident/process.ts). */
export interface ResidentCompiler {
  readonly kind: 'resident-compiler'
  /** What it is started with; it says with an empty answer that it is ready. */
  command(memoryBytes: number): Command
  writeRequest(code: Uint8Array): Buffer
  /**
   * What the compiler's command would have written and exited with. Null when that is in doubt: the source is then compiled
   * anew, in a box of its own.
   * @throws when it is not an answer at all.
   */
  readAnswer(answer: Buffer): CompilerAnswer | null
}

/** What is made once, beside the runs; without it they do the same, slower. */
export interface Preparation {
  readonly kind: 'preparation'
  /** Begins to prepare, in the background. Returns the language with what there will be. @throws when it cannot. */
  begin(workshop: Workshop): Toolchain
}

/** What is faster than a fresh process. Where it cannot be had, the fresh process does the same. */
export type Accelerator = ForkServer | ResidentCompiler | Preparation

/** How a program of this language gets compiled. */
export interface Compiler {
  /** The command line as a person would type it. */
  readonly commandLine: readonly string[]
  /** Everything besides the source that decides the result; part of the cache key. */
  readonly identity: string
  /** Compiles in the box and writes the result to stdout, the messages to stderr. */
  command(source: Source, memoryBytes: number): Command
  /** Makes the artefact of what stood on stdout. @throws when those bytes are not what this compiler writes. */
  readArtefact(stdout: Buffer, code: Uint8Array): Artefact
}

/** One language as installed on this host. */
export interface Toolchain {
  /** The exact version, such as `GCC 12.2.0`. */
  readonly version: string
  /** Where on the host it was found. */
  readonly location: string
  readonly compiler: Compiler | null
  /** The run's command line as a person would type it. */
  readonly commandLine: readonly string[]
  /** What to show read-only in the box, beyond the base system's programs and libraries. */
  readonly paths: readonly HostPath[]
  /** Programs of the host that decide what it does: when one is replaced, the language is another one. */
  readonly files: readonly string[]
  /** Host files and directories whose bytes a run reads. */
  readonly warmPaths: readonly string[]
  /** The command that runs an artefact under a memory limit. */
  run(artefact: Artefact, memoryBytes: number): Command
  /** True when the program's end shows that its runtime ran out of memory below the kernel's limit. */
  readonly ranOutOfMemory: (exitCode: number, stderr: Buffer) => boolean
  /** At most one of a kind. */
  readonly accelerators: readonly Accelerator[]
}

/** Looks for a language on a host. It makes nothing there. @throws {ToolError}, or what else says why it cannot be had. */
export type FindToolchain = (host: ToolHost, settings: LanguageSettings) => Promise<Toolchain>
