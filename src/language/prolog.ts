// Prolog: SWI-Prolog.
import type { LanguageDefinition } from './definition.ts'

export const prolog = {
  title: 'Prolog',
  aliases: ['swipl'],
  extensions: ['.pro', '.prolog'],
  comment: ['%', ''],
  packages: ['swi-prolog-nox'],
  tools: [
    {
      program: 'swipl',
      title: 'SWI-Prolog',
      pattern: /^SWI-Prolog version (\d+)\.(\d+)\.\d+/mu,
      oldest: [8, 0],
    },
  ],
  example: `:- initialization(main).

main :- format('Hello, world!~n').`,
  trial: `:- use_module(library(readutil)).
:- initialization((read_stream_to_codes(user_input, C), length(C, N), format('~d~n', [N]))).`,
  recipe: {
    source: 'main.pl',
    run: ['swipl', '-g', 'true', '-t', 'halt', '--on-error=halt', 'main.pl', '--'],
    usualStack: true,
  },
} as const satisfies LanguageDefinition
