// C#'s programs.
import type { Programs } from './program.ts'

/** A class Program around the body of its `Main`. */
const main = (body: string): string => `using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Net.Sockets;
using System.Text;
using System.Text.RegularExpressions;
using System.Threading;
using System.Threading.Tasks;

class Program
{
    static void Main(string[] args)
    {
        ${body.replaceAll('\n', '\n        ')}
    }
}
`

export const csharp: Programs = {
  sum: main(`int a = int.Parse(Console.ReadLine());
int b = int.Parse(Console.ReadLine());
Console.WriteLine(a + b);`),
  copy: main('string line;\nwhile ((line = Console.ReadLine()) != null) Console.WriteLine(line);'),
  unicode: main('Console.WriteLine("Grüße, 世界 🎉");\nConsole.WriteLine(Console.ReadLine());'),
  exitThree: main('Console.Write("out");\nConsole.Error.Write("err");\nEnvironment.Exit(3);'),
  uncaught: {
    code: main('throw new InvalidOperationException("no such thing");'),
    says: /Unhandled Exception:\nSystem\.InvalidOperationException: no such thing/,
  },
  broken: {
    code: 'class Program {\n  static void Main() {\n    int b = "two";\n  }\n}\n',
    says: /main\.cs\(3,13\): error CS0029/,
  },
  busyLoop: main('while (true) { }'),
  sleeper: main('Thread.Sleep(60000);'),
  memoryBomb: main(`var kept = new List<byte[]>();
while (true) kept.Add(Enumerable.Repeat((byte)1, 1 << 20).ToArray());`),
  outputFlood: main("while (true) Console.WriteLine(new string('x', 100));"),
  scratch: main(
    'File.WriteAllText("/tmp/file", "kept");\nConsole.WriteLine(File.ReadAllText("/tmp/file"));',
  ),
  threads: main(`var parts = Enumerable.Range(0, 4)
    .Select(part => Task.Run(() => Enumerable.Range(part * 250 + 1, 250).Sum()));
Console.WriteLine(Task.WhenAll(parts).Result.Sum());`),
  network: main(`try
{
    var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
    socket.Connect("127.0.0.1", 9);
}
catch (SocketException)
{
    Console.WriteLine("closed");
}`),
  usual: main(`var rows = new List<(string Name, int Number)>();
for (var line = Console.ReadLine(); line != null; line = Console.ReadLine())
{
    var found = Regex.Match(line, @"^(\\w+) (-?\\d+)$");
    rows.Add((found.Groups[1].Value, int.Parse(found.Groups[2].Value)));
}
foreach (var row in rows.OrderBy(row => row.Number).ThenBy(row => row.Name))
    Console.WriteLine($"{row.Name}: {row.Number}");
Console.WriteLine($"mean: {rows.Average(row => row.Number):F2}");`),
  arguments: `using System;

class Program {
  static void Main(string[] words) {
    foreach (var word in words) Console.WriteLine(word);
  }
}`,
  variable: `class Program {
  static void Main() {
    System.Console.WriteLine(System.Environment.GetEnvironmentVariable("GREETING"));
  }
}`,
  secondFile: {
    code: 'class Program {\n  static void Main() => System.Console.WriteLine(Answer.Get());\n}',
    file: {
      name: 'Answer.cs',
      content: 'static class Answer {\n  public static int Get() => 42;\n}\n',
    },
  },
  compileArguments: {
    words: ['-define:OWN'],
    code: `class Program {
  static void Main() {
#if OWN
    System.Console.WriteLine(42);
#endif
  }
}`,
  },
}
