// Octave.
import type { LanguageDefinition } from './definition.ts'

export const octave = {
  title: 'Octave',
  aliases: ['matlab'],
  extensions: ['.m'],
  comment: ['%', ''],
  packages: ['octave'],
  tools: [
    { program: 'octave-cli', pattern: /^GNU Octave, version (\d+)\.(\d+)\.\d+/mu, oldest: [5, 0] },
  ],
  least: { memory: 24 * 1024 * 1024, processes: 2 },
  example: 'disp("Hello, world!")',
  trial: 'disp(numel(fread(stdin)))',
  recipe: {
    // Not main.m, because Octave would take the first function of that file for the function main. Messages therefore do not
    // say where a mistake is.
    source: 'main',
    // Octave accepts arguments only after a script's file.
    run: [
      '/bin/sh',
      '-c',
      `echo "warning('off', 'Octave:function-name-clash'); __parse_file__('/box/main'); source('main')" > /tmp/start
exec octave-cli --no-gui --no-history --norc --quiet /tmp/start "$@"`,
      'sh',
    ],
    typed: { run: ['octave-cli', '--quiet', 'main.m'] },
    environment: { OMP_NUM_THREADS: '1', OPENBLAS_NUM_THREADS: '1' },
    paths: ['/usr/share/octave', '/etc/octave.conf'],
    usualStack: true,
    outOfMemory: /out of memory/u,
  },
} as const satisfies LanguageDefinition
