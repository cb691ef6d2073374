// Vala's programs.
import type { Programs } from './program.ts'

export const vala: Programs = {
  sum: `void main () {
    int a = int.parse (stdin.read_line ());
    int b = int.parse (stdin.read_line ());
    print ("%d\\n", a + b);
}`,
  copy: `void main () {
    string? line;
    while ((line = stdin.read_line ()) != null)
        stdout.printf ("%s\\n", line);
}`,
  unicode: `void main () {
    print ("Grüße, 世界 🎉\\n");
    stdout.printf ("%s\\n", stdin.read_line ());
}`,
  exitThree: `int main () {
    stdout.printf ("out");
    stderr.printf ("err");
    return 3;
}`,
  uncaught: {
    code: `void f (int x) {
    if (x < 2) error ("no such thing: %d", x);
}
void main () {
    f (1);
}`,
    says: /ERROR \*\*: .*main\.vala:2: no such thing: 1/,
  },
  broken: {
    code: 'void main () {\n    int a = 1;\n    int b = ;\n}\n',
    says: /main\.vala:3\.13.*: error: syntax error/,
  },
  busyLoop: 'void main () {\n    uint n = 0;\n    while (true) n = n * 3 + 1;\n}',
  sleeper: 'void main () {\n    Thread.usleep (60 * 1000000);\n}',
  memoryBomb: `void main () {
    var kept = new Array<string> ();
    while (true) kept.append_val (string.nfill (1 << 20, 'x'));
}`,
  outputFlood: `void main () {
    while (true) stdout.printf ("%s\\n", string.nfill (100, 'x'));
}`,
  scratch: `void main () {
    try {
        FileUtils.set_contents ("/tmp/file", "kept");
        string text;
        FileUtils.get_contents ("/tmp/file", out text);
        print ("%s\\n", text);
    } catch (FileError e) {
        error (e.message);
    }
}`,
  threads: `void main () {
    Thread<int>[] threads = {};
    for (int part = 0; part < 4; part++) {
        int first = part * 250;
        threads += new Thread<int> ("part", () => {
            int sum = 0;
            for (int n = 1; n <= 250; n++) sum += first + n;
            return sum;
        });
    }
    int sum = 0;
    foreach (var thread in threads) sum += thread.join ();
    print ("%d\\n", sum);
}`,
  // The program needs no GIO module of the host and loads none, because some modules abort in a box.
  network: `void main () {
    SettingsBackend.get_default ();
    try {
        new SocketClient ().connect_to_host ("127.0.0.1", 9);
    } catch (Error e) {
        string maps = "";
        try {
            FileUtils.get_contents ("/proc/self/maps", out maps);
        } catch (FileError unread) {
            print ("%s\\n", unread.message);
        }
        print ("/gio/modules/" in maps ? "a module\\n" : "closed\\n");
    }
}`,
  usual: `struct Row {
    string name;
    int number;
}
void main () {
    var rows = new GenericArray<Row?> ();
    var format = /^(?<name>\\w+) (?<number>-?\\d+)$/;
    string? line;
    double sum = 0;
    while ((line = stdin.read_line ()) != null) {
        MatchInfo match;
        if (!format.match (line, 0, out match)) continue;
        rows.add (Row () { name = match.fetch_named ("name"), number = int.parse (match.fetch_named ("number")) });
        sum += rows[rows.length - 1].number;
    }
    rows.sort ((a, b) => a.number != b.number ? a.number - b.number : strcmp (a.name, b.name));
    rows.foreach (row => print ("%s: %d\\n", row.name, row.number));
    print ("mean: %.2f\\n", Math.round (sum / rows.length * 100) / 100);
}`,
  arguments: String.raw`void main (string[] words) {
  foreach (unowned string word in words[1:words.length]) print ("%s\n", word);
}`,
  variable: `void main () {
  print ("%s\\n", Environment.get_variable ("GREETING"));
}`,
  secondFile: {
    code: String.raw`void main () {
  print ("%d\n", answer ());
}`,
    file: { name: 'answer.vala', content: 'int answer () {\n  return 42;\n}\n' },
  },
  compileArguments: {
    words: ['-D', 'OWN'],
    code: String.raw`void main () {
#if OWN
  print ("42\n");
#endif
}`,
  },
}
