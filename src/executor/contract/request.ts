// A request to the executor: a program, its input, files, limits and further runs.
import type { Language, Limits } from '#language'
import type { Outcome, Phase } from './outcome.ts'
import type { OutputTap } from './boxes.ts'

export { languages } from '#language'
export type { Language, Limits, PhaseLimits } from '#language'

/** The network of a program. `loopback` has 127.0.0.1 and ::1, in a network of this run alone. */
export type Network = 'none' | 'loopback'

/** A file in the program's directory, in addition to its source. */
export interface SourceFile {
  /** A relative path of segments `[A-Za-z0-9._-]+`, none of them `.` or `..`. */
  readonly name: string
  readonly content: Uint8Array
}

/** The input of a compiler. */
export interface Source {
  /** The main file, UTF-8; any bytes, NUL included. */
  readonly code: Uint8Array
  readonly files: readonly SourceFile[]
  /** Further arguments for the compiler. */
  readonly arguments: readonly string[]
}

/** The input of one of several runs. */
export interface RunInput {
  readonly stdin: Uint8Array
  /** The program's arguments. The default is the request's. */
  readonly arguments?: readonly string[]
  /** Files and arguments of the interactor in this run. */
  readonly interactor?: Pick<ExecutionRequest, 'runFiles' | 'arguments'>
}

/** Runs a program. @throws as the executor's `execute` does. */
export type Execute = (request: ExecutionRequest) => Promise<Outcome>

export interface Runs {
  /** The inputs of the runs. Each one is read only when the run before it has ended. */
  readonly inputs: Iterable<RunInput> | AsyncIterable<RunInput>
  /**
   * Called with each run when it ends. The executor keeps only the first run. Returns false to start no further run.
   * @param execute runs another program before the next run, in that run's slot.
   */
  onRun(run: Phase, index: number, execute: Execute): boolean | Promise<boolean>
  /** Called before each further run. The slot is returned until `resumed` resolves, then one is taken again. Null keeps it. */
  readonly between?: (() => Promise<{ readonly resumed: Promise<void> } | null>) | undefined
}

/** A program to compile and run. */
export interface ExecutionRequest {
  readonly language: Language
  /** The source, UTF-8; any bytes, NUL included. */
  readonly code: Uint8Array
  /** The program's standard input, which then ends. */
  readonly stdin: Uint8Array
  /** The owner of the program. A compiled program is reused only for requests with the same scope. */
  readonly cacheScope: string
  /** Files beside the program, when it is compiled and when it runs. */
  readonly files?: readonly SourceFile[]
  /** Files beside the program only when it runs. */
  readonly runFiles?: readonly SourceFile[]
  /** The program's own arguments. */
  readonly arguments?: readonly string[]
  /** The program's variables, in addition to those of every program. The compiler gets none of them. */
  readonly environment?: Readonly<Record<string, string>>
  /** The program's network. A compiler has none. The default is none. */
  readonly network?: Network | undefined
  /** Sends the program's stderr into its stdout, but never a compiler's. The default is false. */
  readonly mergesStderr?: boolean | undefined
  /** Appended to the compiler's arguments. */
  readonly compileArguments?: readonly string[]
  /** The default is the language's limits. */
  readonly limits?: Limits
  /** Wall time of all phases together, including the programs that `onRun` executes. The default is no limit. */
  readonly totalSeconds?: number
  /** Cores that each phase may use at once: at least the slot's share, which is also the default, and at most all cores. */
  readonly cores?: number | undefined
  /** Names of at most 16 files beside the program. Those that the program left are reported, except the request's own. */
  readonly outputFiles?: readonly string[]
  /** Several runs of the program, one after the other, each in a fresh box. `stdin` is then unused. */
  readonly runs?: Runs
  /** A program that talks with the program in each of `runs`, in a box of its own. Each reads what the other writes. */
  readonly interactor?: Pick<ExecutionRequest, 'language' | 'code' | 'files' | 'compileArguments'>
  /** Stops the program: everything is killed. The outcome holds what had been done until then. */
  readonly stop?: AbortSignal | undefined
  /** Called once, when the request has a slot. Until then it waited for other requests. */
  readonly onSlot?: (() => void) | undefined
  /** Notified while the program is compiled and runs. */
  readonly live?: Live | undefined
}

/** Receives notifications while a program is compiled and runs. */
export interface Live {
  /** Called when the program is compiled and is about to run. */
  compiled(phase: Phase): void
  /** Notified of the run's output, unless the request has several `runs`. */
  readonly tap: OutputTap
}
