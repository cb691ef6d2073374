// Lua: its own interpreter.
import type { LanguageDefinition } from './definition.ts'

export const lua = {
  title: 'Lua',
  extensions: ['.lua'],
  comment: ['--', ''],
  packages: ['lua5.4'],
  tools: [{ program: 'lua5.4', ask: ['-v'], pattern: /^Lua (\d+)\.(\d+)\.\d+/mu, oldest: [5, 4] }],
  example: 'print("Hello, world!")',
  trial: 'print(#io.read("a"))',
  recipe: {
    source: 'main.lua',
    run: ['lua5.4', 'main.lua'],
  },
} as const satisfies LanguageDefinition
