// Goal G2: python hello in the executor alone, two at once, compared with bare `python3 hello.py`, two at once. One after
// another is measured too, which shows the cost of one run. With two at once the ratio is of runs per second. Two more cases:
// the same program when CPython frees everything at its exit, which shows what the early exit saves; and forks of a running
// interpreter without any box, which no box can beat.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createBareRunner } from '../bare.ts'
import { measure } from '../measure.ts'
import type { Batch, Case } from '../measure.ts'
import { report, scaleIterations } from '../report.ts'
import { expectBoxed, startExecutor } from './box.ts'
import { hello, pythonCommand } from './hello.ts'

using bare = await createBareRunner()
await using executor = await startExecutor(2)

const pair = (what: string, atOnce: number, iterations: number): Case[] => [
  {
    name: `bare ${what}`,
    atOnce,
    iterations,
    batch: bare.prepare({ ...pythonCommand, atOnce }),
  },
  {
    name: `forked ${what}`,
    floor: `bare ${what}`,
    atOnce,
    iterations,
    batch: (runs) => fork(runs, atOnce),
  },
  {
    name: `boxed ${what}`,
    floor: `bare ${what}`,
    atOnce,
    iterations,
    run: () => expectBoxed(executor, 'python', hello.python, hello.stdout),
  },
  {
    name: `boxed ${what}, everything freed`,
    floor: `boxed ${what}`,
    atOnce,
    iterations,
    // The word `exec`, even in a comment, makes the interpreter's regular main run the program (keeper/early-end.c).
    run: () => expectBoxed(executor, 'python', `${hello.python}# exec\n`, hello.stdout),
  },
]

const rows = await measure([
  ...pair('python hello', 1, scaleIterations(60)),
  ...pair('python hello, 2 at once', 2, scaleIterations(120, 8)),
])
report('executor/python', rows)

async function fork(runs: number, atOnce: number): Promise<Batch> {
  const script = join(import.meta.dirname, 'forked.py')
  const each = String(Math.ceil(runs / atOnce))
  const all = await Promise.all(
    Array.from({ length: atOnce }, async () => {
      const { stdout } = await promisify(execFile)('python3', [script, each, hello.python])
      return stdout.trim().split('\n').map(Number)
    }),
  )
  const sums = all.map((durations) => durations.reduce((sum, one) => sum + one, 0))
  return { durations: all.flat(), elapsedSeconds: Math.max(...sums) / 1000 }
}
