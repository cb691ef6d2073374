// Scheme: CHICKEN, compiled by way of C.
import type { LanguageDefinition } from './definition.ts'

export const chicken = {
  title: 'Scheme (CHICKEN)',
  comment: [';', ''],
  packages: ['chicken-bin', 'gcc'],
  tools: [
    {
      program: 'csc',
      title: 'CHICKEN',
      ask: ['-version'],
      pattern: /^Version (\d+)\.(\d+)\.\d+/mu,
      oldest: [5, 0],
    },
  ],
  example: '(print "Hello, world!")',
  trial:
    '(import (chicken io)) (print (string-length (let ((s (read-string))) (if (eof-object? s) "" s))))',
  recipe: {
    source: 'main.scm',
    compile: { commands: [['csc', '-O2', '-o', 'main', 'main.scm']], makes: 'main' },
    run: ['./main'],
    paths: ['/usr/include', '/var/lib/chicken'],
    usualStack: true,
  },
} as const satisfies LanguageDefinition
