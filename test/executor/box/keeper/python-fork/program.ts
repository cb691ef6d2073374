// What a program of the differential test is, and how its text is told from what may differ between any two runs.
// Separate because every list of programs is written in these terms.

/** A source; alone when it reads no input. */
export type Program =
  string | Uint8Array | { readonly code: string | Uint8Array; readonly stdin: string | Uint8Array }

/** Programs by what they look at. */
export type Programs = Readonly<Record<string, Program>>

/** A program each for expressions of one line, with the modules that they name. */
export function printEach(imports: string, expressions: readonly string[]): Programs {
  return Object.fromEntries(
    expressions.map((expression) => [expression, `import ${imports}\nprint(ascii(${expression}))`]),
  )
}

/** Addresses, and what threads are called, which is an address too, are different in any two runs. */
export function maskAddresses(text: string): string {
  return text
    .replace(/\b0x[0-9a-f]{5,16}\b/g, '0x…')
    .replace(/\b(started(?: daemon)?) \d+/g, '$1 …')
}

/** A program that prints whether it was forked: only then has it a library of ours among its mappings. */
export const isForked =
  'print(any(".so" in line and " /usr/" not in line for line in open("/proc/self/maps")))'
