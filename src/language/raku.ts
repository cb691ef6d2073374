// Raku: Rakudo.
import type { LanguageDefinition } from './definition.ts'

export const raku = {
  title: 'Raku',
  aliases: ['perl6'],
  extensions: ['.raku'],
  comment: ['#', ''],
  packages: ['rakudo'],
  tools: [{ program: 'rakudo', title: 'Rakudo', pattern: /v(\d+)\.(\d+)/mu, oldest: [2020, 0] }],
  example: 'say "Hello, world!";',
  trial: 'say $*IN.slurp(:bin).bytes;',
  recipe: {
    source: 'main.raku',
    run: ['rakudo', 'main.raku'],
    environment: { RAKUDO_ERROR_COLOR: '0' },
    paths: ['/usr/share/perl6', '/usr/share/nqp'],
    usualStack: true,
  },
} as const satisfies LanguageDefinition
