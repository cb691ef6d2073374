// Forth: Gforth.
import type { LanguageDefinition } from './definition.ts'

export const forth = {
  title: 'Forth',
  aliases: ['gforth'],
  extensions: ['.fs', '.fth'],
  comment: ['\\', ''],
  packages: ['gforth'],
  tools: [
    { program: 'gforth', title: 'Gforth', pattern: /^gforth (\d+)\.(\d+)\.\d+/mu, oldest: [0, 7] },
  ],
  example: '." Hello, world!" cr',
  trial:
    'variable n : main begin stdin key-file 0< 0= while 1 n +! repeat ; here 65536 allot constant b : go begin b 65536 stdin read-file throw dup while n +! repeat drop n @ 0 .r cr ; go',
  recipe: {
    source: 'main.fs',
    // The default stacks and dictionary are small.
    run: [
      'gforth',
      '--dictionary-size',
      '{heap}M',
      '--data-stack-size',
      '16M',
      '--return-stack-size',
      '16M',
      '--fp-stack-size',
      '4M',
      '--locals-stack-size',
      '16M',
      '-e',
      'include main.fs bye',
    ],
    paths: ['/usr/share/gforth'],
  },
} as const satisfies LanguageDefinition
