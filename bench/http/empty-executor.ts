// An executor that runs nothing: every program has printed hello as soon as it is asked for, or after as many milliseconds
// as the process's first argument says. Loaded before src/worker/worker.ts
// (empty-worker.ts), so that all the rest is the real worker and what is measured is the way to the executor and back.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Executor, ExecutorOptions, Outcome, Runtime } from '../../src/executor/executor.ts'

export * from '../../src/executor/executor.ts'

const milliseconds = Number(process.argv[2] ?? 0)

const runtime: Runtime = { version: 'none', compile: null, run: [] }

const outcome: Outcome = {
  compile: null,
  compileCached: false,
  run: {
    ending: 'exited',
    exitCode: 0,
    signal: null,
    stdout: Buffer.from('hello\n'),
    stderr: new Uint8Array(),
    stdoutTruncated: false,
    stderrTruncated: false,
    usage: { cpuSeconds: 0, wallSeconds: 0, memoryPeakBytes: 0 },
  },
}

/** Takes the place of the real one: a module's own export hides the one that it passes on. */
export function createExecutor({ slots }: ExecutorOptions): Promise<Executor> {
  return Promise.resolve({
    isolation: { box: 'keeper', cgroup: 'v1', uid: 'slot' },
    cores: 1,
    runtimes: { python: runtime, cpp: runtime, java: runtime },
    awaited: {},
    found: ['python', 'cpp', 'java'],
    slots,
    execute: () => (milliseconds > 0 ? sleep(milliseconds, outcome) : Promise.resolve(outcome)),
    settled: () => Promise.resolve(),
    close: () => Promise.resolve(),
  })
}
