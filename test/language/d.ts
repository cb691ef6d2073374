// D's programs.
import type { Programs } from './program.ts'

export const d: Programs = {
  sum: `import std.stdio;

void main() {
  int a, b;
  readf("%d\\n", a);
  readf("%d\\n", b);
  writeln(a + b);
}`,
  copy: `import std.stdio;

void main() {
  foreach (line; stdin.byLine)
    writeln(line);
}`,
  unicode:
    'import std.stdio;\n\nvoid main() {\n  writeln("Grüße, 世界 🎉");\n  write(readln());\n}',
  exitThree:
    'import std.stdio;\n\nint main() {\n  write("out");\n  stderr.write("err");\n  return 3;\n}',
  uncaught: {
    code: 'void f(int x) {\n  throw new Exception("no such thing");\n}\n\nvoid main() {\n  f(1);\n}',
    says: /object\.Exception@main\.d\(2\): no such thing/,
  },
  broken: {
    code: 'void main() {\n  int a = 1;\n  int b = "b";\n}\n',
    says: /main\.d\(3\): Error/,
  },
  busyLoop: 'void main() {\n  for (uint n = 0;; n++) {}\n}',
  sleeper: 'import core.thread;\n\nvoid main() {\n  Thread.sleep(60.seconds);\n}',
  memoryBomb: `void main() {
  ubyte[][] kept;
  for (;;) {
    auto block = new ubyte[1_000_000];
    block[] = 1;
    kept ~= block;
  }
}`,
  outputFlood:
    'import std.stdio;\n\nvoid main() {\n  for (;;)\n    writeln("for ever and ever and ever");\n}',
  scratch: `import std.file, std.stdio;

void main() {
  std.file.write("/tmp/file", "kept");
  writeln(readText("/tmp/file"));
}`,
  threads: `import std.parallelism, std.range, std.stdio;

void main() {
  auto pool = new TaskPool(4);
  scope (exit) pool.finish();
  writeln(pool.reduce!"a + b"(iota(1, 1001)));
}`,
  network: `import std.socket, std.stdio;

void main() {
  try
    new TcpSocket(new InternetAddress("127.0.0.1", 9));
  catch (SocketException e)
    writeln("closed");
}`,
  usual: `import std.algorithm, std.array, std.conv, std.regex, std.stdio, std.typecons;

void main() {
  auto row = ctRegex!\`^(\\w+)\\s+(-?\\d+)$\`;
  Tuple!(int, string)[] rows;
  int[string] numbers;
  foreach (line; stdin.byLineCopy) {
    auto found = line.matchFirst(row);
    numbers[found[1]] = found[2].to!int;
  }
  foreach (name, number; numbers)
    rows ~= tuple(number, name);
  foreach (one; rows.sort)
    writefln("%s: %d", one[1], one[0]);
  writefln("mean: %.2f", cast(double) numbers.byValue.sum / rows.length);
}`,
  arguments:
    'import std.stdio;\n\nvoid main(string[] words) {\n  foreach (word; words[1 .. $]) writeln(word);\n}',
  variable: `import std.process;
import std.stdio;

void main() {
  writeln(environment["GREETING"]);
}`,
  secondFile: {
    code: 'import std.stdio;\nimport answer;\n\nvoid main() {\n  writeln(get());\n}',
    file: { name: 'answer.d', content: 'module answer;\n\nint get() {\n  return 42;\n}\n' },
  },
  compileArguments: {
    words: ['-d-version=Own'],
    code: 'import std.stdio;\n\nvoid main() {\n  version (Own) writeln(42);\n}',
  },
}
