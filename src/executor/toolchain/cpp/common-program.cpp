// What programs commonly use of C++'s library. It is compiled to learn what of it no header may have made (made-templates.cpp):
// what is missing here is not wrong, but compiled in two attempts. Nothing runs it.
#include <bits/stdc++.h>

using namespace std;

struct Item {
  string name;
  int value;
  bool operator<(const Item &other) const { return value < other.value; }
};

template <class T> void readAll(vector<T> &all) {
  for (auto &each : all) cin >> each;
}

void streams(int n, long long l, unsigned long u, double d, char c, bool b, string s) {
  ios::sync_with_stdio(false);
  cin.tie(nullptr);
  cin >> n >> l >> u >> d >> c >> b >> s;
  getline(cin, s);
  cout << n << ' ' << l << u << d << c << b << s << "\n" << fixed << setprecision(3) << setw(5) << setfill('0') << endl;
  cout << boolalpha << hex << n << string_view(s) << bitset<64>(5);
  cerr << s << '\n';
  stringstream both(s);
  istringstream in(s);
  ostringstream out;
  both >> n;
  while (in >> s) out << s;
  cout << out.str();
  while (getline(both, s, ',')) cout << s;
}

void vectors(int n, string s) {
  vector<int> ints(n), ones(n, 1);
  vector<long long> longs(n);
  vector<string> strings(n);
  vector<double> doubles(n);
  vector<char> chars;
  vector<bool> bools(n, true);
  vector<size_t> sizes(n);
  vector<unsigned> natural(n);
  vector<vector<int>> grid(n, vector<int>(n));
  vector<pair<int, int>> pairs;
  vector<array<int, 3>> arrays;
  readAll(ints), readAll(longs), readAll(strings), readAll(sizes);
  pairs.push_back({1, 2}), pairs.emplace_back(3, 4), arrays.push_back({1, 2, 3}), chars.push_back('a'), strings.push_back(s);
  bools.push_back(false), doubles.resize(3), doubles.push_back(1.5), natural.push_back(1), natural.resize(5);
  sizes.push_back(3), sizes.insert(sizes.begin(), 2), sizes.resize(7), sizes.assign(3, 4);
  vector<size_t> copied = sizes;
  copied = sizes, copied.erase(copied.begin()), copied.swap(sizes);
  sort(ints.begin(), ints.end()), sort(strings.begin(), strings.end()), sort(pairs.rbegin(), pairs.rend());
  sort(longs.begin(), longs.end(), greater<>()), sort(sizes.begin(), sizes.end()), sort(s.begin(), s.end());
  stable_sort(ints.begin(), ints.end()), ranges::sort(ints), reverse(s.begin(), s.end());
  ints.erase(unique(ints.begin(), ints.end()), ints.end()), iota(ints.begin(), ints.end(), 0), fill(ints.begin(), ints.end(), 0);
  next_permutation(ints.begin(), ints.end()), nth_element(ints.begin(), ints.begin(), ints.end());
  copy_if(ints.begin(), ints.end(), back_inserter(ones), [](int each) { return each > 1; });
  for_each(ints.begin(), ints.end(), [](int each) { cout << each; });
  transform(s.begin(), s.end(), s.begin(), ::tolower);
  cout << accumulate(ints.begin(), ints.end(), 0LL) << *max_element(ints.begin(), ints.end());
  cout << *min_element(longs.begin(), longs.end()) << count(ints.begin(), ints.end(), 1) << ranges::max(ints);
  cout << (find(ints.begin(), ints.end(), 2) - ints.begin()) << (lower_bound(ints.begin(), ints.end(), 3) - ints.begin());
  cout << (upper_bound(longs.begin(), longs.end(), 3) - longs.begin()) << max(sizes[0], sizes[1]);
}

void containers(string s, string t) {
  map<int, int> ints;
  map<string, int> words;
  map<char, int> chars;
  map<string, vector<string>> lists;
  map<pair<int, int>, int> pairs;
  unordered_map<int, int> hashedInts;
  unordered_map<string, int> hashedWords;
  unordered_map<long long, int> hashedLongs;
  unordered_map<char, int> hashedChars;
  ints[1]++, words[s]++, chars['a']++, lists[s].push_back(t), pairs[{1, 2}] = 3, ints.erase(1);
  hashedInts[3]++, hashedWords[t]++, hashedLongs[4]++, hashedChars['b']++;
  for (auto &[key, value] : words) cout << key << value;
  for (auto &[key, value] : hashedWords) cout << key << value;
  if (hashedWords.count(s) || hashedInts.find(2) != hashedInts.end()) return;
  set<int> intSet;
  set<string> wordSet;
  set<pair<int, int>> pairSet;
  multiset<int> multi;
  unordered_set<int> hashedSet;
  unordered_set<string> hashedWordSet;
  intSet.insert(1), wordSet.insert(s), pairSet.insert({1, 2}), multi.insert(2), hashedSet.insert(3), hashedWordSet.insert(t);
  intSet.erase(intSet.begin()), multi.erase(multi.find(2));
  cout << *intSet.rbegin() << intSet.count(1) << (intSet.lower_bound(2) == intSet.end());
  queue<int> ints1;
  queue<string> words1;
  queue<pair<int, int>> pairs1;
  deque<int> ends;
  stack<char> chars1;
  stack<int> ints2;
  list<int> linked;
  priority_queue<int> greatest;
  priority_queue<Item> items;
  priority_queue<long long, vector<long long>, greater<>> least;
  priority_queue<pair<int, int>, vector<pair<int, int>>, greater<pair<int, int>>> nearest;
  ints1.push(1), words1.push(s), pairs1.push({1, 2}), ends.push_front(2), ends.pop_back(), chars1.push('('), ints2.push(1);
  linked.push_back(1), greatest.push(3), items.push({s, 1}), least.push(4), nearest.push({1, 2});
  greatest.pop(), nearest.pop(), pairs1.pop(), words1.pop();
}

void strings(string s, string t, int n, double d) {
  s += t, s += 'c', s = s + t + "x", s = "y" + s, s = s + 'z', s.push_back('d'), s.pop_back(), s.insert(0, "a"), s.erase(0, 1);
  s = s.substr(1, 2), s.append("q"), s.resize(5), s.clear(), s.replace(0, 0, "r"), s.assign(3, 'c'), s.reserve(10);
  string repeated(5, 'a'), literal = "literal", part(s.begin(), s.end()), moved = move(t);
  t = moved, swap(s, t);
  cout << s.find("a") << s.find('b') << s.rfind("c") << (s == t) << (s < t) << (s != "x") << (s == "y") << (s <=> t < 0);
  cout << s.size() << s.empty() << s[0] << s.at(0) << s.back() << s.front() << s.c_str() << s.compare(t) << string_view(s).substr(1);
  cout << to_string(n) << to_string(1LL) << to_string(d) << to_string(1UL) << stoi(s) << stoll(s) << stod(s) << stoul(s);
}

void numbers(int n, long long l, double d) {
  cout << max(n, 2) << min(l, 3LL) << max<long long>(n, l) << max(1.0, d) << max({1, 2, 3}) << __gcd(n, 2) << gcd(n, 3) << lcm(n, 4);
  cout << abs(n) << pow(d, 2) << sqrt(d) << numeric_limits<int>::max() << isalpha(n) << rand();
  complex<double> point(1, 2);
  cout << point.real() << arg(point) << (point * point);
  mt19937 random(1);
  mt19937_64 seeded(chrono::steady_clock::now().time_since_epoch().count());
  uniform_int_distribution<int> dice(1, 6);
  uniform_int_distribution<long long> far(1, 6);
  uniform_real_distribution<double> unit(0, 1);
  vector<int> cards(n);
  shuffle(cards.begin(), cards.end(), random);
  cout << dice(random) << far(seeded) << unit(random) << random();
  auto begin = chrono::high_resolution_clock::now();
  cout << chrono::duration_cast<chrono::milliseconds>(chrono::high_resolution_clock::now() - begin).count();
  cout << chrono::duration<double>(chrono::steady_clock::now() - chrono::steady_clock::now()).count();
}

void others(int n, string s) {
  function<int(int)> call = [&](int each) { return each + n; };
  function<void(int, int)> recursive = [&](int one, int other) {
    if (one) recursive(other, one);
  };
  call(1), recursive(1, 2);
  auto unique = make_unique<Item>();
  auto shared = make_shared<Item>();
  auto number = make_shared<int>(1);
  weak_ptr<Item> weak = shared;
  unique_ptr<int[]> block(new int[3]);
  tuple<int, int, int> three{1, 2, 3};
  auto [x, y, z] = three;
  tie(x, y) = make_pair(1, 2);
  optional<int> perhaps = 3;
  variant<int, string> either = s;
  any whatever = 3;
  cout << *number << unique->name << shared->name << get<int>(either) << any_cast<int>(whatever) << perhaps.value();
  try {
    if (n) throw runtime_error("x" + s);
    throw invalid_argument("y");
  } catch (const exception &error) {
    cout << error.what();
  }
  thread([] {}).join();
  mutex one;
  lock_guard<mutex> guard(one);
  atomic<int> counter{1};
  counter++;
  printf("%d", counter.load());
}

int main() {}
