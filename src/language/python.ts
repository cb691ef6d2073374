// Python: CPython, without a compiler.
import type { LanguageDefinition } from './definition.ts'
import { usualRun } from './limits.ts'

export const python = {
  name: 'python',
  aliases: ['py'],
  extensions: ['.py'],
  lineComment: '#',
  limits: { compile: null, run: usualRun },
  trial: 'import sys\nprint(len(sys.stdin.read()))',
} as const satisfies LanguageDefinition
