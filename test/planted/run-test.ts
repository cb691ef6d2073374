// Runs one test file up to its first failure and returns the result.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { readErrorCode } from '#error-text'
import { dropTestDatabases } from '../helper/database.ts'

/** A test that takes longer counts as failed. */
const mostSeconds = 300

/** The error messages of both languages' parsers for an invalid text. */
const syntaxError = /SyntaxError|ERR_INVALID_TYPESCRIPT_SYNTAX|syntax error at or near/

export interface TestRun {
  readonly isGreen: boolean
  /** True when the planted fault is a syntax error, which proves nothing. */
  readonly isSyntaxError: boolean
  readonly seconds: number
}

/**
 * Runs a test file.
 * @param clusterUrl a PostgreSQL with a migrated template; null: the test starts its own.
 * @throws the signal's reason when it fires.
 */
export async function runTest(
  directory: string,
  file: string,
  clusterUrl: string | null,
  signal: AbortSignal,
): Promise<TestRun> {
  signal.throwIfAborted()
  const { TEST_CLUSTER_URL: _, ...environment } = process.env
  const startedAt = performance.now()
  const child = spawn(process.execPath, [file], {
    cwd: directory,
    stdio: ['ignore', 'pipe', 'pipe'],
    // A separate process group, so that processes that the test has started end with it.
    detached: true,
    env: {
      ...environment,
      PATH: `${join(directory, 'node_modules/.bin')}:${environment['PATH']}`,
      TAP_BAIL: '1',
      TAP_TIMEOUT: String(mostSeconds),
      ...(clusterUrl !== null && { TEST_CLUSTER_URL: clusterUrl }),
    },
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (text += chunk.toString()))
  const kill = (): void => killGroup(child)
  const timer = setTimeout(kill, (mostSeconds + 30) * 1000)
  signal.addEventListener('abort', kill)
  const code = await new Promise<number | null>((ended) => child.once('exit', ended))
  clearTimeout(timer)
  signal.removeEventListener('abort', kill)
  // Kills what the failed test has started and not ended.
  kill()
  if (clusterUrl !== null) await dropTestDatabases(clusterUrl)
  signal.throwIfAborted()
  return {
    isGreen: code === 0,
    isSyntaxError: code !== 0 && syntaxError.test(text),
    seconds: Math.round((performance.now() - startedAt) / 1000),
  }
}

/** Kills a process group, which may outlive its leader. */
function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch (error) {
    // ESRCH: the group is already gone.
    if (readErrorCode(error) !== 'ESRCH') throw error
  }
}
