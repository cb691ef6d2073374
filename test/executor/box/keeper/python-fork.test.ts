// A forked interpreter behaves like `python3 main.py`: hundreds of programs run in a fork of the resident interpreter and
// in an interpreter started for them alone, in the same kind of box. Both write the same bytes and end in the same way.
import { execFileSync } from 'node:child_process'
import t from 'tap'
import type { Executor, Phase } from '#executor'
import { cacheScope, scaleLimits, startExecutor } from '../../../helper/executor.ts'
import { contest } from './python-fork/contest.ts'
import { ending } from './python-fork/ending.ts'
import { imports } from './python-fork/imports.ts'
import { listLibraryPrograms } from './python-fork/library.ts'
import { process as processes } from './python-fork/process.ts'
import { isForked, maskAddresses } from './python-fork/program.ts'
import type { Program, Programs } from './python-fork/program.ts'
import { start } from './python-fork/start.ts'
import { stream } from './python-fork/stream.ts'
import { traceback } from './python-fork/traceback.ts'

const library = execFileSync('/usr/bin/python3', ['-I', '-c', 'import os; print(os.__file__)'])
  .toString()
  .replace(/\/os\.py\s*$/, '')

const limits = scaleLimits({ cpuSeconds: 20, wallSeconds: 40 })

async function execute(executor: Executor, program: Program): Promise<Phase> {
  const { code, stdin } =
    typeof program === 'object' && 'code' in program ? program : { code: program, stdin: '' }
  const { run } = await executor.execute({
    language: 'python',
    code: Buffer.from(code as string),
    stdin: Buffer.from(stdin as string),
    cacheScope,
  })
  return run!
}

function describe({ ending: end, exitCode, signal, stdout, stderr }: Phase) {
  const [out, errors] = [stdout, stderr].map((bytes) =>
    maskAddresses(Buffer.from(bytes).toString('latin1')),
  )
  return { ending: end, exitCode, signal, stdout: out, stderr: errors }
}

const topics: Readonly<Record<string, Programs>> = {
  'programs as they are submitted': contest,
  'what a program finds': start,
  'errors and what is written of them': traceback,
  'how programs end': ending,
  'input and sources': stream,
  'processes, threads and memory': processes,
  'imports of what is loaded before': imports,
  'the standard library': listLibraryPrograms(library),
}

/** PYTHON_FORK: a part of the names of the programs to run. Without it all programs run. */
const wanted = process.env['PYTHON_FORK'] ?? ''
// An interpreter runs more programs than there are here, so none is replaced during the test.
const slots = 2
const [forked, started] = await Promise.all([
  startExecutor(t, { slots, languages: ['python'], limits }),
  startExecutor(t, { slots, languages: ['python'], limits, accelerators: [] }),
])

for (const [topic, programs] of Object.entries(topics)) {
  t.test(`${topic}: forked or not, it is the same`, async (t) => {
    const waiting = Object.entries(programs).filter(([name]) => name.includes(wanted))
    async function work(): Promise<void> {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const [name, program] = next
        const [fork, plain] = await Promise.all([
          execute(forked, program),
          execute(started, program),
        ])
        t.strictSame(describe(fork), describe(plain), name)
      }
    }
    await Promise.all([work(), work()])
  })
}

t.test('all of one kind were forked, none of the other', async (t) => {
  for (let slot = 0; slot < slots; slot += 1) {
    t.equal(describe(await execute(forked, isForked)).stdout, 'True\n')
    t.equal(describe(await execute(started, isForked)).stdout, 'False\n')
  }
})

t.test('what programs import most is not loaded again by a fork', async (t) => {
  const growth =
    'import sys\nbefore = sys.getallocatedblocks()\nimport typing, heapq, bisect, string, copy\nprint(sys.getallocatedblocks() - before)'
  const [fork, plain] = await Promise.all([execute(forked, growth), execute(started, growth)])
  const [forkBlocks, blocks] = [fork, plain].map(({ stdout }) => Number(Buffer.from(stdout)))
  t.ok(blocks! > 8000 && forkBlocks! < 800, `${forkBlocks} ${blocks}`)
})

t.test('a fork’s memory is counted as if it were its own', async (t) => {
  const mebibyte = 1024 * 1024
  const narrow = scaleLimits({ memoryBytes: 64 * mebibyte })
  const options = { languages: ['python'], limits: narrow } as const
  const forked = await startExecutor(t, options)
  const started = await startExecutor(t, { ...options, accelerators: [] })
  const take = (size: number): string =>
    `import gc\nheld = bytearray(${size} << 20)\nfor i in range(0, len(held), 4096): held[i] = 1\ngc.collect()`
  const [fork, plain] = await Promise.all([execute(forked, take(30)), execute(started, take(30))])
  const [forkPeak, peak] = [fork, plain].map(({ usage }) => usage.memoryPeakBytes / mebibyte)
  // A page that the resident also has counts twice when the program writes to it. The quarter is the kernel's rounding.
  t.ok(forkPeak! > peak! - 0.25 && forkPeak! < peak! + 6, `${forkPeak} ${peak}`)
  for (const executor of [forked, started]) {
    t.equal((await execute(executor, take(56))).ending, 'exited')
    t.equal((await execute(executor, take(63))).ending, 'memory_limit')
  }
})
