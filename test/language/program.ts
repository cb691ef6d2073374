// The programs that every language must have, one for each behaviour. Each language's programs are in their own file in
// this folder.

/**
 * The source of several behaviours, for a compiler that takes seconds: it is compiled once, and does what the variable
 * BEHAVIOUR names.
 */
export interface Shared {
  readonly shared: string
}

/** A program, or why a language cannot have it. */
export type Program = string | Shared | { readonly cannot: string }

/** A program and another file of it. */
export interface Pair {
  readonly code: string
  readonly file: { readonly name: string; readonly content: string }
}

/** The programs of one language. */
export interface Programs {
  /** Reads two whole numbers, each on a line of its own, as people read numbers in this language, and prints their sum. */
  readonly sum: Program
  /** Copies its input to its output, byte for byte: 64 KiB of lines of ASCII. The last line ends with a newline, too. */
  readonly copy: Program
  /** Prints the line `Grüße, 世界 🎉` of its own source, then the line that it reads, which is the same. */
  readonly unicode: Program
  /** Prints `out` to stdout, `err` to stderr and exits with 3. */
  readonly exitThree: Program
  /**
   * Ends with an error that the program does not catch, as is usual in the language: with a message on stderr and a status
   * other than 0.
   */
  readonly uncaught: { readonly code: Program; readonly says: RegExp }
  /** Is not a valid program: the mistake is in line 3, and the message names that line. */
  readonly broken: { readonly code: string; readonly says: RegExp }
  /** Computes forever. */
  readonly busyLoop: Program
  /** Waits for a minute without computing, and prints nothing. */
  readonly sleeper: Program
  /** Allocates memory until none is left. */
  readonly memoryBomb: Program
  /** Writes lines to stdout without end. */
  readonly outputFlood: Program
  /** Writes `kept` into a file in /tmp, reads it from there and prints it. */
  readonly scratch: Program
  /** Adds up 1 to 1000 in four threads (or in what the language has instead), and prints 500500. */
  readonly threads: Program
  /** Tries to open a TCP connection to 127.0.0.1, port 9, and prints `closed` when that fails. */
  readonly network: Program
  /**
   * Uses what people expect to have in this language beside its core: the usual library's containers, sorting, text,
   * regular expressions, mathematics. Reads lines `name number` to the end and prints them sorted by number, then by name,
   * each as `name: number`. The last line is `mean: ` and the mean of all numbers with two decimals.
   */
  readonly usual: Program
  /** Prints each argument on a line of its own: an apparent option, blanks, quotation marks, an empty word. */
  readonly arguments: Program
  /** Prints the value of the variable `GREETING`. */
  readonly variable: Program
  /** Uses a function, a class or the like from another file in the same language, and prints 42. */
  readonly secondFile: Pair | { readonly cannot: string }
  /**
   * Prints 42 if the compiler also gets these words. Only for languages where their position among the compiler's own words
   * matters.
   */
  readonly compileArguments?: { readonly words: readonly string[]; readonly code: string }
}
