// What every language has to do: a program for each behaviour. A language's programs stand in a file of its own beside this one.

/** A program, or why a language cannot have it. */
export type Program = string | { readonly cannot: string }

/** A program and another file of it. */
export interface Pair {
  readonly code: string
  readonly file: { readonly name: string; readonly content: string }
}

/** The programs of one language. */
export interface Programs {
  /** Reads two whole numbers, each on a line of its own, as people read numbers in this language, and prints their sum. */
  readonly sum: Program
  /** Copies its input to its output, byte for byte: 64 KiB of lines of ASCII, of which the last one ends, too. */
  readonly copy: Program
  /** Prints the line `Grüße, 世界 🎉` of its own source, then the line that it reads, which is the same. */
  readonly unicode: Program
  /** Prints `out` to stdout, `err` to stderr and exits with 3. */
  readonly exitThree: Program
  /** Ends by an error that nobody catches, in the way that is usual in the language: what it says on stderr, and not 0. */
  readonly uncaught: { readonly code: Program; readonly says: RegExp }
  /** Is no program: the mistake stands in line 3, and the message names that line. */
  readonly broken: { readonly code: string; readonly says: RegExp }
  /** Computes for ever. */
  readonly busyLoop: Program
  /** Waits for a minute without computing, and prints nothing. */
  readonly sleeper: Program
  /** Takes memory until there is none. */
  readonly memoryBomb: Program
  /** Writes lines to stdout without end. */
  readonly outputFlood: Program
  /** Writes `kept` into a file in /tmp, reads it from there and prints it. */
  readonly scratch: Program
  /** Adds up 1 to 1000 in four threads (or what the language has in their place), and prints 500500. */
  readonly threads: Program
  /** Tries to open a TCP connection to 127.0.0.1, port 9, and prints `closed` when that fails. */
  readonly network: Program
  /**
   * Uses what people expect to have in this language beside its core: its usual library's containers, sorting, text, regular
   * expressions, mathematics. Reads lines `name number` up to the end and prints them sorted by number, then by name, each as
   * `name: number`, and at last `mean: ` and the mean of all numbers with two decimals.
   */
  readonly usual: Program
  /** Prints each of its arguments on a line of its own: what looks like an option, blanks, quotation marks, no letter at all. */
  readonly arguments: Program
  /** Prints the value of the variable `GREETING`. */
  readonly variable: Program
  /** Uses a function, a class or what the language has from another file in the same language, and prints 42. */
  readonly secondFile: Pair | { readonly cannot: string }
  /** Prints 42 if the compiler is given these words, too. Only where their place among the compiler's own matters. */
  readonly compileArguments?: { readonly words: readonly string[]; readonly code: string }
}
