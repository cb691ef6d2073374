// What a language is to the executor: a command that compiles, one that runs, and the files both need. The languages know
import type { Command, HostPath } from '#contract'
// nothing of boxes, cgroups or each other.

/** Where and how long a language may prepare things beside the runs. */
export interface Preparation {
  /** A directory of the workers' own, to be made if missing; it outlives them. */
  readonly directory: string
  /** False: nothing is made that only saves time. */
  readonly precompiles: boolean
  /** Aborted when the worker ends. */
  readonly signal: AbortSignal
  /** Lets the worker's end wait for this work. It must not reject. */
  readonly track: (work: Promise<void>) => void
}

/** What a compiler made, or the source itself for a language without one. */
export interface Artefact {
  readonly content: Uint8Array
  /** What the run command must name beside the file, such as Java's main class; empty if nothing. */
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
  /** What it is started with; it says with an empty answer that it is ready. */
  command(memoryBytes: number): Command
  writeRequest(code: Uint8Array): Buffer
  /**
   * Null when the answer is not beyond doubt; the source is then compiled anew, in a box of its own.
   * @throws when it is not an answer at all.
   */
  readAnswer(answer: Buffer): CompilerAnswer | null
}

/** How a program of this language gets compiled. */
export interface Compiler {
  /** The command line as a person would type it. */
  readonly commandLine: readonly string[]
  /** Everything besides the source that decides the result; part of the cache key. */
  readonly identity: string
  /** Compiles in the box and writes the result to stdout, the messages to stderr. */
  command(code: Uint8Array, memoryBytes: number): Command
  /** The same compiler, kept running: what it answers is what `command` would write and exit with. Null: it has none. */
  readonly resident: ResidentCompiler | null
  /** Makes the artefact of what stood on stdout. @throws when those bytes are not what this compiler writes. */
  readArtefact(stdout: Buffer, code: Uint8Array): Artefact
}

/** One language as installed on this host. */
export interface Toolchain {
  /** The exact version, such as `Python 3.11.2`. */
  readonly version: string
  readonly compiler: Compiler | null
  /** The run's command line as a person would type it. */
  readonly commandLine: readonly string[]
  /** What to show read-only in the box, beyond the base system's programs and libraries. */
  readonly paths: readonly HostPath[]
  /** Host files and directories whose bytes a run reads. */
  readonly warmPaths: readonly string[]
  /** The command that runs an artefact under a memory limit. */
  run(artefact: Artefact, memoryBytes: number): Command
  /** True when the program's end shows that its runtime ran out of memory below the kernel's limit. */
  readonly ranOutOfMemory: (exitCode: number, stderr: Buffer) => boolean
}
