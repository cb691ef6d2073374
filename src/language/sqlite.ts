// SQLite: its shell, on an empty database.
import type { LanguageDefinition } from './definition.ts'

export const sqlite = {
  title: 'SQLite',
  aliases: ['sql', 'sqlite3'],
  extensions: ['.sql'],
  comment: ['--', ''],
  packages: ['sqlite3'],
  tools: [{ program: 'sqlite3', pattern: /^(\d+)\.(\d+)\.\d+/mu, oldest: [3, 31] }],
  example: `select 'Hello, world!';`,
  trial: `select length(readfile('/dev/stdin'));`,
  recipe: {
    source: 'main.sql',
    run: ['sqlite3', '-bail', '-init', '/dev/null', 'database', '.read main.sql'],
  },
} as const satisfies LanguageDefinition
