// Zsh.
import type { LanguageDefinition } from './definition.ts'

export const zsh = {
  title: 'Zsh',
  extensions: ['.zsh'],
  comment: ['#', ''],
  packages: ['zsh'],
  tools: [{ program: 'zsh', pattern: /^zsh (\d+)\.(\d+)\S*/mu, oldest: [5, 8] }],
  example: 'print "Hello, world!"',
  trial: 'LC_ALL=C wc -c',
  recipe: {
    source: 'main.zsh',
    run: ['zsh', 'main.zsh'],
    paths: ['/usr/share/zsh'],
  },
} as const satisfies LanguageDefinition
