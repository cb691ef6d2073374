// Python: CPython, without a compiler.
import type { LanguageDefinition } from './definition.ts'
import { usualRun } from './limits.ts'

export const python = {
  name: 'python',
  aliases: ['py'],
  extensions: ['.py'],
  lineComment: '#',
  packages: ['python3'],
  tools: [
    {
      program: 'python3',
      ask: ['--version'],
      pattern: /^Python (\d+)\.(\d+)\.\S+/mu,
      oldest: [3, 6],
    },
  ],
  settings: {},
  limits: { compile: null, run: usualRun },
  trial: 'import sys\nprint(len(sys.stdin.read()))',
} as const satisfies LanguageDefinition
