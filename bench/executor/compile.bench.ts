// What a box costs a compiled language: g++ and javac of a hello, then its run, each source new so that no cache helps.
// Floor: the same on the command line, without a box and with the compiler's usual options. The executor compiles Java
// with cheaper JVM options than javac's own, so that ratio can fall below 1.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { expectBare } from '../bare.ts'
import { measure } from '../measure.ts'
import { report, scaleIterations } from '../report.ts'
import { expectBoxed, startExecutor } from './box.ts'

const cpp = '#include <iostream>\nint main() { std::cout << "hello\\n"; }\n'
const java = 'class Main { public static void main(String[] a) { System.out.println("hello"); } }\n'

await using executor = await startExecutor(1)
let sources = 0
/** Tells one source from all others. */
const mark = (): string => `// ${process.pid} ${(sources += 1)}\n`

async function inFreshDirectory(work: (directory: string) => Promise<void>): Promise<void> {
  const directory = `${executor.directory}/${(sources += 1)}`
  mkdirSync(directory)
  await work(directory)
  rmSync(directory, { recursive: true })
}

const bareCpp = (): Promise<void> =>
  inFreshDirectory(async (directory) => {
    writeFileSync(`${directory}/main.cpp`, mark() + cpp)
    await expectBare(executor.runtimes.cpp.compile ?? [], '', directory)
    await expectBare([`${directory}/main`], 'hello\n')
  })

const bareJava = (): Promise<void> =>
  inFreshDirectory(async (directory) => {
    writeFileSync(`${directory}/Main.java`, mark() + java)
    await expectBare(executor.runtimes.java.compile ?? [], '', directory)
    await expectBare(['java', '-cp', 'out', 'Main'], 'hello\n', directory)
  })

const iterations = scaleIterations(4, 2)
const rows = await measure([
  { name: 'bare g++ <iostream> hello, and its run', iterations, run: bareCpp },
  {
    name: 'boxed g++ <iostream> hello, and its run',
    floor: 'bare g++ <iostream> hello, and its run',
    iterations,
    run: () => expectBoxed(executor, 'cpp', mark() + cpp, 'hello\n'),
  },
  { name: 'bare javac hello, and its run', iterations, run: bareJava },
  {
    name: 'boxed javac hello, and its run',
    floor: 'bare javac hello, and its run',
    iterations,
    run: () => expectBoxed(executor, 'java', mark() + java, 'hello\n'),
  },
])
report('executor/compile', rows)
