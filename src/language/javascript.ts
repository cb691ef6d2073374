// JavaScript: the Node that this service runs on.
import type { LanguageDefinition } from './definition.ts'

export const javascript = {
  title: 'JavaScript',
  aliases: ['js', 'node', 'nodejs'],
  extensions: ['.js', '.mjs', '.cjs'],
  comment: ['//', ''],
  packages: [],
  tools: [],
  least: { processes: 8 },
  example: 'console.log("Hello, world!")',
  trial: 'console.log(require("fs").readFileSync(0).length)',
  ownFiles: ['main.js'],
} as const satisfies LanguageDefinition
