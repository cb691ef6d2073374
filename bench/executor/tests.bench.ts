// Goals G10 and G11: one submission of a hundred tests at the executor, against bare runs of the same program one at a time.
// A duration is the whole submission's over its tests, so that what comes before the first and after the last is in it.
// C++ was compiled before and is found in the cache: what is timed compiles nothing. For C++ read "+p50".
import assert from 'node:assert/strict'
import type { Phase } from '#executor'
import { createBareRunner } from '../bare.ts'
import { measure } from '../measure.ts'
import type { Batch } from '../measure.ts'
import { report, scaleIterations } from '../report.ts'
import { bareBinary } from './bare-binary.ts'
import { cacheScope, startExecutor } from './box.ts'

const testsOfOne = 100

// Each prints the number that it reads: a bare run, which has no input, 0.
const python = 'import sys\nprint(int(sys.stdin.read() or 0))\n'
const cpp =
  '#include <iostream>\nint main() { int n = 0; std::cin >> n; std::cout << n << "\\n"; }\n'

using bare = await createBareRunner()
await using executor = await startExecutor(2)

const inputs = Array.from({ length: testsOfOne }, (_, index) => ({
  stdin: Buffer.from(`${index}`),
}))

/** Runs a submission; throws unless each test printed its number. @returns seconds from its start to its end. */
async function submit(language: 'python' | 'cpp', code: string): Promise<number> {
  let ended = 0
  const onRun = ({ ending, exitCode, stdout }: Phase, index: number): boolean => {
    assert.equal(index, ended)
    assert.equal(ending, 'exited')
    assert.equal(exitCode, 0)
    assert.equal(Buffer.from(stdout).toString(), `${index}\n`)
    ended += 1
    return true
  }
  const startedAt = performance.now()
  await executor.execute({
    language,
    code: Buffer.from(code),
    stdin: Buffer.alloc(0),
    cacheScope,
    runs: { inputs, onRun },
  })
  const seconds = (performance.now() - startedAt) / 1000
  await executor.settled()
  assert.equal(ended, testsOfOne)
  return seconds
}

const submitAll =
  (language: 'python' | 'cpp', code: string) =>
  async (tests: number): Promise<Batch> => {
    const durations: number[] = []
    let elapsedSeconds = 0
    while (durations.length < tests) {
      const seconds = await submit(language, code)
      elapsedSeconds += seconds
      const milliseconds = (seconds * 1000) / testsOfOne
      durations.push(...Array.from({ length: testsOfOne }, () => milliseconds))
    }
    return { durations, elapsedSeconds }
  }

const tests = testsOfOne * scaleIterations(4, 1)
const rows = await measure([
  {
    name: 'bare python',
    iterations: scaleIterations(60),
    batch: bare.prepare({
      commands: [['python3', 'main.py']],
      files: { 'main.py': python },
      stdout: '0\n',
    }),
  },
  {
    name: 'python, a test of 100',
    floor: 'bare python',
    iterations: tests,
    batch: submitAll('python', python),
  },
  bareBinary(executor, bare, cpp),
  {
    name: 'C++, a test of 100',
    floor: 'bare binary',
    iterations: tests,
    batch: submitAll('cpp', cpp),
  },
])
report('executor/tests', rows)
