// Pike's programs.
import type { Programs } from './program.ts'

export const pike: Programs = {
  sum: `int main() {
  int a = (int)Stdio.stdin->gets();
  int b = (int)Stdio.stdin->gets();
  write("%d\\n", a + b);
}`,
  copy: 'int main() {\n  while (string line = Stdio.stdin->gets())\n    write("%s\\n", line);\n}',
  unicode: `int main() {
  write("Grüße, 世界 🎉\\n");
  write("%s\\n", Stdio.stdin->gets());
}`,
  exitThree: 'int main() {\n  write("out");\n  werror("err");\n  return 3;\n}',
  uncaught: {
    code: 'void f(int x) {\n  error("no such thing: %d\\n", x);\n}\nint main() {\n  f(1);\n}',
    says: /^no such thing: 1\n.*main\.pike:2:/,
  },
  broken: {
    code: 'int main() {\n  int a = 1;\n  int b = ;\n}\n',
    says: /main\.pike:3:.*syntax error/,
  },
  busyLoop: 'int main() {\n  int n;\n  while (1) n++;\n}',
  sleeper: 'int main() {\n  sleep(60);\n}',
  memoryBomb: `int main() {
  array(string) kept = ({});
  while (1) kept += ({ random_string(1 << 20) });
}`,
  outputFlood: 'int main() {\n  while (1) write("%s\\n", "x" * 100);\n}',
  scratch: `int main() {
  Stdio.write_file("/tmp/file", "kept");
  write("%s\\n", Stdio.read_file("/tmp/file"));
}`,
  threads: `int add_up(int part) {
  int sum;
  for (int n = 1; n <= 250; n++) sum += part * 250 + n;
  return sum;
}
int main() {
  array(Thread.Thread) threads = map(enumerate(4), lambda(int part) { return Thread.Thread(add_up, part); });
  write("%d\\n", Array.sum(threads->wait()));
}`,
  network: `int main() {
  Stdio.File socket = Stdio.File();
  if (catch { if (!socket->connect("127.0.0.1", 9)) error("no"); })
    write("closed\\n");
}`,
  usual: `int main() {
  array(string) names = ({});
  array(int) numbers = ({});
  while (string line = Stdio.stdin->gets()) {
    string name;
    int number;
    if (sscanf(line, "%s %d", name, number) < 2) continue;
    names += ({ name });
    numbers += ({ number });
  }
  sort(names, numbers);
  mapping(int:array(string)) by_number = ([]);
  foreach (names; int i; string name)
    by_number[numbers[i]] = (by_number[numbers[i]] || ({})) + ({ name });
  foreach (sort(indices(by_number)), int number)
    foreach (by_number[number], string name)
      write("%s: %d\\n", name, number);
  write("mean: %.2f\\n", (float)Array.sum(numbers) / sizeof(numbers));
}`,
  arguments:
    'int main(int count, array(string) words) {\n  foreach (words[1..], string word) write("%s\\n", word);\n}',
  variable: `int main() {
  write("%s\\n", getenv("GREETING"));
}`,
  secondFile: {
    code: 'inherit "answer";\nint main() { write("%d\\n", answer()); }',
    file: { name: 'answer.pike', content: 'int answer() { return 42; }\n' },
  },
}
