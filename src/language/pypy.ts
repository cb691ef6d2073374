// Python: PyPy.
import type { LanguageDefinition } from './definition.ts'

export const pypy = {
  title: 'Python (PyPy)',
  aliases: ['pypy3'],
  comment: ['#', ''],
  packages: ['pypy3'],
  tools: [
    { program: 'pypy3', title: 'PyPy', pattern: /\[PyPy (\d+)\.(\d+)\.\d+/mu, oldest: [7, 3] },
  ],
  example: 'print("Hello, world!")',
  trial: `import sys
print(len(sys.stdin.buffer.read()))`,
  recipe: {
    source: 'main.py',
    run: ['pypy3', 'main.py'],
    // Otherwise PyPy looks for the size of the processor's cache in /proc and prints a warning.
    environment: { PYPY_GC_NURSERY: '4M' },
  },
} as const satisfies LanguageDefinition
