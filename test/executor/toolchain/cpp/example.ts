// Sources for the comparison with plain g++: everything that a precompiled header could conceivably change. In a separate
// file because they are many.

import type { Examples } from './comparison.ts'

type Example = [name: string, code: string | Buffer]

const hello = 'int main() { std::cout << "hello " << 6 * 7 << "\\n"; }\n'

/** Programs, most of which compile. */
export const programs: Examples = new Map([
  ...goodPrograms(),
  ...macros(),
  ...librarySpecialities(),
])

/** Sources that begin strangely, do not compile, or compile with messages. */
export const oddities: Examples = new Map([
  ...beginnings(),
  ...warnings(),
  ...errors(),
  ...strangeTexts(),
])

/** Programs that use every precompiled header for its purpose. */
function goodPrograms(): Example[] {
  const uses: Readonly<Record<string, string>> = {
    'bits/stdc++.h':
      'map<string, vector<int>> m; m["a"] = {3, 1, 2}; ranges::sort(m["a"]); for (int x : m["a"]) cout << x; cout << setprecision(3) << sqrt(2.0) << endl;',
    iostream: 'int n; while (cin >> n) cout << n * n << ends; cerr << "to stderr" << endl; clog << 1.5;',
    sstream: 'stringstream s("1 2 x"); int a, b, c; s >> a >> b >> c; printf("%d %d %d\\n", a, b, s.fail());',
    fstream: 'ofstream("f") << "text 5"; ifstream f("f"); string s; f >> s; puts(s.c_str());',
    iomanip: "ostringstream s; s << setw(5) << setfill('*') << 42; puts(s.str().c_str());",
    string: 'string s = "abc"; s += to_string(17); s.insert(1, "zz"); puts(s.substr(1).c_str()); printf("%d\\n", stoi("12"));',
    memory:
      'auto p = make_unique<int>(4); shared_ptr<int> q = make_shared<int>(5); weak_ptr<int> w = q; printf("%d %ld\\n", *p, w.use_count());',
    functional: 'function<int(int)> f = [&](int n) { return n < 2 ? n : f(n - 1) + f(n - 2); }; printf("%d\\n", f(20));',
    vector: 'vector<vector<int>> v(3, vector<int>(2, 7)); v[1].push_back(8); printf("%zu %d\\n", v[1].size(), v[1].back());',
    deque: 'deque<int> d{1, 2}; d.push_front(0); printf("%d\\n", d[2]);',
    queue: 'priority_queue<int> q; q.push(2); q.push(9); queue<int> r; r.push(q.top()); printf("%d\\n", r.front());',
    stack: 'stack<int> s; s.push(4); printf("%d\\n", s.top());',
    map: 'map<int, int> m; for (int i = 9; i; --i) m[i * 7 % 10] = i; for (auto [k, v] : m) printf("%d:%d ", k, v);',
    set: 'set<int> s{3, 1}; multiset<int> t{1, 1}; printf("%d %zu\\n", *s.begin(), t.count(1));',
    unordered_map: 'unordered_map<int, int> m; m[5] = 6; printf("%d\\n", m.at(5));',
    algorithm: 'int a[] = {3, 1, 2}; sort(a, a + 3); printf("%d %d\\n", a[0], *max_element(a, a + 3)); next_permutation(a, a + 3);',
    cmath: 'printf("%.17g %.17g\\n", pow(2.5, 3.5), hypot(3.0, 4.0)); printf("%.9g", tgamma(5.5) + exp(1.0f));',
  } // prettier-ignore
  return Object.entries(uses).map(([header, statements]) => [
    `<${header}> used`,
    `#include <${header}>\n#include <cstdio>\nusing namespace std;\nint main() { ${statements} }\n`,
  ])
}

/** Texts before the first include, and ways to write it. */
function beginnings(): Example[] {
  const spellings: Readonly<Record<string, string>> = {
    'spaces around': '  #  include   <deque>   ',
    'no space': '#include<deque>',
    tabs: '\t#\tinclude\t<deque>\t',
    'a comment after': '#include <deque> // the queue',
    'a comment within': '#/* a */include/* b */<deque>',
    'words after': '#include <deque> words',
    'a semicolon after': '#include <deque>;',
    'in quotes': '#include "deque"',
    'bits in quotes': '#include "bits/stdc++.h"',
    'a digraph': '%:include <deque>',
    'a trigraph': '??=include <deque>',
    'a line continued in the directive': '#inc\\\nlude <deque>',
    'a line continued before it': '\\\n#include <deque>',
    'import with a hash': '#import <deque>',
    include_next: '#include_next <deque>',
    'a macro for a name': '#define HEADER <deque>\n#include HEADER',
    'a name with a space': '#include <deque >',
    'a name in capitals': '#include <DEQUE>',
    'a path that climbs': '#include <bits/../deque>',
    'an absolute path': '#include </usr/include/c++/12/deque>',
    'a missing header': '#include <no_such_header>',
    'a missing header second': '#include <deque>\n#include <no_such_header>',
    'a byte order mark': '\ufeff#include <deque>',
    'line ends of DOS': '#include <deque>\r',
    'a carriage return alone': '// a\r#include <deque>',
    'a form feed': '\f#include <deque>',
    'empty lines': '\n\n\n#include <deque>',
    'a line comment': '// one\n// two\n#include <deque>',
    'a block comment': '/* one\n * two */ /**/ #include <deque>',
    'a comment that continues': '// one \\\n#include <vector>\n#include <deque>',
    'a comment in another script': '// приклад 例 é\n#include <deque>',
    'a declaration': 'int before;\n#include <deque>',
    'a semicolon before': ';\n#include <deque>',
    'a C header first': '#include <stdio.h>\n#include <deque>',
    'a C++ name of a C header first': '#include <cstdlib>\n#include <deque>',
    'another header first': '#include <vector>\n#include <deque>',
    'the same twice': '#include <deque>\n#include <deque>',
    'bits afterwards': '#include <deque>\n#include <bits/stdc++.h>',
    'a test for the header': '#if __has_include(<deque>)\n#include <deque>\n#endif',
    'a test for another': '#if __has_include(<boost/any.hpp>)\n#error\n#endif\n#include <deque>',
    'a condition that holds': '#if __cplusplus >= 202002L\n#include <deque>\n#endif',
    'a condition that does not': '#if 0\n#include <vector>\n#endif\n#include <deque>',
    'a line number': '#line 100 "other.cpp"\n#include <deque>',
    'a pragma to optimise': '#pragma GCC optimize("O3,unroll-loops")\n#include <deque>',
    'a pragma for the target': '#pragma GCC target("avx2,bmi")\n#include <deque>',
    'a pragma to pack': '#pragma pack(1)\n#include <deque>\nstruct S { char c; int i; };\nint s = sizeof(S);',
    'a pragma that poisons': '#pragma GCC poison printf\n#include <deque>',
    'a pragma for the header': '#pragma GCC system_header\n#include <deque>',
    'a pragma once': '#pragma once\n#include <deque>',
    'a pragma after': '#include <deque>\n#pragma GCC optimize("O3")\n#pragma GCC target("avx2")',
    'a pragma that packs after':
      '#include <deque>\n#pragma pack(push, 1)\nstruct S { char c; int i; };\nstatic_assert(sizeof(S) == 5);\n#pragma pack(pop)',
    'a warning switched off': '#pragma GCC diagnostic ignored "-Wreturn-type"\n#include <deque>\nint f() {}',
    'a warning switched off after': '#include <deque>\n#pragma GCC diagnostic ignored "-Wreturn-type"\nint f() {}',
    'a module': 'import <deque>;',
    'a module of the library': 'import std;',
    'a global fragment': 'module;\n#include <deque>\nexport module m;',
    'no include at all': 'namespace std { template <class T> struct deque { deque(T) {} int size() { return 1; } }; }',
    'an include at the very end': 'namespace {}\n#include <deque>',
    'within a namespace': 'namespace own {\n#include <deque>\n}\nusing namespace own;',
    'an assembler line': '__asm__("# nothing");\n#include <deque>',
  } // prettier-ignore
  const body = 'int main() { return std::deque<int>{6 * 7}.size() - 1; }\n'
  return Object.entries(spellings).map(([name, text]) => [
    `begins with ${name}`,
    `${text}\n${body}`,
  ])
}

/** Macros that the library or the compiler reads. */
function macros(): Example[] {
  const before: Readonly<Record<string, string>> = {
    'debug mode': '_GLIBCXX_DEBUG',
    assertions: '_GLIBCXX_ASSERTIONS',
    fortification: '_FORTIFY_SOURCE 2',
    'the old string': '_GLIBCXX_USE_CXX11_ABI 0',
    NDEBUG: 'NDEBUG',
    'no GNU source': '_POSIX_C_SOURCE 200809L',
    'private made public': 'private public',
    'a keyword': 'int long',
    'a name of the library': 'string wstring',
    'a harmless macro': 'MAXIMUM 100',
    'a reserved name': '_T int',
  }
  const after = ['_GLIBCXX_DEBUG', 'NDEBUG', 'private public', 'int long long', 'printf puts', 'main main'] // prettier-ignore
  const body =
    '#include <vector>\n#include <cassert>\n#include <cstdio>\nsigned main() { std::vector<short> v(3); std::string s(5, 1); v[1] = s.size(); std::printf("%zu", sizeof(s)); assert(v[1] != 5); v[7] = 1; }\n'
  const expressions =
    '__COUNTER__, __COUNTER__, __LINE__, __INCLUDE_LEVEL__, __OPTIMIZE__, __GLIBCXX__, __cpp_lib_string_view, std::source_location::current().line()'
  return [
    ...Object.entries(before).flatMap(([name, macro]): Example[] => [
      [`macro before the include: ${name}`, `#define ${macro}\n#include <string>\n${body}`],
    ]),
    ...after.map((macro): Example => [
      `macro after the include: ${macro}`,
      `#include <string>\n#define ${macro}\n${body}`,
    ]),
    ['a macro undefined before', `#undef __cplusplus\n#include <string>\n${body}`],
    ['a macro undefined after', `#include <string>\n#undef assert\n#undef EOF\n${body}`],
    [
      'a macro used before',
      `int counter = __COUNTER__;\n#include <string>\nint main() { return __COUNTER__ + counter; }\n`,
    ],
    [
      'predefined macros',
      `#include <string>\n#include <cstdio>\n#include <source_location>\nint main() { for (long n : {${expressions}}) std::printf("%ld ", n); std::puts(__FILE__ __BASE_FILE__); std::puts(__PRETTY_FUNCTION__); }\n`,
    ],
  ]
}

/** Programs that use what a header has left behind. */
function librarySpecialities(): Example[] {
  const everything = '#include <bits/stdc++.h>\nusing namespace std;\n'
  const texts: Readonly<Record<string, string>> = {
    'a template instantiated by name': '#include <vector>\ntemplate class std::vector<int>;\nint main() {}',
    'a template instantiated elsewhere':
      '#include <vector>\nextern template class std::vector<int>;\nint main() { return std::vector<int>(3).size() - 3; }',
    'a template of the library specialised':
      '#include <string>\n#include <cstdio>\ntemplate <> struct std::hash<int*> { std::size_t operator()(int*) const { return 9; } };\nint main() { std::printf("%zu", std::hash<int*>{}(nullptr)); }',
    'a function of the library specialised':
      '#include <vector>\n#include <cstdio>\nstruct S { int v; };\ntemplate <> void std::swap<S>(S& a, S& b) noexcept { a.v = b.v = 1; }\nint main() { S a{2}, b{3}; std::swap(a, b); std::printf("%d", a.v + b.v); }',
    'a specialisation after use':
      '#include <string>\nusing namespace std;\nint main() { return hash<string>{}("a") == 1; }\ntemplate <> struct std::hash<string> {};',
    'an operator added to std':
      '#include <iostream>\n#include <vector>\nnamespace std { ostream& operator<<(ostream& o, const vector<int>& v) { for (int x : v) o << x << ","; return o; } }\nint main() { std::cout << std::vector<int>{1, 2} << std::endl; }',
    'a hash added to std':
      '#include <iostream>\n#include <unordered_set>\nstruct P { int x; bool operator==(const P&) const = default; };\nnamespace std { template <> struct hash<P> { size_t operator()(const P& p) const { return p.x; } }; }\nint main() { std::unordered_set<P> s{{1}, {2}}; std::cout << s.size(); }',
    'an ambiguous name': '#include <bits/stdc++.h>\nusing namespace std;\nint count = 0;\nint main() { count++; cout << count; }',
    'a name taken by the library':
      '#include <cmath>\n#include <vector>\nusing namespace std;\nint data[3], y1 = 2;\nint main() { return y1 - 2; }',
    'names that only bits has': '#include <iostream>\nint main() { std::unordered_map<int, int> m; std::cout << m.size(); }',
    'a forgotten algorithm': '#include <iostream>\nint main() { int a[] = {2, 1}; std::sort(a, a + 2); std::cout << a[0]; }',
    'a forgotten C function': '#include <vector>\nint main() { printf("%d", 3); }',
    'a forgotten string': '#include <vector>\nint main() { std::string s; return s.size(); }',
    'a static before the streams':
      '#include <iostream>\nstruct S { S() { std::cout << "early "; } ~S() { std::cout << "late"; } } s;\nint main() { std::cout << "main "; }',
    'new replaced':
      "#include <iostream>\n#include <cstdlib>\nint news;\nvoid* operator new(std::size_t n) { ++news; return std::malloc(n); }\nvoid operator delete(void* p) noexcept { std::free(p); }\nint main() { std::string s(100, 'x'); std::cout << (news > 0); }",
    'type names':
      '#include <map>\n#include <iostream>\n#include <typeindex>\nint main() { std::cout << typeid(std::map<int, std::string>).name() << std::type_index(typeid(int)).name(); }',
    lambdas:
      '#include <functional>\n#include <cstdio>\ntemplate <class F> void call(F f) { std::puts(__PRETTY_FUNCTION__); f(); }\nint main() { call([] { call([] {}); }); }',
    concepts:
      '#include <vector>\n#include <iostream>\n#include <ranges>\ntemplate <std::integral T> T twice(T x) { return 2 * x; }\nint main() { std::cout << twice(4) << std::ranges::range<std::vector<int>>; }',
    coroutines:
      '#include <bits/stdc++.h>\nstruct G { struct promise_type { int v; G get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; } std::suspend_always initial_suspend() { return {}; } std::suspend_always final_suspend() noexcept { return {}; } std::suspend_always yield_value(int x) { v = x; return {}; } void return_void() {} void unhandled_exception() {} }; std::coroutine_handle<promise_type> h; };\nG gen() { for (int i = 0; i < 3; ++i) co_yield i; }\nint main() { auto g = gen(); for (g.h.resume(); !g.h.done(); g.h.resume()) std::cout << g.h.promise().v; g.h.destroy(); }',
    'views and formats of numbers':
      '#include <bits/stdc++.h>\nint main() { for (int x : std::views::iota(1, 9) | std::views::filter([](int n) { return n % 3; }) | std::views::reverse) std::cout << std::hexfloat << x / 7.0 << " "; }',
    'threads and a mutex':
      '#include <iostream>\n#include <vector>\n#include <mutex>\n#include <thread>\nint main() { std::mutex m; long n = 0; { std::vector<std::jthread> v; for (int i = 0; i < 4; ++i) v.emplace_back([&] { std::lock_guard l(m); n += i; }); } std::cout << (n >= 0); }',
    'an exception':
      '#include <iostream>\n#include <stdexcept>\nint main() { try { std::string().at(3); } catch (const std::exception& e) { std::cout << e.what(); } throw 7; }',
    'constant evaluation':
      '#include <algorithm>\n#include <array>\nconsteval int f() { std::array a{3, 1, 2}; std::sort(a.begin(), a.end()); return a[0] * 100 + a[2]; }\nstatic_assert(f() == 103);\nint main() { return f() - 103; }',
    'numbers of the machine':
      '#include <cmath>\n#include <cstdio>\nint main() { double s = 0; for (int i = 1; i < 1000; ++i) s += std::sin(i) / std::sqrt(i); std::printf("%.17g %a", s, s); }',
    'extended integers':
      '#include <iostream>\nint main() { __int128 x = 1; x <<= 100; std::cout << (long)(x >> 90) << std::is_integral_v<__int128>; }',
    'built-in functions':
      '#include <algorithm>\n#include <iostream>\n#include <bit>\nint main() { std::cout << __builtin_popcount(255) << std::popcount(7u) << std::__gcd(12, 18); }',
    'the policy-based tree':
      '#include <iostream>\n#include <ext/pb_ds/assoc_container.hpp>\nusing namespace __gnu_pbds;\nint main() { tree<int, null_type, std::less<int>, rb_tree_tag, tree_order_statistics_node_update> t; t.insert(5); t.insert(2); std::cout << *t.find_by_order(1) << t.order_of_key(5); }',
    intrinsics:
      '#include <iostream>\n#pragma GCC target("avx2")\n#include <immintrin.h>\nint main() { __m256i a = _mm256_set1_epi32(3); std::cout << _mm256_extract_epi32(a, 0); }',
    'optimised by a pragma':
      '#include <iostream>\n#include <iomanip>\n#include <numeric>\n#include <vector>\n#pragma GCC optimize("Ofast,unroll-loops")\nint main() { std::vector<double> v(100, 0.1); std::cout << std::setprecision(17) << std::accumulate(v.begin(), v.end(), 0.0); }',
    'optimised by an attribute':
      '#include <vector>\n#include <cstdio>\n__attribute__((optimize("O3"))) int sum(const std::vector<int>& v) { int s = 0; for (int x : v) s += x; return s; }\nint main() { std::printf("%d", sum({1, 2, 3})); }',
    'statics of a template':
      '#include <string>\n#include <cstdio>\ntemplate <int N> struct S { static std::string s; };\ntemplate <int N> std::string S<N>::s = std::to_string(N);\nint main() { std::printf("%s%s", S<1>::s.c_str(), S<2>::s.c_str()); }',
    'regular expressions':
      everything +
      'int main() { string s = "a1b22"; regex r("[0-9]+"); for (sregex_iterator i(s.begin(), s.end(), r), e; i != e; ++i) cout << i->str(); cout << regex_replace(s, r, "x") << regex_match(s, r); }',
    files:
      everything +
      'int main() { filesystem::path p = "a/b.c"; cout << p.filename() << p.extension() << (p / "d").generic_string() << p.u8string().size() << filesystem::exists(p); for (auto &e : filesystem::recursive_directory_iterator(".")) cout << e.path().wstring().size(); }',
    'wide characters':
      everything +
      'int main() { wstring w = L"wide"; w += L\'x\'; w.insert(1, L"y"); wstringstream s; s << w << 5; wcout << s.str() << stoi(L"7"); u16string a = u"a"; u32string b = U"b"; u8string c = u8"c"; a += u"d"; b += U"e"; c += u8"f"; cout << a.size() + b.size() + c.size(); }',
    'less of optimising afterwards':
      everything +
      '#pragma GCC optimize("O0")\nint main() { map<string, vector<string>> m; string s; while (getline(cin, s)) m[s.substr(0, 1)].push_back(s); for (auto &[k, v] : m) cout << k << v.size() << accumulate(v.begin(), v.end(), string()); filesystem::path p = s; cout << p; }',
    'a specialisation of what is made':
      everything +
      'template <> std::wstring::size_type std::wstring::size() const noexcept { return 7; } int main() { return wstring(L"x").size() - 7; }',
    'functions in an order of its own':
      everything +
      'string late(int); void early(string s) { cout << s + "x" + s; s.replace(0, 1, "y"); } string late(int n) { return n ? late(n - 1) + to_string(n) : string(n, \'c\'); } template <class T> string join(const vector<T> &v) { ostringstream o; for (auto &x : v) o << x; return o.str(); } int main() { early(late(3)); cout << join(vector<string>{"a"}) << join(vector<double>{1.5}); }',
    'types’ names in their order':
      everything +
      'struct B {}; struct C {}; struct R : B, C {}; template <class T> struct Q {}; struct M : Q<int>, Q<long>, less<int>, hash<int> {}; struct N : M, Q<char> {}; void take(const type_info &t) { cout << t.name(); } int main() { try { throw R(); } catch (B &) {} take(typeid(N)); take(typeid(tuple<int, char>)); take(typeid(vector<int>)); any a = vector<int>{1}; any b = pair<int, int>{1, 2}; cout << a.type().name() << any_cast<pair<int, int>>(b).first; }',
    'addresses of constants':
      everything +
      'template <class T> constexpr int own = 3; struct S { static inline int s = rand(); }; int main() { for (const void *p : initializer_list<const void *>{&own<int>, &is_scalar_v<int>, &own<long>, &is_object_v<wchar_t>, &S::s, &ratio<1000000000>::den, &ratio<1, 2629746>::num}) printf("%d", *(const char *)p); }',
  } // prettier-ignore
  return Object.entries(texts)
}

/** Sources that compile with messages, above all those with problems that only the optimiser finds. */
function warnings(): Example[] {
  const bodies: Readonly<Record<string, string>> = {
    'no return': 'int f() {}\nint main() { return 0; }',
    'an overflow': 'int main() { int x = 1 << 40; return x; }',
    'a conversion': 'int main() { char c = 1000; return c; }',
    'a division by zero': 'int main() { int x = 0; return 5 / 0 + x; }',
    'a format': 'int main() { printf("%d %s\\n", 3.5, 4); }',
    'a deprecated function': '[[deprecated("use g")]] void f() {}\nint main() { f(); }',
    'a discarded result': '[[nodiscard]] int f() { return 1; }\nint main() { f(); }',
    'a discarded result of the library': 'int main() { std::deque<int> d; d.empty(); std::launder(&d); }',
    'an address returned': 'int* f() { int x = 1; return &x; }\nint main() { return *f(); }',
    'an array bound': 'int a[3];\nint main() { for (int i = 0; i <= 3; ++i) a[i] = i; return a[5]; }',
    'a freed non-heap object': 'int main() { int x; free(&x); }',
    'a copy too long': 'int main() { char b[4]; strcpy(b, "too long for it"); puts(b); }',
    'a message': '#pragma message "look here"\nint main() {}',
    'a warning directive': '#warning beware\nint main() {}',
    'a macro redefined': '#define EOF 7\nint main() {}',
    'an unknown attribute': '[[unknown::thing]] int main() {}',
    'an unknown pragma': '#pragma unknown\nint main() {}',
    'a strange escape': 'int main() { puts("\\q"); }',
    'a character of many': "int main() { return 'abcd'; }",
    'a throw in a destructor': 'struct S { ~S() { throw 1; } };\nint main() { S s; }',
    'an old cast of a literal': 'int main() { char* s = "literal"; return *s; }',
    'words of the assembler': 'int main() { asm(".print \\"0\\""); }',
    'an empty line of the assembler': 'int main() { asm(".print \\"\\""); }',
    'a NUL in the text': 'int main() { /* \0 */ return 0; } \0',
  } // prettier-ignore
  const headers = '#include <deque>\n#include <cstdio>\n#include <cstring>\n#include <cstdlib>\n'
  return Object.entries(bodies).map(([name, body]) => [`a warning: ${name}`, `${headers}${body}\n`])
}

/** Sources that do not compile: mistakes in the program, in the library because of it, and at the linker. */
function errors(): Example[] {
  const bodies: Readonly<Record<string, string>> = {
    'an unknown name': 'int main() { cuot << 1;  }',
    'a missing brace': 'int main() { if (1) {',
    'no such operator': 'struct S {};\nint main() { std::cout << S(); }',
    'a set of what has no order': 'struct S {};\nint main() { std::set<S> s; s.insert(S()); }',
    'a concept not met': 'int main() { struct S {}; S a[2]; std::ranges::sort(a); }',
    'a static assertion': 'static_assert(sizeof(std::string) == 1, "small");\nint main() {}',
    'endless templates': 'template <int N> struct F { static const int v = F<N + 1>::v; };\nint main() { return F<0>::v; }',
    'an error directive': '#error stop here\nint main() {}',
    'an unfinished condition': '#if 1\nint main() {}',
    'an unfinished comment': 'int main() {} /* and so on',
    'many errors': 'int main() { a; b; c; d; e; f; g; h; i; j; }',
    'no main': 'int f() { return 1; }',
    'an undefined function': 'int f(int);\nint main() { return f(1); }',
    'a symbol twice': 'int printf_ = 1;\nextern "C" int environ = 3;\nint main() {}\nvoid g() __asm__("main");\nvoid g() {}',
    'words of the assembler, then an error': 'int main() { asm(".print \\"0\\"\\n nonsense"); }',
    'bad assembler': 'int main() { asm("nonsense %rax"); }',
    'a bad main': 'void main() {}',
    'a library class redefined': 'namespace std { class string {}; }\nint main() {}',
    'a constant expression':
      'constexpr int f(int n) { std::string s(n, 1); return s.at(5); }\nconstexpr int x = f(2);\nint main() {}',
    'a warning, then an error': 'int f() {}\nint main() { return nothing; }',
  } // prettier-ignore
  const declaredIn: Readonly<Record<string, string>> = {
    'ranges::sort': 'algorithm',
    cout: 'iostream',
    set: 'set',
  }
  return Object.entries(bodies).map(([name, body]) => {
    const includes = Object.entries(declaredIn)
      .filter(([word]) => body.includes(`std::${word}`))
      .map(([, header]) => header)
    const lines = [...includes, 'string'].map((header) => `#include <${header}>\n`)
    return [`an error: ${name}`, `${lines.join('')}${body}\n`]
  })
}

function strangeTexts(): Example[] {
  return [
    ['nothing', ''],
    ['a new line', '\n'],
    ['an include and nothing else', '#include <iostream>\n'],
    ['an include without a line end', '#include <iostream>'],
    ['a comment that does not end', '/* #include <iostream>\nint main() {}'],
    ['binary', '\u0000\u0001\u0002#include <iostream>'],
    ['not UTF-8', Buffer.from(`// \xff\xfe\n#include <iostream>\n${hello}`, 'latin1')],
    [
      'identifiers in Unicode',
      '#include <iostream>\nint größe = 3;\nint main() { std::cout << größe << "ü"; }\n',
    ],
    [
      'text that runs the other way',
      '#include <iostream>\nint main() { /*\u202e } \u2066*/ std::cout << 1; }\n',
    ],
    [
      'an include of itself',
      '#include <iostream>\n#ifndef ONCE\n#define ONCE\n#include "main.cpp"\n#endif\ninline int f() { return 1; }\n#if __INCLUDE_LEVEL__ == 0\nint main() { return f() - 1; }\n#endif\n',
    ],
    ['an include of the binary', '#include <vector>\n#include "main"\nint main() {}\n'],
    [
      'a test for the binary',
      '#include <vector>\n#if __has_include("main") || __has_include("/box/main")\nint main() { return 5; }\n#else\nint main() { return 6; }\n#endif\n',
    ],
    ['a long line', `#include <vector>\nint main() { return 0${' + 0'.repeat(1000)}; }\n`],
    [
      'hundreds of functions',
      `#include <string>\n${Array.from({ length: 300 }, (_, n) => `int f${n}() { return ${n}; }`).join('\n')}\nint main() { return f7() - 7; }\n`,
    ],
    [
      'a raw string before main',
      '#include <iostream>\nconst char* s = R"x(\n#include <vector>\n)x";\nint main() { std::cout << s; }\n',
    ],
    [
      'an include in the middle',
      '#include <iostream>\nint main() { std::cout <<\n#include <vector>\n1; }\n',
    ],
  ]
}
