// Pascal: Free Pascal.
import type { LanguageDefinition } from './definition.ts'

export const pascal = {
  title: 'Pascal',
  aliases: ['pas', 'fpc'],
  extensions: ['.pas', '.pp'],
  comment: ['//', ''],
  packages: ['fp-compiler', 'fp-units-rtl'],
  tools: [
    {
      program: 'fpc',
      title: 'Free Pascal',
      ask: ['-iV'],
      pattern: /^(\d+)\.(\d+)\.\d+/mu,
      oldest: [3, 0],
    },
  ],
  example: `program Main;
begin
  WriteLn('Hello, world!');
end.`,
  trial:
    'program Main; var n: longint; c: char; begin n := 0; while not eof do begin read(c); n := n + 1; end; writeln(n); end.',
  recipe: {
    source: 'main.pas',
    compile: { commands: [['fpc', '-O2', '-v0ew', '-l-', '-omain', 'main.pas']], makes: 'main' },
    run: ['./main'],
    paths: ['/etc/fpc*.cfg'],
  },
} as const satisfies LanguageDefinition
