// What a box costs: the same program bare and in a box, one after another, two at once, and after 100 ms of idleness
// (a cgroup v1 attach is slow then, and a service is mostly idle).
// Floors: the very same binary, or the same python3, started from the same Node process without a box.
// Read "+p50" and "+p95" as the box's price in milliseconds; with two at once the ratio is of runs a second.
import { writeFileSync } from 'node:fs'
import { expectBare, runBare } from '../bare.ts'
import { measure } from '../measure.ts'
import type { Case } from '../measure.ts'
import { report, scaleIterations } from '../report.ts'
import { expectBoxed, startExecutor } from './box.ts'

const empty = 'int main() {}\n'
const hello = 'print("hello")\n'

await using executor = await startExecutor(2)
const { directory } = executor
writeFileSync(`${directory}/main.cpp`, empty)
writeFileSync(`${directory}/hello.py`, hello)
// The executor's own command line: the binary is byte for byte the one in its cache.
await runBare(executor.runtimes.cpp.compile ?? [], directory)

const bareTrue = (): Promise<void> => expectBare(['/bin/true'], '')
const bareEmpty = (): Promise<void> => expectBare([`${directory}/main`], '')
const boxedEmpty = (): Promise<void> => expectBoxed(executor, 'cpp', empty, '')
const barePython = (): Promise<void> =>
  expectBare(['/usr/bin/python3', 'hello.py'], 'hello\n', directory)
const boxedPython = (): Promise<void> => expectBoxed(executor, 'python', hello, 'hello\n')

const busy = { iterations: scaleIterations(60) }
const idle = { iterations: scaleIterations(20), idleMilliseconds: 100 }
const twice = { iterations: scaleIterations(80, 8), atOnce: 2 }

const pair = (
  what: string,
  how: Omit<Case, 'name' | 'floor' | 'run'>,
  bare: Case['run'],
  boxed: Case['run'],
): Case[] => [
  { ...how, name: `bare ${what}`, run: bare },
  { ...how, name: `boxed ${what}`, floor: `bare ${what}`, run: boxed },
]

const rows = await measure([
  { ...busy, name: 'bare /bin/true', run: bareTrue },
  ...pair('empty main', busy, bareEmpty, boxedEmpty),
  ...pair('python hello', busy, barePython, boxedPython),
  ...pair('empty main, idle', idle, bareEmpty, boxedEmpty),
  ...pair('python hello, idle', idle, barePython, boxedPython),
  ...pair('empty main, 2 at once', twice, bareEmpty, boxedEmpty),
  ...pair('python hello, 2 at once', twice, barePython, boxedPython),
])
report('executor/floor', rows)
