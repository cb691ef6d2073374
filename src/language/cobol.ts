// COBOL: GnuCOBOL.
import type { LanguageDefinition } from './definition.ts'

export const cobol = {
  title: 'COBOL',
  aliases: ['cob'],
  extensions: ['.cob', '.cbl'],
  comment: ['*>', ''],
  packages: ['gnucobol4'],
  tools: [
    {
      program: 'cobc',
      title: 'GnuCOBOL',
      pattern: /^cobc \(GnuCOBOL\) (\d+)\.(\d+)\S*/mu,
      oldest: [3, 0],
    },
  ],
  example: `identification division.
program-id. hello.
procedure division.
    display "Hello, world!".
    stop run.
`,
  trial: `identification division.
program-id. hello.
environment division.
input-output section.
file-control.
    select f assign to keyboard organization line sequential.
data division.
file section.
fd f record varying in size from 1 to 65536 depending on n.
01 r pic x(65536).
working-storage section.
01 n pic 9(6).
01 s pic 9(9) value 0.
01 o pic z(8)9.
01 e pic 9 value 0.
procedure division.
    open input f.
    perform until e = 1
      read f at end move 1 to e not at end add n to s end-read
    end-perform.
    move s to o.
    display function trim(o).
    stop run.
`,
  recipe: {
    source: 'main.cob',
    compile: {
      commands: [['cobc', '-x', '-free', '-O2', '-o', 'main', 'main.cob', '{files}']],
      makes: 'main',
      together: ['.cob', '.cbl'],
    },
    run: ['./main'],
    paths: ['/usr/include', '/usr/share/gnucobol', '/etc/gnucobol'],
  },
} as const satisfies LanguageDefinition
