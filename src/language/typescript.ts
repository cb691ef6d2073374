// TypeScript: the compiler of the npm package, whose type errors are compile errors, and the Node that this service runs on.
import type { LanguageDefinition } from './definition.ts'
import { usualCompile } from './limits.ts'

export const typescript = {
  title: 'TypeScript',
  aliases: ['ts'],
  extensions: ['.ts', '.mts', '.cts'],
  comment: ['//', ''],
  packages: [],
  tools: [],
  limits: { compile: usualCompile },
  least: { processes: 8 },
  example: `const name: string = 'world'
console.log('Hello, ' + name + '!')`,
  trial: `import { readFileSync } from 'node:fs'
console.log(readFileSync(0).length)`,
  ownFiles: ['main.ts', 'main.js', 'out'],
} as const satisfies LanguageDefinition
