// Starts real web processes for tests.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import type { Test } from 'tap'
import { bareEnvironment } from './bare-environment.ts'

export interface WebProcess {
  readonly child: ChildProcess
  readonly port: number
  /** The log lines so far, a JSON object each. */
  readonly lines: readonly string[]
}

/**
 * Starts `node src/server/server.ts` on a free port, or on PORT of `environment`, and waits until it listens. The process is
 * killed at the end of the test.
 */
export async function startWebProcess(
  t: Test,
  databaseUrl: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<WebProcess> {
  const child = spawn('node', ['src/server/server.ts'], {
    cwd: resolve(import.meta.dirname, '../..'),
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...bareEnvironment, DATABASE_URL: databaseUrl, PORT: '0', ...environment },
  })
  const kill = (): boolean => child.kill('SIGKILL')
  t.teardown(kill)
  process.once('exit', kill) // a test file that stops at its first failure runs no teardown
  const lines: string[] = []
  const port = await new Promise<number>((done, fail) => {
    child.once('exit', () => fail(new Error('the web process ended before it listened')))
    createInterface({ input: child.stdout }).on('line', (line) => {
      lines.push(line)
      const entry = JSON.parse(line) as { msg: string; port?: number }
      if (entry.msg === 'web.started' && entry.port !== undefined) done(entry.port)
    })
  })
  return { child, port, lines }
}
