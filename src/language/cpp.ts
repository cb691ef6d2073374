// C++: GCC.
import type { LanguageDefinition } from './definition.ts'
import { usualCompile, usualRun } from './limits.ts'

export const cpp = {
  name: 'cpp',
  aliases: ['c++', 'cxx'],
  extensions: ['.cpp', '.cc', '.cxx'],
  lineComment: '//',
  limits: { compile: usualCompile, run: usualRun },
  trial: `#include <cstdio>
int main() { long n = 0; while (getchar() != EOF) n++; printf("%ld\\n", n); }`,
} as const satisfies LanguageDefinition
