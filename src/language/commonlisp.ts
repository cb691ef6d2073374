// Common Lisp: SBCL.
import type { LanguageDefinition } from './definition.ts'
import { words } from './words.ts'

export const commonlisp = {
  title: 'Common Lisp',
  aliases: ['lisp', 'cl', 'sbcl'],
  extensions: ['.lisp', '.cl'],
  comment: [';', ''],
  packages: ['sbcl'],
  tools: [{ program: 'sbcl', title: 'SBCL', pattern: /^SBCL (\d+)\.(\d+)\S*/mu, oldest: [2, 0] }],
  least: { memory: 32 * 1024 * 1024, processes: 2 },
  example: '(format t "Hello, world!~%")',
  trial: '(format t "~d~%" (loop while (read-char *standard-input* nil) count t))',
  recipe: {
    source: 'main.lisp',
    // Not the runtime's --script, because with it a full stack is fatal instead of an error that the program can handle.
    run: words(`sbcl --dynamic-space-size {heap}MB --noinform --disable-ldb --end-runtime-options
      --script main.lisp`),
    usualStack: true,
    outOfMemory: /Heap exhausted/u,
  },
} as const satisfies LanguageDefinition
