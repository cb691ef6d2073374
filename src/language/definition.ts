// The definition of a language: its names, tools, commands, limits and examples.
import type { Limits } from './limits.ts'

/** A program that a language needs. */
export interface Tool {
  /** The file name of the program. */
  readonly program: string
  /** The name of the tool for people; by default the language's title. */
  readonly title?: string
  /** The options that make the program print its version; `--version` by default. */
  readonly ask?: readonly string[]
  /** The stdin of the program when it is asked for its version. */
  readonly input?: string
  /**
   * Matches the version in the output, from the major version (first group) to the end of the match. An optional second group
   * is the minor version. With an empty group `()` the program prints none.
   */
  readonly pattern: RegExp
  /** The oldest supported version, major and minor. */
  readonly oldest: readonly [number, number]
}

/**
 * A language's commands, as a person types them. The first word is a program of the host or a file in the box (`./main`).
 * `{heap}` becomes three quarters of the memory limit, in MiB. In the first compile command `{arguments}` becomes the
 * submission's arguments; without it they come last. `{files}` becomes the other source files; without it they come before the
 * main one.
 */
export interface Recipe {
  /** The file name of the source. */
  readonly source: string
  /** The compilation, which makes one file that is kept and run. Without it the source itself is run. */
  readonly compile?: {
    /** The commands, run in order until one fails. */
    readonly commands: readonly (readonly string[])[]
    readonly makes: string
    /**
     * File name endings of the other files that the compiler gets as arguments. Without it the compiler itself finds the files
     * that the main one names.
     */
    readonly together?: readonly string[]
  }
  readonly run: readonly string[]
  /** The commands that people see, where the real ones are scripts. */
  readonly typed?: { readonly compile?: readonly string[]; readonly run?: readonly string[] }
  /** Environment variables of both phases. */
  readonly environment?: Readonly<Record<string, string>>
  /** Host paths that both phases read, beside programs and libraries; `*` matches any version, missing paths are skipped. */
  readonly paths?: readonly string[]
  /**
   * For a language on Java's JDK, whose heap size the executor sets: the JVM for which a worker prepares a class archive from
   * the example. It is the first one that the compiler's script starts with JAVA_OPTS, or that of the run.
   */
  readonly archives?: 'compile' | 'run'
  /** True when the runtime sizes its own stacks; it then gets the usual stack limit instead of none. */
  readonly usualStack?: true
  /** A match on stderr means that the runtime ran out of memory below the kernel's limit. */
  readonly outOfMemory?: RegExp
}

/** A language as pure data, without information about a host. Its canonical name is that of its export in all.ts. */
export interface LanguageDefinition {
  /** The name for people. */
  readonly title: string
  /** Other names that people type. */
  readonly aliases?: readonly string[]
  /** File name extensions of sources, dot included. */
  readonly extensions?: readonly string[]
  /** Begin and end of a comment; with an empty `end` the comment ends with its line. */
  readonly comment: readonly [begin: string, end: string]
  /** Packages of Debian and Ubuntu. */
  readonly packages: readonly string[]
  /** Packages of libraries that people expect, by the library's name. */
  readonly libraries?: Readonly<Record<string, string>>
  readonly tools: readonly Tool[]
  /**
   * Default limits that differ from the usual ones. A language with a compiler but without a recipe must have its compile
   * limits here.
   */
  readonly limits?: Partial<Limits>
  /**
   * The least limits with which the runtime starts on two processors: memory in bytes, number of processes and threads. Left
   * out where 16 MiB and one process suffice.
   */
  readonly least?: { readonly memory?: number; readonly processes?: number }
  /** The program that people see first; it prints `Hello, world!`. */
  readonly example: string
  /** The program of a worker's trial; it prints the number of bytes on its input. */
  readonly trial: string
  /** For a language without a recipe: the file names in the box that a submission's other files cannot have. */
  readonly ownFiles?: readonly string[]
  /** Without a recipe a folder in src/executor/toolchain finds the language. */
  readonly recipe?: Recipe
}
