// What a language says of itself.
import type { GenericSchema } from 'valibot'
import type { Limits } from './limits.ts'

/** A program that a language needs. */
export interface Tool {
  /** Its file's name. */
  readonly program: string
  /** What people call it; by default the language's title. */
  readonly title?: string
  /** The options that make it print its version. */
  readonly ask: readonly string[]
  /** What it reads on stdin meanwhile. */
  readonly input?: string
  /** The version begins with the first group, major, and perhaps the second, minor, and ends with the match; `()`: it prints none. */
  readonly pattern: RegExp
  /** The oldest that will do, major and minor. */
  readonly oldest: readonly [number, number]
}

/**
 * Commands as a person types them. The first word is a program of the host or a file of the box (`./main`). `{heap}`
 * becomes three quarters of the memory limit, in MiB. In the first command of a compiler a submission's own arguments stand
 * at `{arguments}`, else at its end, and its other source files at `{files}`, else before the main one.
 */
export interface Recipe {
  /** The source's file name. */
  readonly source: string
  /** Makes one file, which is kept and run; null: the source is run. */
  readonly compile: {
    /** Run in order, each if the last succeeded. */
    readonly commands: readonly (readonly string[])[]
    readonly makes: string
    /** Of the program's other files the compiler is given those whose names end so; else it finds what the main one names. */
    readonly together?: readonly string[]
  } | null
  readonly run: readonly string[]
  /** What people see in place of scripts. */
  readonly typed?: { readonly compile?: readonly string[]; readonly run?: readonly string[] }
  /** Variables for both. */
  readonly environment?: Readonly<Record<string, string>>
  /** Host paths that both read, beside programs and libraries; `*` is any version, missing ones are skipped. */
  readonly paths?: readonly string[]
  /** Uses Java's JDK, with the heap set by us. */
  readonly runsOnJdk?: true
  /**
   * The JVM that a worker prepares an archive of classes for: the first one that the compiler's script starts with JAVA_OPTS, or
   * the run's. It is made with the example.
   */
  readonly archives?: 'compile' | 'run'
  /** The runtime sizes its own stacks: it gets the usual stack limit instead of none. */
  readonly usualStack?: true
  /** On stderr this says that the runtime ran out of memory below the kernel's limit. */
  readonly outOfMemory?: RegExp
}

/** Pure data: never looks at a host. */
export interface LanguageDefinition {
  /** Canonical: in the log, in records, and in capitals in its limits' variables. */
  readonly name: string
  /** What people call it. */
  readonly title: string
  /** Other names that people type. */
  readonly aliases?: readonly string[]
  /** How source files' names end, dot included. */
  readonly extensions: readonly string[]
  /** Empty `end`: the comment ends with its line. */
  readonly comment: readonly [begin: string, end: string]
  /** Packages of Debian and Ubuntu. */
  readonly packages: readonly string[]
  /** Packages of libraries that people expect, by library. */
  readonly libraries?: Readonly<Record<string, string>>
  readonly tools: readonly Tool[]
  /** Its own optional variables in the worker's environment, beside its limits'. */
  readonly settings?: Readonly<Record<string, GenericSchema>>
  /** When an operator sets none, if not the usual ones. A compiler that no recipe names has them here in any case. */
  readonly limits?: Partial<Limits>
  /** With less its runtime does not come up, on two processors: bytes, processes and threads. Left out where 16 MiB and one do. */
  readonly least?: { readonly memory?: number; readonly processes?: number }
  /** Prints `Hello, world!`; people see it first. */
  readonly example: string
  /** Prints the number of bytes on its input; workers try themselves by it. */
  readonly trial: string
  /** Without a recipe: the names in the box that are the language's own. */
  readonly ownFiles?: readonly string[]
  /** Without one, a folder of src/executor/toolchain finds it. */
  readonly recipe?: Recipe
}

/** With what a language's file left out. */
export interface CompleteDefinition extends LanguageDefinition {
  readonly aliases: readonly string[]
  readonly settings: Readonly<Record<string, GenericSchema>>
  readonly limits: Limits
}
