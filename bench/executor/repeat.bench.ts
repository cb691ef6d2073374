// Goal G7: the same code again with another input, as a judge runs tests. Floor: a bare run of the compiled program, which is
// the binary of the executor's g++ command line, or the class that javac made. For C++ read "+p50".
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createBareRunner } from '../bare.ts'
import { measure } from '../measure.ts'
import { report, scaleIterations } from '../report.ts'
import { bareBinary } from './bare-binary.ts'
import { expectBoxed, startExecutor } from './box.ts'

// Each program prints the length of its input in bytes. A bare run has no input.
const cpp = `#include <iostream>
#include <iterator>
int main() {
  std::cout << std::distance(std::istreambuf_iterator<char>(std::cin), {}) << "\\n";
}
`
const java = `class Main {
  public static void main(String[] a) throws Exception {
    System.out.println(System.in.readAllBytes().length);
  }
}
`

using bare = await createBareRunner()
await using executor = await startExecutor(2)
const build = `${bare.directory}/build`
mkdirSync(build)
writeFileSync(`${build}/Main.java`, java)
execFileSync('/usr/bin/javac', ['Main.java'], { cwd: build })

let length = 0
const repeat = (language: 'cpp' | 'java', code: string) => (): Promise<void> => {
  length = (length % 1000) + 1
  return expectBoxed(executor, language, code, `${length}\n`, { stdin: 'x'.repeat(length) })
}

const rows = await measure([
  bareBinary(executor, bare, cpp),
  {
    name: 'C++ again',
    floor: 'bare binary',
    iterations: scaleIterations(100),
    run: repeat('cpp', cpp),
  },
  {
    name: 'bare class',
    iterations: scaleIterations(20),
    batch: bare.prepare({
      commands: [['java', '-cp', '.', 'Main']],
      files: { 'Main.class': readFileSync(`${build}/Main.class`) },
      stdout: '0\n',
    }),
  },
  {
    name: 'Java again',
    floor: 'bare class',
    iterations: scaleIterations(20),
    run: repeat('java', java),
  },
])
report('executor/repeat', rows)
