// C: GCC.
import type { LanguageDefinition } from './definition.ts'

export const c = {
  title: 'C',
  extensions: ['.c'],
  comment: ['//', ''],
  packages: ['gcc'],
  tools: [
    { program: 'gcc', title: 'GCC', pattern: /^gcc .*\s(\d+)\.(\d+)\.\d+/mu, oldest: [10, 0] },
  ],
  example: `#include <stdio.h>

int main(void) {
  puts("Hello, world!");
}`,
  trial: String.raw`#include <stdio.h>
int main(void) { long n = 0; while (getchar() != EOF) n++; printf("%ld\n", n); }`,
  recipe: {
    source: 'main.c',
    compile: {
      commands: [['gcc', '-O2', '-std=gnu17', '-pipe', '-o', 'main', 'main.c', '-lm']],
      makes: 'main',
      together: ['.c'],
    },
    run: ['./main'],
    paths: ['/usr/include'],
  },
} as const satisfies LanguageDefinition
