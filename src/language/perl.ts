// Perl: its own interpreter.
import type { LanguageDefinition } from './definition.ts'

export const perl = {
  title: 'Perl',
  aliases: ['pl'],
  extensions: ['.pl'],
  comment: ['#', ''],
  packages: ['perl'],
  tools: [{ program: 'perl', pattern: /\(v(\d+)\.(\d+)\.\d+/mu, oldest: [5, 26] }],
  example: String.raw`print "Hello, world!\n";`,
  trial: String.raw`local $/; my $text = <STDIN> // ""; print length($text), "\n";`,
  recipe: {
    source: 'main.pl',
    run: ['perl', 'main.pl'],
    paths: ['/usr/share/perl', '/usr/share/perl5', '/etc/perl'],
  },
} as const satisfies LanguageDefinition
