// Attacks in D, and through LDC, which runs functions at compile time.
import { aims, exhausts, shows, showsNone } from './language.ts'
import type { HostileLanguage } from './language.ts'
import { everyWay } from './ways.ts'

const raw = String.raw

const program = raw`
import core.stdc.errno, core.sys.posix.unistd, core.thread, std.algorithm, std.file, std.stdio, std.string;
extern (C) long syscall(long, ...);
immutable host = [${aims.hostFiles}];
immutable own = [${aims.boxFiles}];
immutable long[] rows = [${aims.calls}];
immutable int[] policy = [${aims.errors}];
ubyte[][] held;
void rest() { for (;;) pause(); }
int main() {
  if (exists("/etc/debian_version")) { writeln("ESCAPED there is no box"); return 1; }
  auto block = new ubyte[1 << 20];
  switch (readln().strip) {
  case "files":
    foreach (path; host) try { auto file = File(path); writeln("ESCAPED ", path); } catch (Exception refused) {}
    foreach (path; own) try { auto file = File(path); foreach (chunk; file.byChunk(4096)) stdout.rawWrite(chunk); writeln; } catch (Exception refused) {}
    break;
  case "calls":
    for (size_t i = 0; i < rows.length; i += 7) {
      errno = 0;
      auto result = syscall(rows[i], rows[i + 1], rows[i + 2], rows[i + 3], rows[i + 4], rows[i + 5], rows[i + 6]);
      if (result != -1) writeln("ESCAPED call ", rows[i], ": ", result);
      else if (!policy.canFind(errno)) writeln("UNSURE call ", rows[i], ": ", errno);
    }
    break;
  case "daemon":
    if (fork() == 0) { setsid(); if (fork() > 0) _exit(0); for (;;) sleep(600); }
    usleep(50_000);
    break;
  case "disk":
    auto file = File("/tmp/fill", "wb");
    file.setvbuf(0, _IONBF);
    long written = 0;
    try while (written < 64 << 20) { file.rawWrite(block); written += block.length; } catch (Exception full) {}
    if (written > 32 << 20) writeln("ESCAPED the disk");
    break;
  case "output": for (;;) stdout.rawWrite(block);
  case "memory": for (;;) { auto one = new ubyte[1 << 20]; one[] = 1; held ~= one; }
  case "processes": for (;;) fork();
  case "threads": for (;;) try new Thread(&rest, 65536).start(); catch (Throwable full) {}
  default: return 9;
  }
  writeln("held");
  return 0;
}`

const main = '\nimport std.stdio;\nvoid main() { writeln("held"); }'

export const d: HostileLanguage = {
  language: 'd',
  program,
  ways: everyWay,
  sources: [
    showsNone(
      'an import of text shows no file',
      (path) => `enum text = import("${path}");\npragma(msg, text);${main}`,
    ),
    showsNone('a pragma for libraries shows no file', (path) => `pragma(lib, "${path}");${main}`),
    showsNone(
      'options for the linker show no file',
      (path) =>
        `pragma(linkerDirective, "@${path}");\npragma(linkerDirective, "-T${path}");${main}`,
    ),
    shows(
      'an include of its assembler shows no file',
      (path) =>
        `import ldc.llvmasm;\nvoid main() { __asm(".pushsection .rodata\\nstart_: .incbin \\"${path}\\"\\nend_: .byte 0\\n.popsection", ""); imported(); }\nextern (C) extern __gshared char start_, end_;\nvoid imported() { import std.stdio; writeln((&start_)[0 .. &end_ - &start_]); writeln("held"); }`,
    ),
    showsNone(
      'C that it imports shows no file',
      (path) => `import core.stdc.stdio;\nimport "${path}";${main}`,
    ),
    showsNone(
      'a line marker shows no file',
      (path) => `#line 1 "${path}"\nvoid main() { undeclared(); }`,
    ),
    exhausts(
      'what is computed without end ends',
      `long f() { long n; for (;;) n++; return n; }\nenum x = f();${main}`,
    ),
    exhausts(
      'what is held without end ends',
      `char[] f() { char[] s = "xx".dup; for (;;) s ~= s; return s; }\nenum x = f();${main}`,
    ),
    exhausts(
      'templates without end end',
      `template T(int n) { enum T = T!(n + 1) + T!(n + 2); }\nenum x = T!0;${main}`,
    ),
    exhausts(
      'sources made by sources end',
      `mixin template M(int n) { mixin M!(n + 1); mixin M!(n + 2); }\nmixin M!0;${main}`,
    ),
  ],
}
