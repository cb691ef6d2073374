// C: Clang.
import { c } from './c.ts'
import type { LanguageDefinition } from './definition.ts'

export const clang = {
  title: 'C (Clang)',
  aliases: ['c-clang'],
  comment: ['//', ''],
  packages: ['clang'],
  tools: [
    {
      program: 'clang',
      title: 'Clang',
      pattern: /clang version (\d+)\.(\d+)\.\d+/mu,
      oldest: [11, 0],
    },
  ],
  example: c.example,
  trial: c.trial,
  recipe: {
    source: 'main.c',
    compile: {
      commands: [['clang', '-O2', '-std=gnu17', '-o', 'main', 'main.c', '-lm']],
      makes: 'main',
      together: ['.c'],
    },
    run: ['./main'],
    paths: ['/usr/include'],
  },
} as const satisfies LanguageDefinition
