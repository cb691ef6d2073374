// Pike.
import type { LanguageDefinition } from './definition.ts'

export const pike = {
  title: 'Pike',
  extensions: ['.pike'],
  comment: ['//', ''],
  packages: ['pike8.0-core'],
  tools: [{ program: 'pike8.0', pattern: /^Pike v(\d+)\.(\d+) release \d+/mu, oldest: [8, 0] }],
  example: String.raw`int main() {
  write("Hello, world!\n");
}`,
  trial: String.raw`int main() { write("%d\n", sizeof(Stdio.stdin->read())); }`,
  recipe: {
    source: 'main.pike',
    run: ['pike8.0', 'main.pike'],
    usualStack: true,
  },
} as const satisfies LanguageDefinition
