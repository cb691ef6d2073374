// Tcl: tclsh.
import type { LanguageDefinition } from './definition.ts'

export const tcl = {
  title: 'Tcl',
  extensions: ['.tcl'],
  comment: ['#', ''],
  packages: ['tcl'],
  tools: [
    {
      program: 'tclsh',
      ask: [],
      input: 'puts [info patchlevel]',
      pattern: /^(\d+)\.(\d+)\.\d+/mu,
      oldest: [8, 6],
    },
  ],
  example: 'puts "Hello, world!"',
  trial: 'fconfigure stdin -translation binary; puts [string length [read stdin]]',
  recipe: {
    source: 'main.tcl',
    run: ['tclsh', 'main.tcl'],
    paths: ['/usr/share/tcltk'],
  },
} as const satisfies LanguageDefinition
