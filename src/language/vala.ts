// Vala: by way of C.
import type { LanguageDefinition } from './definition.ts'

export const vala = {
  name: 'vala',
  title: 'Vala',
  extensions: ['.vala'],
  comment: ['//', ''],
  packages: ['valac', 'gcc', 'libglib2.0-dev'],
  tools: [
    { program: 'valac', ask: ['--version'], pattern: /^Vala (\d+)\.(\d+)\.\d+/mu, oldest: [0, 40] },
  ],
  example: String.raw`void main () {
  print ("Hello, world!\n");
}`,
  trial: String.raw`void main () { int n = 0; while (stdin.getc () != FileStream.EOF) n++; print ("%d\n", n); }`,
  recipe: {
    source: 'main.vala',
    // The C compiler warns about code it makes of good programs.
    compile: {
      commands: [
        [
          'valac',
          '--pkg',
          'gio-2.0',
          '--pkg',
          'posix',
          '-X',
          '-O2',
          '-X',
          '-w',
          '-X',
          '-lm',
          '-o',
          'main',
          'main.vala',
        ],
      ],
      makes: 'main',
      together: ['.vala'],
    },
    run: ['./main'],
    environment: {
      // Otherwise print turns non-ASCII into question marks.
      CHARSET: 'UTF-8',
      // The host's modules ask a desktop for its settings: glib-networking's aborts a program whose box has none.
      GIO_MODULE_DIR: '/nonexistent',
    },
    paths: ['/usr/include', '/usr/share/vala*', '/usr/share/pkgconfig'],
  },
} as const satisfies LanguageDefinition
