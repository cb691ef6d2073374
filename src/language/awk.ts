// AWK: GNU awk.
import type { LanguageDefinition } from './definition.ts'

export const awk = {
  title: 'AWK',
  aliases: ['gawk'],
  extensions: ['.awk'],
  comment: ['#', ''],
  packages: ['gawk'],
  tools: [
    { program: 'gawk', title: 'GNU Awk', pattern: /^GNU Awk (\d+)\.(\d+)\.\d+/mu, oldest: [5, 0] },
  ],
  example: 'BEGIN { print "Hello, world!" }',
  trial: 'BEGIN { RS = "^$"; getline text; print length(text) }',
  recipe: {
    source: 'main.awk',
    run: ['gawk', '-f', 'main.awk', '--'],
    paths: ['/usr/share/awk'],
  },
} as const satisfies LanguageDefinition
