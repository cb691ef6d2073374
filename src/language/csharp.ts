// C#: Mono.
import type { LanguageDefinition } from './definition.ts'

export const csharp = {
  title: 'C#',
  aliases: ['cs', 'c#'],
  extensions: ['.cs'],
  comment: ['//', ''],
  packages: [
    'mono-mcs',
    'mono-runtime',
    'libmono-system-core4.0-cil',
    'libmono-system-numerics4.0-cil',
  ],
  tools: [
    {
      program: 'mcs',
      title: 'Mono',
      pattern: /^Mono C# compiler version (\d+)\.(\d+)\S*/mu,
      oldest: [5, 0],
    },
    { program: 'mono', pattern: /^Mono JIT compiler version (\d+)\.(\d+)\S*/mu, oldest: [5, 0] },
  ],
  least: { processes: 4 },
  example: `using System;

class Program {
  static void Main() {
    Console.WriteLine("Hello, world!");
  }
}`,
  trial: `using System;
class Program { static void Main() { Console.WriteLine(Console.In.ReadToEnd().Length); } }`,
  recipe: {
    source: 'main.cs',
    compile: {
      commands: [['mcs', '-optimize+', '-r:System.Numerics', '-out:main.exe', 'main.cs']],
      makes: 'main.exe',
      together: ['.cs'],
    },
    run: ['mono', 'main.exe'],
    environment: { MONO_LOG_DEST: '/dev/null' },
    paths: ['/etc/mono'],
    usualStack: true,
    outOfMemory: /OutOfMemoryException|Error: Garbage collector could not allocate/u,
  },
} as const satisfies LanguageDefinition
