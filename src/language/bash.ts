// Bash.
import type { LanguageDefinition } from './definition.ts'

export const bash = {
  title: 'Bash',
  aliases: ['sh', 'shell'],
  extensions: ['.sh', '.bash'],
  comment: ['#', ''],
  packages: ['bash'],
  tools: [{ program: 'bash', pattern: /^GNU bash, version (\d+)\.(\d+)\S*/mu, oldest: [4, 4] }],
  example: 'echo "Hello, world!"',
  trial: 'LC_ALL=C wc -c',
  recipe: {
    source: 'main.sh',
    run: ['bash', 'main.sh'],
  },
} as const satisfies LanguageDefinition
