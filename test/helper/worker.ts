// Starts real worker processes, for tests of what happens when a worker is lost.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import type { Test } from 'tap'
import { bareEnvironment } from './bare-environment.ts'
import { shareKeeper } from './executor.ts'

const root = resolve(import.meta.dirname, '../..')
let started = 0

/** A worker process. */
export interface WorkerProcess {
  readonly child: ChildProcess
  /** The messages that it has logged so far. */
  readonly logged: readonly string[]
  /** The log lines so far, a JSON object each. */
  readonly lines: readonly string[]
  /** Resolves when the message has been logged, now or earlier. @throws when the worker ends before. */
  until(message: string): Promise<void>
  /** Resolves with the exit status and the signal. */
  readonly ended: Promise<[number | null, NodeJS.Signals | null]>
}

/**
 * Starts `node src/worker/worker.ts` and waits until it takes jobs. The process is killed at the end of the test.
 * @param directory the folder of the code; this repository by default.
 */
export async function startWorkerProcess(
  t: Test,
  databaseUrl: string,
  environment: Readonly<Record<string, string>> = {},
  directory = root,
): Promise<WorkerProcess> {
  started += 1
  const cache = mkdtempSync(join(tmpdir(), 'runledger-worker-'))
  shareKeeper(cache)
  const child = spawn('node', ['src/worker/worker.ts'], {
    cwd: directory,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...bareEnvironment,
      DATABASE_URL: databaseUrl,
      CACHE_DIRECTORY: cache,
      FIRST_UID: String(70_000 + (process.pid % 500) * 40 + started * 4),
      SLOTS: '2',
      // No Java by default, because a JVM that waits in each slot takes half a second of CPU to start.
      LANGUAGES: 'python,cpp',
      // Off, because it takes two seconds of CPU, for a process that ends soon.
      JAVA_RESIDENT_COMPILER: 'off',
      CPP_PRECOMPILED_HEADERS: 'off',
      ACCELERATORS: process.env['ACCELERATORS'],
      ...environment,
    },
  })
  const logged: string[] = []
  const lines: string[] = []
  const watchers = new Set<() => void>()
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line)
    logged.push((JSON.parse(line) as { msg: string }).msg)
    for (const check of watchers) check()
  })
  const ended = new Promise<[number | null, NodeJS.Signals | null]>((done) => {
    child.once('exit', (code, signal) => done([code, signal]))
  })
  t.teardown(async () => {
    child.kill('SIGCONT')
    child.kill('SIGKILL')
    await ended
    rmSync(cache, { recursive: true, force: true })
  })
  const worker: WorkerProcess = {
    child,
    logged,
    lines,
    ended,
    until: (message) =>
      new Promise((done, fail) => {
        const check = (): void => {
          if (!logged.includes(message)) return
          watchers.delete(check)
          done()
        }
        watchers.add(check)
        check()
        void ended.then(() =>
          fail(new Error(`the worker ended before ${message}: ${logged.join(' ')}`)),
        )
      }),
  }
  await worker.until('worker.started')
  return worker
}
