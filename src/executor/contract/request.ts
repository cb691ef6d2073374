// What the executor is asked to do: a program, its input, and what else it is to have.
import type { Language, Limits } from '#language'
import type { Outcome, Phase } from './outcome.ts'
import type { OutputTap } from './boxes.ts'

export { languages } from '#language'
export type { Language, Limits, PhaseLimits } from '#language'

/** What a program has of networks: with `loopback` 127.0.0.1 and ::1, in a network of its run alone. */
export type Network = 'none' | 'loopback'

/** A file that lies beside the program's own, when it is compiled and when it runs. */
export interface SourceFile {
  /** A relative path of segments `[A-Za-z0-9._-]+`, none of them `.` or `..`. */
  readonly name: string
  readonly content: Uint8Array
}

/** All that a compiler is given. */
export interface Source {
  /** The main file, UTF-8; any bytes, NUL included. */
  readonly code: Uint8Array
  readonly files: readonly SourceFile[]
  /** Further words for the compiler. */
  readonly arguments: readonly string[]
}

/** What one of several runs is given. */
export interface RunInput {
  readonly stdin: Uint8Array
  /** The request's own unless given. */
  readonly arguments?: readonly string[]
  /** What the interactor has beside it: files and arguments. */
  readonly interactor?: Pick<ExecutionRequest, 'runFiles' | 'arguments'>
}

/** Runs a program. @throws as the executor's own. */
export type Execute = (request: ExecutionRequest) => Promise<Outcome>

export interface Runs {
  /** Each is asked for when the run before it has ended. */
  readonly inputs: Iterable<RunInput> | AsyncIterable<RunInput>
  /**
   * Called with each run as it ends: none is kept. False: no further one begins.
   * @param execute runs another program meanwhile, in the slot of the next run.
   */
  onRun(run: Phase, index: number, execute: Execute): boolean | Promise<boolean>
  /** Asked before each further run. The slot is given back until `resumed` has resolved, and another one is taken then; null: kept. */
  readonly between?: (() => Promise<{ readonly resumed: Promise<void> } | null>) | undefined
}

/** One program to run. */
export interface ExecutionRequest {
  readonly language: Language
  /** The source, UTF-8; any bytes, NUL included. */
  readonly code: Uint8Array
  /** Fed to the program's standard input, then closed. */
  readonly stdin: Uint8Array
  /** Whose program it is: what is kept of its compilation is found again under the same name alone. */
  readonly cacheScope: string
  /** Beside the program when it is compiled and when it runs. */
  readonly files?: readonly SourceFile[]
  /** When it runs alone. */
  readonly runFiles?: readonly SourceFile[]
  /** The program's own arguments. */
  readonly arguments?: readonly string[]
  /** Its variables beside those that every program finds; the compiler has none of them. */
  readonly environment?: Readonly<Record<string, string>>
  /** The program's; a compiler has none. None unless given. */
  readonly network?: Network | undefined
  /** The program's stderr is its stdout; a compiler's never. False unless given. */
  readonly mergesStderr?: boolean | undefined
  /** Appended to the compiler's. */
  readonly compileArguments?: readonly string[]
  /** Those of the language unless given. */
  readonly limits?: Limits
  /** What all its phases may run together, by the clock; those of what it runs meanwhile count as well. No bound unless given. */
  readonly totalSeconds?: number
  /** That each of its phases may use at once; the executor's own unless that is less. Never more than there are. */
  readonly cores?: number | undefined
  /** Names of files beside the program, at most 16, that are reported when it has left them. Its own are none. */
  readonly outputFiles?: readonly string[]
  /** More than one run of the program, one after the other in one slot at a time, each in a fresh box; `stdin` is none of them. */
  readonly runs?: Runs
  /** Speaks with the program in each of `runs`, in a box of its own: one's output is the other's input. */
  readonly interactor?: Pick<ExecutionRequest, 'language' | 'code' | 'files' | 'compileArguments'>
  /** Ends the program where it is: everything is killed, and what it had done until then is its fate. */
  readonly stop?: AbortSignal | undefined
  /** Called once, when it has a slot: until then it waited for others. */
  readonly onSlot?: (() => void) | undefined
  /** Hears of the run before the end. */
  readonly live?: Live | undefined
}

/** What is reported while a program is under way. */
export interface Live {
  /** The program is compiled, and runs now. */
  compiled(phase: Phase): void
  /** Of the run; none of several is reported. */
  readonly tap: OutputTap
}
