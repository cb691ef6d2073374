// Python: CPython, without a compiler.
import type { LanguageDefinition } from './definition.ts'

export const python = {
  title: 'Python',
  aliases: ['py'],
  extensions: ['.py'],
  comment: ['#', ''],
  packages: ['python3'],
  libraries: { numpy: 'python3-numpy', scipy: 'python3-scipy', pandas: 'python3-pandas' },
  tools: [{ program: 'python3', pattern: /^Python (\d+)\.(\d+)\.\S+/mu, oldest: [3, 6] }],
  example: 'print("Hello, world!")',
  trial: 'import sys\nprint(len(sys.stdin.read()))',
  ownFiles: ['main.py'],
} as const satisfies LanguageDefinition
