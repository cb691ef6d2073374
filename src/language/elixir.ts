// Elixir: a script.
import type { LanguageDefinition } from './definition.ts'

export const elixir = {
  title: 'Elixir',
  aliases: ['exs'],
  extensions: ['.ex', '.exs'],
  comment: ['#', ''],
  packages: ['elixir'],
  tools: [{ program: 'elixir', pattern: /^Elixir (\d+)\.(\d+)\.\d+/mu, oldest: [1, 10] }],
  least: { memory: 32 * 1024 * 1024, processes: 24 },
  example: 'IO.puts("Hello, world!")',
  trial: 'IO.puts(byte_size(IO.binread(:stdio, :eof)))',
  recipe: {
    source: 'main.exs',
    run: ['elixir', 'main.exs'],
    environment: {
      ERL_CRASH_DUMP_BYTES: '0',
      // Sends the runtime's reports to stderr, because they are not the program's output.
      ERL_AFLAGS: '-logger console [{device,standard_error}]',
    },
    usualStack: true,
  },
} as const satisfies LanguageDefinition
