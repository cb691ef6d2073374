// An executor that runs nothing, in all languages. It reports that the program printed hello, at once or after the
// milliseconds in the process's first argument. empty-worker.ts loads it before src/worker/worker.ts: everything else is the
// real worker, so a bench measures the way to the executor and back.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Executor, ExecutorOptions, Outcome, Runtime } from '../../src/executor/executor.ts'
import { languages } from '../../src/language/language.ts'

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

/** Replaces the real createExecutor: a module's export hides the one of the same name from `export *`. */
export function createExecutor({ slots }: ExecutorOptions): Promise<Executor> {
  return Promise.resolve({
    isolation: { box: 'keeper', cgroup: 'v1', uid: 'slot' },
    cores: 1,
    runtimes: Object.fromEntries(languages.map((name) => [name, runtime])),
    awaited: {},
    slots,
    execute: () => (milliseconds > 0 ? sleep(milliseconds, outcome) : Promise.resolve(outcome)),
    settled: () => Promise.resolve(),
    close: () => Promise.resolve(),
  })
}
