// R: Rscript.
import type { LanguageDefinition } from './definition.ts'
import { usualRun } from './limits.ts'

export const r = {
  name: 'r',
  title: 'R',
  aliases: [],
  extensions: ['.r', '.R'],
  comment: ['#', ''],
  packages: ['r-base-core'],
  tools: [
    {
      program: 'Rscript',
      ask: ['--version'],
      pattern: /version (\d+)\.(\d+)\.\d+/mu,
      oldest: [3, 6],
    },
  ],
  settings: {},
  limits: { compile: null, run: usualRun },
  example: String.raw`cat("Hello, world!\n")`,
  trial: String.raw`cat(length(readBin(file("stdin", "rb"), "raw", 1e8)), "\n", sep = "")`,
  recipe: {
    source: 'main.R',
    compile: null,
    run: ['Rscript', 'main.R'],
    paths: ['/etc/R/Renviron', '/etc/R/ldpaths', '/usr/share/R'],
    outOfMemory: /cannot allocate (vector|memory)/u,
  },
} as const satisfies LanguageDefinition
