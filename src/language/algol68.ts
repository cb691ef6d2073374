// Algol 68: Algol 68 Genie, an interpreter that checks the program first.
import type { LanguageDefinition } from './definition.ts'

export const algol68 = {
  title: 'Algol 68',
  aliases: ['a68'],
  extensions: ['.a68'],
  comment: ['#', '#'],
  packages: ['algol68g'],
  tools: [
    {
      program: 'a68g',
      title: 'Algol 68 Genie',
      pattern: /^Algol 68 Genie (\d+)\.(\d+)\.\d+/mu,
      oldest: [2, 8],
    },
  ],
  least: { memory: 24 * 1024 * 1024 },
  example: 'print (("Hello, world!", new line))',
  trial:
    'BEGIN INT n := 0; BOOL more := TRUE; on logical file end (stand in, (REF FILE f) BOOL: (more := FALSE; TRUE)); CHAR c; WHILE get (stand in, c); more DO (c = "x" | n +:= 1) OD; print ((whole (n, 0), new line)) END',
  recipe: {
    source: 'main.a68',
    // The compile phase only checks, because a68g prints messages to stdout, which at run time is for the program only.
    compile: { commands: [['a68g', '--check', 'main.a68']], makes: 'main.a68' },
    run: ['a68g', '--quiet', 'main.a68', '--'],
  },
} as const satisfies LanguageDefinition
