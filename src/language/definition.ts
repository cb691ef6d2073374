// What a language says of itself.
import type { GenericSchema } from 'valibot'
import type { Limits } from './limits.ts'

/** A program that a language cannot do without. */
export interface Tool {
  /** Its file's name. */
  readonly program: string
  /** What people call it; the language's title if nothing else. */
  readonly title?: string
  /** The options by which it tells its version. */
  readonly ask: readonly string[]
  /** What it reads meanwhile, if it tells no other way. */
  readonly input?: string
  /** What it tells; its version begins with the first group, major, and perhaps the second, minor, and goes to the end. */
  readonly pattern: RegExp
  /** The oldest that will do, major and minor. */
  readonly oldest: readonly [number, number]
}

/**
 * How programs are compiled and run, in the words of a person who types it. A command's first word is a program of the host, or
 * a file of the box (`./main`). `{heap}` is three quarters of the memory limit, in MiB, for a runtime that has to be told. A submission's own arguments for the
 * compiler come last in the first of its commands, or where `{arguments}` stands.
 */
export interface Recipe {
  /** What the source is called. */
  readonly source: string
  /** Makes one file, which is what is kept and run; null: the run reads the source. */
  readonly compile: {
    /** One after the other, each if the one before succeeded. */
    readonly commands: readonly (readonly string[])[]
    readonly makes: string
    /** The compiler is told of the program's other source files, too; else it finds what the main one names. */
    readonly together?: true
  } | null
  readonly run: readonly string[]
  /** What a person would type in their place, where they are a script. */
  readonly typed?: { readonly compile?: readonly string[]; readonly run?: readonly string[] }
  /** Variables, for both. */
  readonly environment?: Readonly<Record<string, string>>
  /** Of the host, what both read beside programs and libraries; `*` stands for any version, and what is not there is left out. */
  readonly paths?: readonly string[]
  /** `java` and what starts it are of the JDK that Java has; `{heap}` is then told by us. */
  readonly runsOnJdk?: true
  /** A runtime that allots its own stacks wants the usual limit; else there is none. */
  readonly usualStack?: true
  /** On stderr it says that the runtime ran out of memory below the kernel's limit. */
  readonly outOfMemory?: RegExp
}

/** One language: data, nothing that looks at a host. */
export interface LanguageDefinition {
  /** Its canonical name: in the log, in records, and in capitals before its limits' variables. */
  readonly name: string
  /** What people call it. */
  readonly title: string
  /** Other names that people type for it. */
  readonly aliases: readonly string[]
  /** How the names of its source files end, the dot included. */
  readonly extensions: readonly string[]
  /** What a comment stands between; one that ends with its line has no end of its own. */
  readonly comment: readonly [begin: string, end: string]
  /** The packages of Debian and Ubuntu that it comes in. */
  readonly packages: readonly string[]
  /** Libraries that people expect and that are installed by name alone: their packages. */
  readonly libraries?: Readonly<Record<string, string>>
  /** What must be installed. */
  readonly tools: readonly Tool[]
  /** Variables of its own in the worker's environment, beside those of its limits; each may be left out. */
  readonly settings: Readonly<Record<string, GenericSchema>>
  /** The limits that hold when an operator sets none. */
  readonly limits: Limits
  /** Prints `Hello, world!`: what people see first of it. */
  readonly example: string
  /** A program that prints how many bytes stand on its input: one that a worker tries itself by. */
  readonly trial: string
  /** Without a recipe: what the files are called in the box that are the language's own, whatever the program. */
  readonly ownFiles?: readonly string[]
  /** Without one, a folder of src/executor/toolchain knows how. */
  readonly recipe?: Recipe
}
