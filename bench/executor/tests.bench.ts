// Goals G10 and G11: one submission of a hundred tests in the executor, compared with bare runs of the same program, one at a
// time. A duration is the whole submission's divided by its tests, so it includes the time before the first test and after
// the last. The C++ program is compiled before and found in the cache, so no compiler is timed. For C++ read "+p50".
import assert from 'node:assert/strict'
import type { Phase } from '#executor'
import { createBareRunner } from '../bare.ts'
import { measure } from '../measure.ts'
import type { Batch } from '../measure.ts'
import { report, scaleIterations } from '../report.ts'
import { bareBinary } from './bare-binary.ts'
import { cacheScope, startExecutor } from './box.ts'

const testsOfOne = 100

// Each program prints the number that it reads. A bare run has no input and prints 0.
const python = 'import sys\nprint(int(sys.stdin.read() or 0))\n'
const cpp =
  '#include <iostream>\nint main() { int n = 0; std::cin >> n; std::cout << n << "\\n"; }\n'

using bare = await createBareRunner()
await using executor = await startExecutor(2)

const inputs = Array.from({ length: testsOfOne }, (_, index) => ({
  stdin: Buffer.from(`${index}`),
}))

/** Runs a submission; throws unless each test printed its number. @returns the submission's duration in seconds. */
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
