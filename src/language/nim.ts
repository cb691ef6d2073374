// Nim: by way of C.
import type { LanguageDefinition } from './definition.ts'
import { slowCompile } from './limits.ts'
import { words } from './words.ts'

export const nim = {
  title: 'Nim',
  extensions: ['.nim'],
  comment: ['#', ''],
  packages: ['nim', 'gcc'],
  tools: [{ program: 'nim', pattern: /^Nim Compiler Version (\d+)\.(\d+)\.\d+/mu, oldest: [1, 2] }],
  limits: { compile: slowCompile },
  example: 'echo "Hello, world!"',
  trial: 'echo stdin.readAll().len',
  recipe: {
    source: 'main.nim',
    compile: {
      commands: [
        words(`nim compile --hints:off --nimcache:/tmp/nim -d:release --threads:on -o:main
          {arguments} main.nim`),
      ],
      makes: 'main',
    },
    run: ['./main'],
    paths: ['/etc/nim', '/usr/include'],
  },
} as const satisfies LanguageDefinition
