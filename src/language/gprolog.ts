// Prolog: GNU Prolog, compiled.
import type { LanguageDefinition } from './definition.ts'

export const gprolog = {
  title: 'GNU Prolog',
  comment: ['%', ''],
  packages: ['gprolog'],
  tools: [{ program: 'gplc', pattern: /GNU Prolog\) (\d+)\.(\d+)\.\d+/mu, oldest: [1, 4] }],
  example: `:- initialization(main).

main :- write('Hello, world!'), nl.`,
  trial: `:- initialization(n(0)).
n(N) :- repeat, get_char(C), ( C == end_of_file -> g_read(n, N1), write(N1), nl ; g_inc(n), fail ), !.`,
  recipe: {
    source: 'main.pl',
    compile: { commands: [['gplc', '--no-top-level', '-o', 'main', 'main.pl']], makes: 'main' },
    run: ['./main'],
    // Sizes in KiB.
    environment: { GLOBALSZ: '262144', LOCALSZ: '131072', TRAILSZ: '131072' },
    outOfMemory: /^Fatal Error: \w+ stack overflow/mu,
  },
} as const satisfies LanguageDefinition
