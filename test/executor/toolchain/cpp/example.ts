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
    'a comment after': '#include <deque> // the queue',
    'a comment within': '#/* a */include/* b */<deque>',
    'in quotes': '#include "deque"',
    'bits in quotes': '#include "bits/stdc++.h"',
    'a trigraph': '??=include <deque>',
    'a line continued in the directive': '#inc\\\nlude <deque>',
    'import with a hash': '#import <deque>',
    'a macro for a name': '#define HEADER <deque>\n#include HEADER',
    'a path that climbs': '#include <bits/../deque>',
    'a missing header': '#include <no_such_header>',
    'a byte order mark': '\ufeff#include <deque>',
    'line ends of DOS': '#include <deque>\r',
    'a carriage return alone': '// a\r#include <deque>',
    'empty lines': '\n\n\n#include <deque>',
    'a line comment': '// one\n// two\n#include <deque>',
    'a block comment': '/* one\n * two */ /**/ #include <deque>',
    'a declaration': 'int before;\n#include <deque>',
    'a C header first': '#include <stdio.h>\n#include <deque>',
    'another header first': '#include <vector>\n#include <deque>',
    'the same twice': '#include <deque>\n#include <deque>',
    'bits afterwards': '#include <deque>\n#include <bits/stdc++.h>',
    'a test for the header': '#if __has_include(<deque>)\n#include <deque>\n#endif',
    'a condition that holds': '#if __cplusplus >= 202002L\n#include <deque>\n#endif',
    'a condition that does not': '#if 0\n#include <vector>\n#endif\n#include <deque>',
    'a line number': '#line 100 "other.cpp"\n#include <deque>',
    'a pragma to optimise': '#pragma GCC optimize("O3,unroll-loops")\n#include <deque>',
    'a pragma for the target': '#pragma GCC target("avx2,bmi")\n#include <deque>',
    'a pragma to pack': '#pragma pack(1)\n#include <deque>\nstruct S { char c; int i; };\nint s = sizeof(S);',
    'a pragma for the header': '#pragma GCC system_header\n#include <deque>',
    'a pragma after': '#include <deque>\n#pragma GCC optimize("O3")\n#pragma GCC target("avx2")',
    'a pragma that packs after':
      '#include <deque>\n#pragma pack(push, 1)\nstruct S { char c; int i; };\nstatic_assert(sizeof(S) == 5);\n#pragma pack(pop)',
    'a warning switched off': '#pragma GCC diagnostic ignored "-Wreturn-type"\n#include <deque>\nint f() {}',
    'a module': 'import <deque>;',
    'a global fragment': 'module;\n#include <deque>\nexport module m;',
    'no include at all': 'namespace std { template <class T> struct deque { deque(T) {} int size() { return 1; } }; }',
    'within a namespace': 'namespace own {\n#include <deque>\n}\nusing namespace own;',
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
    fortification: '_FORTIFY_SOURCE 2',
    'the old string': '_GLIBCXX_USE_CXX11_ABI 0',
    'no GNU source': '_POSIX_C_SOURCE 200809L',
    'private made public': 'private public',
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
  const texts: Readonly<Record<string, string>> = {
    'a template instantiated by name': '#include <vector>\ntemplate class std::vector<int>;\nint main() {}',
    'a template of the library specialised':
      '#include <string>\n#include <cstdio>\ntemplate <> struct std::hash<int*> { std::size_t operator()(int*) const { return 9; } };\nint main() { std::printf("%zu", std::hash<int*>{}(nullptr)); }',
    'an ambiguous name': '#include <bits/stdc++.h>\nusing namespace std;\nint count = 0;\nint main() { count++; cout << count; }',
    'names that only bits has': '#include <iostream>\nint main() { std::unordered_map<int, int> m; std::cout << m.size(); }',
    'a forgotten C function': '#include <vector>\nint main() { printf("%d", 3); }',
    'a static before the streams':
      '#include <iostream>\nstruct S { S() { std::cout << "early "; } ~S() { std::cout << "late"; } } s;\nint main() { std::cout << "main "; }',
    'new replaced':
      "#include <iostream>\n#include <cstdlib>\nint news;\nvoid* operator new(std::size_t n) { ++news; return std::malloc(n); }\nvoid operator delete(void* p) noexcept { std::free(p); }\nint main() { std::string s(100, 'x'); std::cout << (news > 0); }",
    'type names':
      '#include <map>\n#include <iostream>\n#include <typeindex>\nint main() { std::cout << typeid(std::map<int, std::string>).name() << std::type_index(typeid(int)).name(); }',
    coroutines:
      '#include <bits/stdc++.h>\nstruct G { struct promise_type { int v; G get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; } std::suspend_always initial_suspend() { return {}; } std::suspend_always final_suspend() noexcept { return {}; } std::suspend_always yield_value(int x) { v = x; return {}; } void return_void() {} void unhandled_exception() {} }; std::coroutine_handle<promise_type> h; };\nG gen() { for (int i = 0; i < 3; ++i) co_yield i; }\nint main() { auto g = gen(); for (g.h.resume(); !g.h.done(); g.h.resume()) std::cout << g.h.promise().v; g.h.destroy(); }',
    'the policy-based tree':
      '#include <iostream>\n#include <ext/pb_ds/assoc_container.hpp>\nusing namespace __gnu_pbds;\nint main() { tree<int, null_type, std::less<int>, rb_tree_tag, tree_order_statistics_node_update> t; t.insert(5); t.insert(2); std::cout << *t.find_by_order(1) << t.order_of_key(5); }',
    intrinsics:
      '#include <iostream>\n#pragma GCC target("avx2")\n#include <immintrin.h>\nint main() { __m256i a = _mm256_set1_epi32(3); std::cout << _mm256_extract_epi32(a, 0); }',
    'optimised by a pragma':
      '#include <iostream>\n#include <iomanip>\n#include <numeric>\n#include <vector>\n#pragma GCC optimize("Ofast,unroll-loops")\nint main() { std::vector<double> v(100, 0.1); std::cout << std::setprecision(17) << std::accumulate(v.begin(), v.end(), 0.0); }',
  } // prettier-ignore
  return Object.entries(texts)
}

/** Sources that compile with messages, above all those with problems that only the optimiser finds. */
function warnings(): Example[] {
  const bodies: Readonly<Record<string, string>> = {
    'no return': 'int f() {}\nint main() { return 0; }',
    'a format': 'int main() { printf("%d %s\\n", 3.5, 4); }',
    'a deprecated function': '[[deprecated("use g")]] void f() {}\nint main() { f(); }',
    'a discarded result of the library': 'int main() { std::deque<int> d; d.empty(); std::launder(&d); }',
    'an array bound': 'int a[3];\nint main() { for (int i = 0; i <= 3; ++i) a[i] = i; return a[5]; }',
    'a copy too long': 'int main() { char b[4]; strcpy(b, "too long for it"); puts(b); }',
    'a warning directive': '#warning beware\nint main() {}',
    'a macro redefined': '#define EOF 7\nint main() {}',
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
    'a concept not met': 'int main() { struct S {}; S a[2]; std::ranges::sort(a); }',
    'endless templates': 'template <int N> struct F { static const int v = F<N + 1>::v; };\nint main() { return F<0>::v; }',
    'an error directive': '#error stop here\nint main() {}',
    'an unfinished condition': '#if 1\nint main() {}',
    'no main': 'int f() { return 1; }',
    'an undefined function': 'int f(int);\nint main() { return f(1); }',
    'words of the assembler, then an error': 'int main() { asm(".print \\"0\\"\\n nonsense"); }',
    'a warning, then an error': 'int f() {}\nint main() { return nothing; }',
  } // prettier-ignore
  const headers = '#include <algorithm>\n#include <string>\n'
  return Object.entries(bodies).map(([name, body]) => [`an error: ${name}`, `${headers}${body}\n`])
}

function strangeTexts(): Example[] {
  return [
    ['an include and nothing else', '#include <iostream>\n'],
    ['an include without a line end', '#include <iostream>'],
    ['a comment that does not end', '/* #include <iostream>\nint main() {}'],
    ['not UTF-8', Buffer.from(`// \xff\xfe\n#include <iostream>\n${hello}`, 'latin1')],
    [
      'identifiers in Unicode',
      '#include <iostream>\nint größe = 3;\nint main() { std::cout << größe << "ü"; }\n',
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
    [
      'a raw string before main',
      '#include <iostream>\nconst char* s = R"x(\n#include <vector>\n)x";\nint main() { std::cout << s; }\n',
    ],
  ]
}
