// C++'s programs.
import type { Programs } from './program.ts'

const begin = '#include <bits/stdc++.h>\nusing namespace std;\n'

export const cpp: Programs = {
  sum: '#include <iostream>\nint main() {\n  int a, b;\n  std::cin >> a >> b;\n  std::cout << a + b << std::endl;\n}',
  copy: `${begin}int main() {
  ios::sync_with_stdio(false);
  string line;
  while (getline(cin, line)) cout << line << '\\n';
}`,
  unicode: `${begin}int main() {
  cout << "Grüße, 世界 🎉" << endl;
  string line;
  getline(cin, line);
  cout << line << endl;
}`,
  exitThree: `${begin}int main() { cout << "out"; cerr << "err"; return 3; }`,
  uncaught: {
    code: '#include <stdexcept>\nint main() { throw std::runtime_error("no such thing"); }',
    says: /std::runtime_error'\n +what\(\): +no such thing/,
  },
  broken: { code: 'int main() {\n  int a = 1;\n  int b = ;\n}\n', says: /main\.cpp:3:11: error/ },
  busyLoop: 'int main() { volatile unsigned n = 0; for (;;) n = n + 1; }',
  sleeper:
    '#include <chrono>\n#include <thread>\nint main() { std::this_thread::sleep_for(std::chrono::minutes(1)); }',
  memoryBomb: `${begin}int main() { vector<string> kept; for (;;) kept.emplace_back(1 << 20, 'x'); }`,
  outputFlood: `${begin}int main() { for (;;) cout << string(100, 'x') << endl; }`,
  scratch: `${begin}int main() {
  ofstream("/tmp/file") << "kept\\n";
  cout << ifstream("/tmp/file").rdbuf();
}`,
  threads: `${begin}int main() {
  vector<future<int>> parts;
  for (int part = 0; part < 4; part++)
    parts.push_back(async(launch::async, [part] {
      vector<int> numbers(250);
      iota(numbers.begin(), numbers.end(), part * 250 + 1);
      return accumulate(numbers.begin(), numbers.end(), 0);
    }));
  int sum = 0;
  for (auto &part : parts) sum += part.get();
  cout << sum << endl;
}`,
  network: `#include <arpa/inet.h>
#include <iostream>
int main() {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(9);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int s = socket(AF_INET, SOCK_STREAM, 0);
  if (s < 0 || connect(s, reinterpret_cast<sockaddr *>(&to), sizeof to) != 0) std::cout << "closed\\n";
}`,
  usual: `${begin}int main() {
  map<int, set<string>> names;
  regex form("(\\\\w+) (-?\\\\d+)");
  double sum = 0;
  int count = 0;
  for (string line; getline(cin, line); count++) {
    smatch found;
    if (!regex_match(line, found, form)) return 1;
    names[stoi(found[2])].insert(found[1]);
    sum += stoi(found[2]);
  }
  for (auto &[number, all] : names)
    for (auto &name : all) cout << name << ": " << number << '\\n';
  cout << "mean: " << fixed << setprecision(2) << sum / count << '\\n';
}`,
  arguments: String.raw`#include <iostream>
int main(int count, char **words) {
  for (int n = 1; n < count; n++) std::cout << words[n] << '\n';
}`,
  variable: `#include <cstdlib>
#include <iostream>
int main() {
  std::cout << std::getenv("GREETING") << "\\n";
}`,
  secondFile: {
    code: String.raw`#include <iostream>
int answer();
int main() { std::cout << answer() << '\n'; }`,
    file: { name: 'answer.cpp', content: 'int answer() { return 42; }\n' },
  },
  compileArguments: {
    words: ['-DN=42'],
    code: String.raw`#include <iostream>
int main() { std::cout << N << '\n'; }`,
  },
}
