// Scheme: Chez Scheme.
import type { LanguageDefinition } from './definition.ts'

export const scheme = {
  title: 'Scheme',
  aliases: ['scm', 'chez'],
  extensions: ['.ss', '.scm'],
  comment: [';', ''],
  packages: ['chezscheme'],
  tools: [
    { program: 'chezscheme', title: 'Chez Scheme', pattern: /^(\d+)\.(\d+)\S*/mu, oldest: [9, 5] },
  ],
  example: `(display "Hello, world!")
(newline)`,
  trial: `(define in (standard-input-port))
(let loop ((n 0)) (if (eof-object? (get-u8 in)) (begin (display n) (newline)) (loop (+ n 1))))`,
  recipe: {
    source: 'main.ss',
    run: ['chezscheme', '--script', 'main.ss'],
    usualStack: true,
  },
} as const satisfies LanguageDefinition
