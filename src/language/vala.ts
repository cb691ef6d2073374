// Vala: by way of C.
import type { LanguageDefinition } from './definition.ts'
import { words } from './words.ts'

export const vala = {
  title: 'Vala',
  extensions: ['.vala'],
  comment: ['//', ''],
  packages: ['valac', 'gcc', 'libglib2.0-dev'],
  tools: [{ program: 'valac', pattern: /^Vala (\d+)\.(\d+)\.\d+/mu, oldest: [0, 40] }],
  example: String.raw`void main () {
  print ("Hello, world!\n");
}`,
  trial: String.raw`void main () { int n = 0; while (stdin.getc () != FileStream.EOF) n++; print ("%d\n", n); }`,
  recipe: {
    source: 'main.vala',
    // -w, because the C compiler warns about the code that valac generates from correct programs.
    compile: {
      commands: [words('valac --pkg gio-2.0 --pkg posix -X -O2 -X -w -X -lm -o main main.vala')],
      makes: 'main',
      together: ['.vala'],
    },
    run: ['./main'],
    environment: {
      // Otherwise `print` replaces characters that are not ASCII by question marks.
      CHARSET: 'UTF-8',
      // Keeps GLib from loading modules of the host that ask a desktop for its settings: that of glib-networking aborts a
      // program in a box, which has no desktop.
      GIO_MODULE_DIR: '/nonexistent',
    },
    paths: ['/usr/include', '/usr/share/vala*', '/usr/share/pkgconfig'],
  },
} as const satisfies LanguageDefinition
