// Haxe's programs.
import type { Programs } from './program.ts'

/** A class Main around the body of its `main`. */
function main(body: string, imports = ''): string {
  return `${imports}class Main {\n  static function main() {\n${body}\n  }\n}\n`
}

export const haxe: Programs = {
  sum: main(
    `    var a = Std.parseInt(Sys.stdin().readLine());
    var b = Std.parseInt(Sys.stdin().readLine());
    Sys.println(a + b);`,
  ),
  copy: main(`    try {
      while (true) Sys.println(Sys.stdin().readLine());
    } catch (e:haxe.io.Eof) {}`),
  unicode: main('    Sys.println("Grüße, 世界 🎉");\n    Sys.println(Sys.stdin().readLine());'),
  exitThree: main('    Sys.print("out");\n    Sys.stderr().writeString("err");\n    Sys.exit(3);'),
  uncaught: {
    code: main('    throw new haxe.Exception("no such thing");'),
    says: /Main\.hx:3:.*no such thing/,
  },
  broken: {
    code: 'class Main {\n  static function main() {\n    var a:Int = "b";\n  }\n}\n',
    says: /Main\.hx:3: characters \d+-\d+ : String should be Int/,
  },
  busyLoop: main('    var n = 0;\n    while (true) n++;'),
  sleeper: main('    Sys.sleep(60);'),
  memoryBomb: main('    var kept = [];\n    while (true) kept.push(haxe.io.Bytes.alloc(1 << 20));'),
  outputFlood: main('    while (true) Sys.println("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");'),
  scratch: main(
    '    File.saveContent("/tmp/file", "kept");\n    Sys.println(File.getContent("/tmp/file"));',
    'import sys.io.File;\n\n',
  ),
  threads: main(
    `    var sums = new Deque<Int>();
    for (part in 0...4)
      Thread.create(() -> {
        var sum = 0;
        for (n in 1...251) sum += part * 250 + n;
        sums.add(sum);
      });
    var total = 0;
    for (part in 0...4) total += sums.pop(true);
    Sys.println(total);`,
    'import sys.thread.Deque;\nimport sys.thread.Thread;\n\n',
  ),
  network: {
    cannot: 'where a socket is refused, its interpreter ends by an error that nothing catches',
  },
  usual: main(
    `    var rows:Array<{name:String, number:Int}> = [];
    var format = ~/^(\\w+) (-?\\d+)$/;
    for (line in Sys.stdin().readAll().toString().split("\\n"))
      if (format.match(line))
        rows.push({name: format.matched(1), number: Std.parseInt(format.matched(2))});
    rows.sort((a, b) -> a.number != b.number ? a.number - b.number : Reflect.compare(a.name, b.name));
    for (row in rows) Sys.println('\${row.name}: \${row.number}');
    var mean = rows.fold((row, sum) -> sum + row.number, 0) / rows.length;
    var cents = Std.string(Math.round(mean * 100));
    Sys.println('mean: \${cents.substr(0, cents.length - 2)}.\${cents.substr(-2)}');`,
    'using Lambda;\n\n',
  ),
  arguments: main('    for (word in Sys.args()) Sys.println(word);'),
  variable: main('    Sys.println(Sys.getEnv("GREETING"));'),
  secondFile: {
    code: main('    Sys.println(Answer.get());'),
    file: {
      name: 'Answer.hx',
      content: 'class Answer {\n  public static function get() return 42;\n}\n',
    },
  },
}
