// JavaScript: the Node that this service runs on.
import * as v from 'valibot'
import type { LanguageDefinition } from './definition.ts'
import { toggle } from './setting.ts'

export const javascript = {
  name: 'javascript',
  title: 'JavaScript',
  aliases: ['js', 'node', 'nodejs'],
  extensions: ['.js', '.mjs', '.cjs'],
  comment: ['//', ''],
  packages: [],
  tools: [],
  settings: {
    /** Whether each slot starts a Node before its program comes, also for TypeScript. */
    NODE_STARTS_AHEAD: v.optional(toggle, 'on'),
  },
  least: { processes: 8 },
  example: 'console.log("Hello, world!")',
  trial: 'console.log(require("fs").readFileSync(0).length)',
  ownFiles: ['main.js'],
} as const satisfies LanguageDefinition
