// Lua: LuaJIT.
import type { LanguageDefinition } from './definition.ts'

export const luajit = {
  title: 'LuaJIT',
  comment: ['--', ''],
  packages: ['luajit'],
  tools: [{ program: 'luajit', ask: ['-v'], pattern: /^LuaJIT (\d+)\.(\d+)\S*/mu, oldest: [2, 1] }],
  example: 'print("Hello, world!")',
  trial: 'print(#io.read("*a"))',
  recipe: {
    source: 'main.lua',
    run: ['luajit', 'main.lua'],
    paths: ['/usr/share/luajit*'],
    outOfMemory: /not enough memory/u,
  },
} as const satisfies LanguageDefinition
