// Racket: its Chez Scheme edition.
import type { LanguageDefinition } from './definition.ts'

export const racket = {
  title: 'Racket',
  aliases: ['rkt'],
  extensions: ['.rkt'],
  comment: [';', ''],
  packages: ['racket'],
  tools: [{ program: 'racket', pattern: /^Welcome to Racket v(\d+)\.(\d+)/mu, oldest: [7, 0] }],
  least: { memory: 64 * 1024 * 1024 },
  example: `#lang racket/base
(displayln "Hello, world!")`,
  trial: `#lang racket/base
(require racket/port)
(displayln (bytes-length (port->bytes (current-input-port))))`,
  recipe: {
    source: 'main.rkt',
    run: ['racket', 'main.rkt'],
    paths: ['/etc/racket', '/usr/share/racket'],
    usualStack: true,
  },
} as const satisfies LanguageDefinition
