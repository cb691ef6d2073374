// Attacks through further compilers, in one table: includes, pragmas, macros that compute, options in sources, and files
// that the linker and the assembler read. The run phase of such programs is covered by c.ts and similar files.
import { assembly } from './assembly.ts'
import { attackSources, exhausts, onePath, shows, showsNone } from './language.ts'
import type { HostileLanguage } from './language.ts'

const raw = String.raw

const clangppMain = '\n#include <cstdio>\nint main() { puts("held"); }'

const clangpp = attackSources('clangpp', [
  shows('an include shows no file', (path) => `#include "${path}"${clangppMain}`),
  showsNone(
    'an embed shows no file',
    (path) => `const char text[] = {\n#embed "${path}"\n};${clangppMain}`,
  ),
  showsNone(
    'an import shows no file',
    (path) => `#pragma clang module import "${path}"\nimport "${path}";${clangppMain}`,
  ),
  showsNone(
    'a pragma for libraries shows no file',
    (path) => `#pragma comment(lib, "${path}")${clangppMain}`,
  ),
  exhausts(
    'templates that double end',
    `template <int N, class... T> struct A : A<N - 1, T..., int>, A<N - 1, T..., long> {}; template <class... T> struct A<0, T...> {}; A<28> a;${clangppMain}`,
  ),
  exhausts(
    'a constant of many small steps ends',
    `constexpr int f(int n) { return n < 2 ? 1 : f(n - 1) + f(n - 2); }\ntemplate <int N> struct B { static constexpr int v = f(21 + N % 2) + B<N - 1>::v; }; template <> struct B<0> { static constexpr int v = 0; }; static_assert(B<900>::v);${clangppMain}`,
  ),
])

const ada = attackSources('ada', [
  showsNone(
    'a pragma for the linker shows no file',
    (path) =>
      `procedure Main is\n   pragma Linker_Options ("${path}");\n   pragma Linker_Options ("-Wl,@${path}");\nbegin\n   null;\nend Main;`,
    onePath,
  ),
  shows(
    'an include of its assembler shows no file',
    (path) => raw`with System.Machine_Code; use System.Machine_Code;
with System; with Interfaces.C;
procedure Main is
   function Write (File : Interfaces.C.int; From : System.Address; Size : Interfaces.C.size_t) return Interfaces.C.long with Import, Convention => C, External_Name => "write";
   First : Character with Import, External_Name => "start_";
   Last : Interfaces.C.long;
begin
   Asm (".pushsection .rodata; .globl start_; start_: .incbin ""${path}""; .byte 10, 104, 101, 108, 100, 10; .zero 4096; .popsection", Volatile => True);
   Last := Write (1, First'Address, 600);
end Main;`,
    onePath,
  ),
  showsNone(
    'a source reference shows no file',
    (path) =>
      `pragma Source_Reference (1, "${path}");\nprocedure Main is begin undeclared; end Main;`,
  ),
  showsNone(
    'a file of its configuration shows no file',
    (path) =>
      `pragma Source_File_Name (X, Spec_File_Name => "${path}");\nwith X;\nprocedure Main is begin null; end Main;`,
  ),
  exhausts(
    'generics that grow without end end',
    `procedure Main is\n   generic N : Integer; procedure P;\n   procedure P is procedure Q is new P (N + 1); begin Q; end P;\n   procedure R is new P (0);\nbegin R; end Main;`,
  ),
  exhausts(
    'a constant of a billion digits ends',
    `procedure Main is\n   X : constant := 2 ** (2 ** 34);\nbegin\n   if X > 1 then null; end if;\nend Main;`,
    ['exited'],
  ),
])

const fortran = attackSources('fortran', [
  shows('an include shows no file', (path) => `include '${path}'\nprint '(a)', 'held'\nend`),
  showsNone('a line marker shows no file', (path) => `# 1 "${path}"\nundeclared\nend`),
  showsNone(
    'a module at a path shows no file',
    (path) => `use, intrinsic :: secret\n!GCC$ attributes ${path} :: x\nprint '(a)', 'held'\nend`,
  ),
  exhausts('an include of itself ends', "include 'main.f90'\ninclude 'main.f90'\nend"),
  exhausts(
    'an array of constants without end ends',
    'integer, parameter :: x(200000000) = [(i, i = 1, 200000000)]\nprint *, sum(x)\nend',
  ),
])

const cobol = attackSources('cobol', [
  shows(
    'a copy shows no file',
    (path) =>
      `identification division.\nprogram-id. main.\nprocedure division.\ncopy "${path}".\ndisplay "held".\nstop run.`,
  ),
  showsNone(
    'an include of C shows no file',
    (path) =>
      `>>SOURCE FORMAT FREE\n>>SET CONSTANT X "${path}"\n>>IMP INCLUDE "${path}"\nidentification division.\nprogram-id. main.\nprocedure division.\ndisplay "held".\nstop run.`,
    onePath,
  ),
  exhausts(
    'a copy of itself ends',
    'identification division.\nprogram-id. main.\nprocedure division.\ncopy "main.cob".\ncopy "main.cob".',
  ),
  exhausts(
    'a table of gigabytes ends',
    'identification division.\nprogram-id. main.\ndata division.\nworking-storage section.\n01 t.\n 02 a occurs 100000000 times.\n  03 b pic x(1000) value "x".\nprocedure division.\ndisplay b(1).\nstop run.',
    ['exited'],
  ),
])

const crystal = attackSources('crystal', [
  shows(
    'a macro that reads shows no file',
    (path) => `puts {{ read_file?("${path}") || "none" }}\nputs "held"`,
    onePath,
  ),
  shows(
    'a macro that starts a program shows no file',
    (path) =>
      raw`puts {{ system("cat ${path} /proc/1/environ 2>&1; env; id; true").stringify }}` +
      '\nputs "held"',
    onePath,
  ),
  shows(
    'options for the linker show no file',
    (path) =>
      `@[Link(ldflags: "\`cat ${path} >&2; echo\`")]\nlib L\n  fun getpid : Int32\nend\nputs L.getpid\nputs "held"`,
    onePath,
  ),
  showsNone('a require shows no file', (path) => `require "${path}"\nputs "held"`, onePath),
  exhausts(
    'a program that a macro starts ends',
    raw`{{ system("(setsid sleep 600 >/dev/null 2>&1 &); while :; do :; done") }}`,
  ),
  exhausts('a macro without end ends', `macro m(n)\n  m({{n}} + 1)\n  m({{n}} + 2)\nend\nm(1)`),
])

const objectivec = attackSources('objectivec', [
  shows('an import shows no file', (path) => `#import "${path}"\nint main(void) { puts("held"); }`),
  shows(
    'an include of its assembler shows no file',
    (path) =>
      raw`#include <unistd.h>
#include <string.h>
extern const char start_[];
__asm__(".pushsection .rodata; .globl start_; start_: .incbin \"${path}\"; .zero 4096; .popsection");
int main(void) { write(1, start_, 600); write(1, "\nheld\n", 6); }`,
    onePath,
  ),
  shows(
    'a string of a file, a task and a bundle show no file',
    (path) =>
      raw`#import <Foundation/Foundation.h>
int main(void) {
  @autoreleasepool {
    puts([[NSString stringWithContentsOfFile: @"${path}" encoding: NSISOLatin1StringEncoding error: NULL] UTF8String] ?: "none");
    @try {
      NSTask *task = [NSTask launchedTaskWithLaunchPath: @"/usr/bin/cat" arguments: [NSArray arrayWithObject: @"${path}"]];
      [task waitUntilExit];
      [[NSBundle bundleWithPath: @"${path}"] load];
    } @catch (NSException *refused) { }
    puts("held");
  }
}`,
    onePath,
  ),
  exhausts('an include of itself ends', '#include "main.m"\n#include "main.m"'),
])

const vala = attackSources('vala', [
  shows(
    'a header that it names shows no file',
    (path) =>
      `[CCode (cheader_filename = "${path}", cname = "x")]\nextern int x;\nvoid main() { print("%d held\\n", x); }`,
    onePath,
  ),
  showsNone(
    'a resource shows no file',
    (path) =>
      `[GtkTemplate (ui = "${path}")]\nclass A : GLib.Object { }\nvoid main() { print("held\\n"); }`,
    onePath,
  ),
  exhausts(
    'types that double end',
    `class A<T> { public A<A<T>> n; }\nvoid main() { var a = new A<int>(); a.n${'.n'.repeat(3000)} = null; print("held\\n"); }`,
    ['exited'],
  ),
])

const verilog = attackSources('verilog', [
  showsNone(
    'an include shows no file',
    (path) => `\`include "${path}"\nmodule main; initial $display("held"); endmodule`,
  ),
  shows(
    'memory read from a file shows none',
    (path) =>
      `module main; integer f, c; reg [7:0] m [0:9]; initial begin f = $fopen("${path}", "r"); if (f) begin c = $fgetc(f); while (c >= 0) begin $write("%c", c); c = $fgetc(f); end end $display("\\nheld"); $readmemh("${path}", m); end endmodule`,
  ),
  showsNone(
    'a task of the system starts nothing',
    (path) => `module main; initial begin $system("cat ${path}"); $display("held"); end endmodule`,
    onePath,
  ),
  exhausts('an include of itself ends', '`include "main.v"\n`include "main.v"'),
  exhausts(
    'instances that double end',
    `${Array.from({ length: 40 }, (_, i) => `module m${i}; m${i + 1} a(); m${i + 1} b(); endmodule`).join('\n')}\nmodule m40; endmodule`,
  ),
  exhausts(
    'a memory of gigabytes ends',
    'module main; reg [1000000000:0] x [0:100000]; initial x[5] = 1; endmodule',
    ['exited'],
  ),
])

const gprolog = attackSources('gprolog', [
  showsNone(
    'an include shows no file',
    (path) => `:- include('${path}').\n:- initialization((write(held), nl)).`,
  ),
  exhausts('an include of itself ends', ":- include('main.pl').\n:- include('main.pl')."),
])

const chicken = attackSources('chicken', [
  shows(
    'a macro shows no file as it expands',
    (path) =>
      `(import-for-syntax (scheme) (chicken io) (chicken base))\n(define-syntax m (er-macro-transformer (lambda (x r c) (call-with-input-file "${path}" (lambda (p) (read-string 4096 p))))))\n(display (m))\n(newline)\n(display "held")\n(newline)`,
  ),
  showsNone('an include shows no file', (path) => `(include "${path}")\n(display "held")`),
  shows(
    'C that it is given shows no file',
    (path) =>
      `(import (chicken foreign))\n(foreign-declare "#include \\"${path}\\"")\n(display "held")\n(newline)`,
    onePath,
  ),
  exhausts(
    'a macro without end ends',
    '(define-syntax m (syntax-rules () ((_ x ...) (m x ... x ...))))\n(m 1 2)',
  ),
])

const icon = attackSources('icon', [
  shows(
    'an include shows no file',
    (path) => `$include "${path}"\nprocedure main()\n  write("held")\nend`,
  ),
  showsNone(
    'a link shows no file',
    (path) => `link "${path}"\nprocedure main()\n  write("held")\nend`,
  ),
  exhausts('an include of itself ends', '$include "main.icn"\n$include "main.icn"'),
])

const standardml = attackSources('standardml', [
  shows(
    'what runs as it is compiled shows no file',
    (path) =>
      `val _ = (let val f = TextIO.openIn "${path}" in print (TextIO.inputAll f) end) handle _ => ();\nval () = print "\\nheld\\n";`,
  ),
  shows('a use shows no file', (path) => `use "${path}";\nval () = print "held\\n";`),
  exhausts('what runs as it is compiled ends', 'fun f n = f (n + 1);\nval _ = f 0;'),
  exhausts(
    'types that double end',
    `fun f x = (x, x);\n${Array.from({ length: 40 }, (_, i) => `val x${i} = fn y => ${i ? `x${i - 1} (x${i - 1} y)` : 'f (f y)'};`).join('\n')}`,
    ['exited'],
  ),
])

export const compiledLanguages: readonly HostileLanguage[] = [
  assembly,
  clangpp,
  ada,
  fortran,
  cobol,
  crystal,
  objectivec,
  vala,
  verilog,
  gprolog,
  chicken,
  icon,
  standardml,
]
