// The type of a program in the differential test, and how its output is freed of what differs between any two runs.
// Separate because every list of programs uses it.

/** A source, or a source and its input. */
export type Program =
  string | Uint8Array | { readonly code: string | Uint8Array; readonly stdin: string | Uint8Array }

/** Programs by the name of what they test. */
export type Programs = Readonly<Record<string, Program>>

/** Makes a program for each one-line expression, with the modules that the expressions name. */
export function printEach(imports: string, expressions: readonly string[]): Programs {
  return Object.fromEntries(
    expressions.map((expression) => [expression, `import ${imports}\nprint(ascii(${expression}))`]),
  )
}

/** Masks addresses and the identifiers of threads, which are addresses, too: they differ between any two runs. */
export function maskAddresses(text: string): string {
  return text
    .replace(/\b0x[0-9a-f]{5,16}\b/g, '0x…')
    .replace(/\b(started(?: daemon)?) \d+/g, '$1 …')
}

/** A program that prints whether it was forked: only a fork has a library of Runledger among its mappings. */
export const isForked =
  'print(any(".so" in line and " /usr/" not in line for line in open("/proc/self/maps")))'
