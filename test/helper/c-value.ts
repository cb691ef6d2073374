// Evaluates C expressions with the compiler, for tests of tables that repeat values of a C header.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Returns the value of each constant expression, by its text. @param headers as they follow #include, such as `<stdio.h>`. */
export function evaluateInC(
  headers: readonly string[],
  expressions: Iterable<string>,
): Record<string, number> {
  const asked = [...expressions]
  const directory = mkdtempSync(join(tmpdir(), 'runledger-test-c-'))
  const program = join(directory, 'value')
  try {
    const source = [
      ...['<stddef.h>', '<stdio.h>', ...headers].map((header) => `#include ${header}`),
      'int main(void) {',
      ...asked.map((expression) => `  printf("%lld\\n", (long long)(${expression}));`),
      '}\n',
    ].join('\n')
    const options = ['-std=c17', '-D_GNU_SOURCE', '-Wall', '-Werror', '-x', 'c', '-', '-o', program]
    execFileSync('/usr/bin/gcc', options, { input: source })
    const values = execFileSync(program, { encoding: 'utf8' }).trimEnd().split('\n').map(Number)
    return Object.fromEntries(asked.map((expression, index) => [expression, values[index] ?? NaN]))
  } finally {
    rmSync(directory, { recursive: true })
  }
}
