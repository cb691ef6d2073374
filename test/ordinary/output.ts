// Outputs: a cut output ends between characters, and sanitizers report nothing about correct programs.
import type { Behaviour } from './behaviour.ts'

const three = '\u3042'
const four = '\u{1f600}'

export const outputBehaviours: readonly Behaviour[] = [
  {
    name: 'CPU time above the default wall time takes the wall along',
    programs: { python: 'import time\ntime.sleep(11)\nprint("done")' },
    request: { limits: { cpu_time: 12 } },
    expected: { stdout: 'done\n' },
  },
  ...[three, four, 'é'].map((character): Behaviour => ({
    name: `an output limit within ${character} leaves whole characters`,
    programs: {
      python: `import sys\nsys.stdout.buffer.write(("x" + "${character}" * 2000).encode())\nsys.stdout.flush()`,
      javascript: `process.stdout.write('x' + '${character}'.repeat(2000))`,
      perl: `print "x", "${character}" x 2000;`,
    },
    request: { limits: { stdout: 1000 } },
    expected: {
      verdict: 'OLE',
      limit: 'stdout',
      // The program may end before it is killed.
      exit_code: /^(0|137)$/,
      stdout_truncated: true,
      stdout: `x${character.repeat(Math.floor(999 / Buffer.byteLength(character)))}`,
    },
  })),
  {
    name: 'a test’s output that is kept in part ends with a whole character',
    programs: { python: `print("${three}" * 30000)`, ruby: `puts "${three}" * 30000` },
    request: { tests: [{ name: 'long' }] },
    expected: {
      tests: [{ verdict: 'AC', stdout_truncated: true, stdout: three.repeat(21_845) }],
    },
  },
  {
    name: 'a program’s own half characters are told as such',
    programs: {
      python: 'import sys\nsys.stdout.buffer.write(b"a\\xe3\\x81")',
      bash: "printf 'a\\xe3\\x81'",
    },
    expected: { stdout: 'a\ufffd', stdout_truncated: false },
  },
  {
    name: 'with base64 a cut output is exact to the byte',
    programs: {
      python: `import sys\nsys.stdout.buffer.write("${three}".encode() * 1000)\nsys.stdout.flush()`,
    },
    request: { limits: { stdout: 1000 }, output_encoding: 'base64' },
    expected: {
      verdict: 'OLE',
      exit_code: /^(0|137)$/,
      stdout: Buffer.from(three.repeat(334)).subarray(0, 1000).toString('base64'),
    },
  },
  {
    name: 'a right program under sanitizers ends right',
    programs: {
      cpp: `
#include <cstdio>
#include <vector>
int main() { std::vector<int> all(1000, 1); long sum = 0; for (int one : all) sum += one; std::printf("%ld\\n", sum); }`,
      c: '#include <stdio.h>\n#include <stdlib.h>\nint main(void) { int *one = malloc(4000); one[999] = 1000; printf("%d\\n", one[999]); free(one); }',
    },
    request: { compile_args: ['-g', '-O1', '-fsanitize=address,undefined'] },
    expected: { stdout: '1000\n' },
  },
  {
    name: 'a wrong program under sanitizers is told its fault',
    programs: {
      cpp: '#include <vector>\nint main(int n, char **) { int *one = new int[4]; one[n + 3] = 1; int r = one[0]; delete[] one; return r; }',
      c: '#include <stdlib.h>\nint main(int n, char **v) { (void)v; int *one = malloc(16); one[n + 3] = 1; int r = one[0]; free(one); return r; }',
    },
    request: { compile_args: ['-g', '-O0', '-fsanitize=address,undefined'] },
    expected: { verdict: 'RE', exit_code: 1, stderr: /heap-buffer-overflow/ },
  },
]
