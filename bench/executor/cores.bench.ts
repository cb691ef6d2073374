// What one core a box costs, compared with two: compilers and programs that would use a second core. Each source is new, so
// that no cache helps. On a host with one core both are the same. It runs only if it is named.
import { availableParallelism } from 'node:os'
import type { Language } from '#language'
import { measure } from '../measure.ts'
import type { Case } from '../measure.ts'
import { report, scaleIterations } from '../report.ts'
import { expectBoxed, startExecutor } from './box.ts'
import { hello } from './hello.ts'

const go = 'package main\n\nimport "fmt"\n\nfunc main() { fmt.Println("hello") }\n'

/** Two threads that compute the same; alone, each takes about 0.4 s. */
const threads = `#include <cstdio>
#include <thread>
static volatile unsigned long sums[64];
static void add(int at) { for (unsigned long i = 0; i < 200000000; i++) sums[at] = sums[at] + i; }
int main() {
  std::thread one(add, 0), two(add, 32);
  one.join();
  two.join();
  puts("hello");
}
`

const programs: readonly (readonly [name: string, language: Language, code: string])[] = [
  ['Java from source to output', 'java', hello.java],
  ['Go from source to output', 'go', go],
  ['C++ from source to output', 'cpp', hello.iostream],
  ['C++, two threads', 'cpp', threads],
]

const languages = ['java', 'go', 'cpp'] as const
// With as many slots as cores, a slot's share is one core.
await using executor = await startExecutor(
  availableParallelism(),
  {},
  { prepares: true, languages },
)
const found = programs.filter(([, language]) => executor.runtimes[language] !== undefined)
let sources = 0

const run = (language: Language, code: string, cores: number) => (): Promise<void> => {
  sources += 1
  const source = `${code}// ${process.pid} ${sources}\n`
  return expectBoxed(executor, language, source, hello.stdout, { cores })
}

const iterations = scaleIterations(6, 2)
const cases = found.flatMap(([name, language, code]): Case[] => [
  { name: `${name}, two cores`, iterations, run: run(language, code, 2) },
  {
    name: `${name}, one core`,
    floor: `${name}, two cores`,
    iterations,
    run: run(language, code, 1),
  },
])
report('executor/cores', await measure(cases))
