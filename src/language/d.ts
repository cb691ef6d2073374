// D: LDC.
import type { LanguageDefinition } from './definition.ts'
import { slowCompile } from './limits.ts'

export const d = {
  title: 'D',
  aliases: ['dlang'],
  extensions: ['.d'],
  comment: ['//', ''],
  packages: ['ldc'],
  tools: [
    {
      program: 'ldc2',
      title: 'LDC',
      pattern: /LDC - the LLVM D compiler \((\d+)\.(\d+)\.\d+/mu,
      oldest: [1, 20],
    },
  ],
  limits: { compile: slowCompile },
  example: `import std.stdio;

void main() {
  writeln("Hello, world!");
}`,
  trial: `import std.stdio;
void main() { size_t n = 0; foreach (chunk; stdin.byChunk(4096)) n += chunk.length; writeln(n); }`,
  recipe: {
    source: 'main.d',
    compile: { commands: [['ldc2', '-O2', '-of=main', 'main.d']], makes: 'main', together: ['.d'] },
    run: ['./main'],
    paths: ['/etc/ldc2.conf', '/usr/include'],
  },
} as const satisfies LanguageDefinition
