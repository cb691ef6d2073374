// Goals G5 and G6: C++ and Java from source to output, compared with the compiler and the program on the command line. Each
// source has a different comment at its end, so that no cache helps. The comment changes neither headers nor classes.
import { createBareRunner } from '../bare.ts'
import type { BareRun } from '../bare.ts'
import { measure } from '../measure.ts'
import type { Batch, Case } from '../measure.ts'
import { report, scaleIterations } from '../report.ts'
import { expectBoxed, startExecutor } from './box.ts'
import { cppCommands, hello, javaCommands } from './hello.ts'

using bare = await createBareRunner()
await using executor = await startExecutor(2, {}, { prepares: true })
let sources = 0

const pair = (
  what: string,
  language: 'cpp' | 'java',
  commands: (code: string) => BareRun,
  {
    code,
    iterations,
    atOnce = 1,
    times = 1,
  }: { code: string; iterations: number; atOnce?: number; times?: number },
): Case[] => [
  {
    name: `bare ${what}`,
    atOnce,
    iterations,
    batch: bare.prepare({ ...commands(code), atOnce }),
  },
  {
    name: `boxed ${what}`,
    floor: `bare ${what}`,
    atOnce,
    iterations,
    batch: (calls) => runAll(calls * times, atOnce, language, code),
  },
]

/** Runs programs of which each has a new source. */
async function runAll(
  calls: number,
  atOnce: number,
  language: 'cpp' | 'java',
  code: string,
): Promise<Batch> {
  const durations: number[] = []
  const startedAt = performance.now()
  let left = calls
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (left > 0) {
        left -= 1
        sources += 1
        const source = `${code}// ${process.pid} ${sources}\n`
        const before = performance.now()
        await expectBoxed(executor, language, source, hello.stdout)
        durations.push(performance.now() - before)
      }
    }),
  )
  return { durations, elapsedSeconds: (performance.now() - startedAt) / 1000 }
}

const few = scaleIterations(3, 2)
/** Boxed runs per bare run. There are many, because a run that finds a JVM with ample time to start must be an exception. */
const javaTimes = 12
const rows = await measure([
  ...pair('g++ <iostream>', 'cpp', cppCommands, { code: hello.iostream, iterations: few }),
  ...pair('g++ <bits/stdc++.h>', 'cpp', cppCommands, { code: hello.everyHeader, iterations: few }),
  ...pair('g++ <bits/stdc++.h>, strings sorted', 'cpp', cppCommands, {
    code: hello.everyHeaderUsed,
    iterations: few,
  }),
  ...pair('javac', 'java', javaCommands, { code: hello.java, iterations: few, times: javaTimes }),
  ...pair('javac, 2 at once', 'java', javaCommands, {
    code: hello.java,
    iterations: scaleIterations(6, 4),
    atOnce: 2,
    times: javaTimes,
  }),
])
report('executor/compile', rows)
