// Uses the system as C++ submissions do. All of it must work under the filter.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <regex>
#include <thread>
#include <vector>

int main() {
  std::vector<std::thread> threads;
  std::vector<int> done(8);
  for (int i = 0; i < 8; i++) threads.emplace_back([&done, i] { done[i] = i; });
  for (auto &thread : threads) thread.join();
  if (done[7] != 7 || !std::regex_match("abbbc", std::regex("ab+c"))) return 1;
  std::ofstream("/box/a") << std::string(300000, 'x');
  std::filesystem::copy_file("/box/a", "/box/b");
  if (std::filesystem::file_size("/box/b") != 300000) return 2;
  std::cout << "threads regex copy\n";
}
