// Attacks through g++: what a source can make it read, compute, hold and print. A source that compiles is run, and its
// output must not hold the secret either.
import { compile } from '../attack.ts'
import type { Attack, Fate } from '../attack.ts'

const raw = String.raw
const limits: readonly Fate[] = ['cpu_limit', 'wall_limit', 'memory_limit', 'output_limit']
const stopped: readonly Fate[] = [...limits, 'crashed', 'signaled']
const refused: readonly Fate[] = ['crashed']
const main = '\n#include <cstdio>\nint main() { puts("held"); }'

/** Makes one row from a C++ source. */
const cpp = (name: string, fates: readonly Fate[], source: string, stdin = ''): Attack =>
  compile(name, fates, { cpp: source }, { stdin })

/** A program that prints the bytes that the assembler was made to include. */
const include = (path: string): string => raw`
#include <cstdio>
__asm__(".section .rodata\nstart_: .incbin \"${path}\"\nend_: .byte 0\n.text\n");
extern const char start_[] __asm__("start_"), end_[] __asm__("end_");
int main() { fwrite(start_, 1, end_ - start_, stdout); puts("\nheld"); }`

export const cppCompileAttacks: readonly Attack[] = [
  cpp('including an endless file ends', stopped, '#include "/dev/zero"' + main),
  cpp('including random bytes ends', stopped, '#include "/dev/urandom"' + main),
  cpp('including the random device ends', stopped, '#include "/dev/random"' + main),
  cpp(
    'including standard input ends',
    [...stopped, 'exited'],
    '#include "/dev/stdin"' + main,
    'int x;',
  ),
  cpp('including a terminal ends', stopped, '#include "/dev/tty"' + main),
  cpp('including the pipe of its own output ends', stopped, '#include "/dev/stdout"' + main),
  cpp('a file that includes itself ends', stopped, '#include __FILE__'),
  cpp(
    'a file that includes itself twice ends',
    stopped,
    '#ifndef N\n#define N 0\n#endif\n#if __INCLUDE_LEVEL__ < 180\n#include __FILE__\n#include __FILE__\n#endif',
  ),
  cpp(
    "the first process's environment holds nothing to include",
    ['crashed', 'exited'],
    '#include "/proc/1/environ"' + main,
  ),
  cpp(
    "the compiler's environment holds nothing to include",
    ['crashed', 'exited'],
    '#include "/proc/self/environ"' + main,
  ),
  cpp("the host's passwords cannot be included", refused, '#include "/etc/shadow"' + main),
  cpp("the host's accounts cannot be included", refused, '#include "/etc/debian_version"' + main),
  cpp("files of the host's cannot be included", refused, '#include "@FILE@"' + main),
  cpp(
    "files of the host's cannot be reached upwards",
    refused,
    '#include "../../../../../..@FILE@"' + main,
  ),
  cpp(
    "files cannot be reached through another process's root",
    refused,
    '#include "/proc/1/root@FILE@"' + main,
  ),
  cpp('the kernel’s memory cannot be included', stopped, '#include "/proc/kcore"' + main),
  cpp('the assembler includes no passwords', refused, include('/etc/shadow')),
  cpp("the assembler includes no file of the host's", refused, include('@FILE@')),
  cpp(
    'the assembler includes an environment without secrets',
    ['exited', 'crashed'],
    include('/proc/self/environ'),
  ),
  cpp(
    "the assembler includes the first process's environment without secrets",
    ['exited', 'crashed'],
    include('/proc/1/environ'),
  ),
  cpp('the assembler includes an endless file and ends', stopped, include('/dev/zero')),
  cpp(
    "the assembler's own include reads nothing of the host's",
    refused,
    '__asm__(".include \\"@FILE@\\"");' + main,
  ),
  cpp(
    'a line marker shows no source of the host’s',
    refused,
    '#line 1 "@FILE@"\nint main() { return undeclared; }',
  ),
  cpp(
    'a line marker shows no source of the environment’s',
    refused,
    '#line 1 "/proc/1/environ"\nint main() { return undeclared; }',
  ),
  cpp(
    'a dependency pragma reads nothing',
    ['crashed', 'exited'],
    '#pragma GCC dependency "@FILE@"' + main,
  ),
  cpp(
    'a precompiled header pragma reads nothing',
    ['crashed', 'exited'],
    '#pragma GCC pch_preprocess "@FILE@"' + main,
  ),
  cpp(
    'an option in an attribute loads no plugin',
    ['crashed', 'exited'],
    '#pragma GCC optimize("-fplugin=/tmp/evil.so")\n__attribute__((optimize("fplugin=/box/x"))) int f() { return 1; }' +
      main,
  ),
  cpp('an import reads nothing', refused, 'import "@FILE@";' + main),
  cpp(
    'an embed reads nothing',
    ['crashed', 'exited'],
    '#if defined __has_embed\nconst char text[] = {\n#embed "@FILE@"\n};\n#endif' + main,
  ),
  cpp(
    'a sweep by __has_include finds nothing',
    ['exited'],
    [
      '/etc/shadow',
      '/etc/debian_version',
      '/root/.ssh/id_rsa',
      '/var/log/syslog',
      '/home',
      '@FILE@',
      '@VAR_FILE@',
      '/sys/kernel/uevent_helper',
      '/proc/@WORKER_PID@/environ',
      '/run/docker.sock',
    ]
      .map((path) => `#if __has_include("${path}")\n#error ESCAPED ${path}\n#endif`)
      .join('\n') + main,
  ),
  cpp(
    'endless templates end',
    stopped,
    'template <int N> struct A { using type = typename A<N + 1>::type; }; A<0>::type x;' + main,
  ),
  cpp(
    'templates that double end',
    stopped,
    'template <int N, class... T> struct A : A<N - 1, T..., int>, A<N - 1, T..., long> {}; template <class... T> struct A<0, T...> {}; A<28> a;' +
      main,
  ),
  cpp(
    'endless growth of a type ends',
    stopped,
    'template <class T> struct A { A<A<T>> *next; static const int n = sizeof(A<A<T>>::n); }; int x = A<int>::n;' +
      main,
  ),
  cpp(
    'an endless constant expression ends',
    stopped,
    'constexpr long f(long n) { long s = 0; for (long i = 0; i < n; i++) for (long k = 0; k < n; k++) s += i ^ k; return s; }\nstatic_assert(f(1l << 40) != 1);' +
      main,
  ),
  cpp(
    'constant expressions that hold memory end',
    stopped,
    '#include <vector>\nconstexpr long f() { std::vector<long> held; for (;;) held.push_back(1); }\nstatic_assert(f());' +
      main,
  ),
  cpp(
    'a macro that doubles ends',
    stopped,
    Array.from({ length: 40 }, (_, i) => `#define M${i + 1} M${i} M${i}`).join('\n') +
      '\n#define M0 int x;\nM40' +
      main,
  ),
  cpp('an array of a gigabyte ends', stopped, 'int held[1 << 28] = {1};' + main),
  cpp(
    'a gigabyte from the assembler ends',
    stopped,
    '__asm__(".data\\n.rept 1000000000\\n.quad 1\\n.endr");' + main,
  ),
  cpp('a terabyte of zeros ends', stopped, '__asm__(".data\\n.zero 1000000000000");' + main),
  cpp(
    'an assembler macro that calls itself ends',
    stopped,
    '__asm__(".macro m\\nm\\nm\\n.endm\\nm");' + main,
  ),
  cpp(
    'a flood of messages ends',
    stopped,
    Array.from({ length: 16 }, (_, i) => `#define E${i + 1} E${i} E${i}`).join('\n') +
      '\n#define E0 static_assert(sizeof(T) == 0, "a message that goes on and on and on and on and on and on");\ntemplate <class T> void f() { E16 }\nint main() { f<int>(); f<long>(); f<char>(); }',
  ),
  cpp(
    'a flood of warnings ends',
    [...stopped, 'exited'],
    '#define W _Pragma("GCC warning \\"a warning that goes on\\"")\n' +
      'W W W W W W W W\n'.repeat(3000) +
      main,
  ),
  cpp(
    'brackets 20,000 deep end',
    [...stopped, 'exited'],
    'int x = ' + '('.repeat(20_000) + '1' + ')'.repeat(20_000) + ';' + main,
  ),
  cpp(
    'braces 20,000 deep end',
    [...stopped, 'exited'],
    'void f() ' + '{'.repeat(20_000) + '}'.repeat(20_000) + main,
  ),
  cpp(
    'declarators 15,000 deep end',
    [...stopped, 'exited'],
    'int ' + '*'.repeat(15_000) + 'x;' + main,
  ),
  cpp('a name of 60,000 letters ends', [...stopped, 'exited'], `int ${'x'.repeat(60_000)};` + main),
  cpp('a raw string that never ends ends', refused, 'const char *s = R"x(' + 'y'.repeat(30_000)),
  cpp(
    'NUL bytes and broken characters end',
    [...stopped, 'exited'],
    'int \0 x\u00a0 = "\\u202e\u202e";' + main,
  ),
  cpp(
    'cases without number end',
    [...stopped, 'exited'],
    'int f(int x) { switch (x) { case 0 ... 0x7ffffffe: return 1; } return 0; }' + main,
  ),
  cpp(
    'a concept that asks itself ends',
    refused,
    'template <class T> concept C = requires(T t) { requires C<T*>; }; static_assert(C<int>);' +
      main,
  ),
  cpp(
    'overloads that multiply end',
    stopped,
    '#include <functional>\nauto f = [](auto g) { return g(g); };\nint main() { return f([](auto g) -> decltype(auto) { return g(g); }); }',
  ),
  cpp(
    'a fold over a million types ends',
    stopped,
    '#include <utility>\ntemplate <std::size_t... I> constexpr int f(std::index_sequence<I...>) { return (... + (int)I); }\ntemplate <int N> struct B { static constexpr int v = f(std::make_index_sequence<N * 4000>()) + B<N - 1>::v; }; template <> struct B<0> { static constexpr int v = 0; }; int x = B<900>::v;' +
      main,
  ),
  cpp(
    'sections of the linker’s choosing end',
    [...stopped, 'exited'],
    '__asm__(".section .gnu.warning.puts\\n.string \\"warned\\"\\n.text");\n__asm__(".section .interp\\n.string \\"/etc/shadow\\"\\n.text");' +
      main,
  ),
  cpp(
    'a program without an end of symbols ends',
    [...stopped, 'exited'],
    '__asm__(".altmacro\\n.macro s n\\n.globl sym\\\\n\\nsym\\\\n:\\n.endm\\n.set i,0\\n.rept 400000\\ns %i\\n.set i,i+1\\n.endr");' +
      main,
  ),
  cpp('a program with no main ends', refused, 'int x;'),
]
