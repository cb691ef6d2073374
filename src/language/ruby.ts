// Ruby: its own interpreter.
import type { LanguageDefinition } from './definition.ts'

export const ruby = {
  title: 'Ruby',
  aliases: ['rb'],
  extensions: ['.rb'],
  comment: ['#', ''],
  packages: ['ruby'],
  tools: [{ program: 'ruby', pattern: /^ruby (\d+)\.(\d+)\S*/mu, oldest: [2, 7] }],
  example: 'puts "Hello, world!"',
  trial: 'puts STDIN.read.bytesize',
  recipe: {
    source: 'main.rb',
    run: ['ruby', 'main.rb'],
    paths: ['/usr/share/rubygems-integration', '/usr/share/ruby-specifications'],
  },
} as const satisfies LanguageDefinition
