// C++ programs, compiled by Clang.
import { cpp } from './cpp.ts'
import type { Programs } from './program.ts'

export const clangpp: Programs = {
  sum: `#include <iostream>
int main() {
  int a, b;
  std::cin >> a >> b;
  std::cout << a + b << std::endl;
}`,
  copy: `#include <iostream>
int main() { std::cout << std::cin.rdbuf(); }`,
  unicode: `#include <iostream>
#include <string>
int main() {
  std::string line;
  std::getline(std::cin, line);
  std::cout << "Grüße, 世界 🎉\\n" << line << "\\n";
}`,
  exitThree: `#include <iostream>
int main() {
  std::cout << "out";
  std::cerr << "err";
  return 3;
}`,
  uncaught: {
    code: `#include <stdexcept>
int main() { throw std::runtime_error("no such thing"); }`,
    says: /terminate called after throwing an instance of 'std::runtime_error'\n {2}what\(\): {2}no such thing/,
  },
  broken: {
    code: 'int main() {\n  int a = 1;\n  int b = ;\n}\n',
    says: /main\.cpp:3:11: error: expected expression/,
  },
  busyLoop: 'int main() { volatile unsigned n = 0; for (;;) n = n + 1; }',
  sleeper: `#include <chrono>
#include <thread>
int main() { std::this_thread::sleep_for(std::chrono::minutes(1)); }`,
  memoryBomb: `#include <string>
#include <vector>
int main() {
  std::vector<std::string> kept;
  for (;;) kept.emplace_back(1 << 20, 'x');
}`,
  outputFlood: `#include <iostream>
int main() { for (;;) std::cout << "for ever and ever\\n"; }`,
  scratch: `#include <fstream>
#include <iostream>
#include <string>
int main() {
  std::ofstream("/tmp/file") << "kept\\n";
  std::string line;
  std::ifstream file("/tmp/file");
  std::getline(file, line);
  std::cout << line << "\\n";
}`,
  threads: `#include <future>
#include <iostream>
#include <numeric>
#include <thread>
#include <vector>
int main() {
  std::vector<int> numbers(1000), sums(4);
  std::iota(numbers.begin(), numbers.end(), 1);
  std::vector<std::thread> threads;
  for (int part = 0; part < 4; part++)
    threads.emplace_back([&, part] {
      sums[part] = std::accumulate(numbers.begin() + part * 250, numbers.begin() + part * 250 + 250, 0);
    });
  for (auto &thread : threads) thread.join();
  std::cout << std::accumulate(sums.begin(), sums.end(), 0) << "\\n";
}`,
  network: `#include <arpa/inet.h>
#include <iostream>
#include <sys/socket.h>
int main() {
  sockaddr_in to{.sin_family = AF_INET, .sin_port = htons(9), .sin_addr = {htonl(INADDR_LOOPBACK)}};
  int s = socket(AF_INET, SOCK_STREAM, 0);
  if (s < 0 || connect(s, reinterpret_cast<sockaddr *>(&to), sizeof to) != 0) std::cout << "closed\\n";
}`,
  usual: `#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <map>
#include <numeric>
#include <ranges>
#include <regex>
#include <set>
#include <string>
int main() {
  std::map<int, std::set<std::string>> rows;
  const std::regex row(R"((\\S+)\\s+(-?\\d+))");
  double sum = 0;
  int count = 0;
  for (std::string line; std::getline(std::cin, line);) {
    std::smatch found;
    if (!std::regex_match(line, found, row)) continue;
    rows[std::stoi(found[2])].insert(found[1]);
    sum += std::stoi(found[2]);
    count++;
  }
  for (const auto &[number, names] : rows)
    for (const auto &name : names) std::cout << name << ": " << number << "\\n";
  std::cout << "mean: " << std::fixed << std::setprecision(2) << sum / count << std::endl;
}`,
  arguments: cpp.arguments,
  variable: `#include <cstdlib>
#include <iostream>
int main() {
  std::cout << std::getenv("GREETING") << "\\n";
}`,
  secondFile: cpp.secondFile,
  compileArguments: cpp.compileArguments!,
}
