// Crystal: its own compiler.
import type { LanguageDefinition } from './definition.ts'
import { slowCompile } from './limits.ts'

export const crystal = {
  title: 'Crystal',
  aliases: ['cr'],
  extensions: ['.cr'],
  comment: ['#', ''],
  packages: ['crystal', 'gcc'],
  tools: [{ program: 'crystal', pattern: /^Crystal (\d+)\.(\d+)\.\d+/mu, oldest: [1, 0] }],
  limits: { compile: slowCompile },
  example: 'puts "Hello, world!"',
  trial: 'puts STDIN.gets_to_end.bytesize',
  recipe: {
    source: 'main.cr',
    compile: {
      commands: [['crystal', 'build', '--no-color', '-o', 'main', 'main.cr']],
      makes: 'main',
    },
    run: ['./main'],
    // Otherwise the garbage collector looks for processors in /proc and prints a warning.
    environment: { CRYSTAL_CACHE_DIR: '/tmp/crystal', GC_NPROCS: '1' },
    paths: ['/usr/share/crystal'],
  },
} as const satisfies LanguageDefinition
