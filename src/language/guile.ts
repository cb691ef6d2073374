// Scheme: Guile, compiled to its virtual machine's code.
import type { LanguageDefinition } from './definition.ts'

export const guile = {
  title: 'Scheme (Guile)',
  comment: [';', ''],
  packages: ['guile-3.0'],
  tools: [
    {
      program: 'guile',
      title: 'Guile',
      pattern: /^guile \(GNU Guile\) (\d+)\.(\d+)\.\d+/mu,
      oldest: [3, 0],
    },
  ],
  example: `(display "Hello, world!")
(newline)`,
  trial: `(use-modules (ice-9 binary-ports) (rnrs bytevectors))
(let ((b (get-bytevector-all (current-input-port)))) (display (if (eof-object? b) 0 (bytevector-length b))) (newline))`,
  recipe: {
    source: 'main.scm',
    compile: {
      commands: [
        [
          'guile',
          '--no-auto-compile',
          '-c',
          '((@ (system base compile) compile-file) "main.scm" #:output-file "main.go")',
        ],
      ],
      makes: 'main.go',
    },
    run: ['guile', '--no-auto-compile', '-c', '(load-compiled "main.go")'],
    // Otherwise the garbage collector reads /proc/stat and prints a warning.
    environment: {
      GC_NPROCS: '1',
      // Guile's own modules, then those beside the program.
      GUILE_LOAD_PATH: '...:.',
    },
    paths: ['/usr/share/guile'],
    usualStack: true,
  },
} as const satisfies LanguageDefinition
