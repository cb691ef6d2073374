// Runs one test file by itself, up to its first failure, and says how that went.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { readErrorCode } from '#error-text'
import { dropTestDatabases } from '../helper/database.ts'

/** Nothing that a fault holds up is waited for any longer: it is red. */
const mostSeconds = 300

/** What the compiler of either language says of a text that is none of it. */
const syntaxError = /SyntaxError|ERR_INVALID_TYPESCRIPT_SYNTAX|syntax error at or near/

export interface TestRun {
  readonly isGreen: boolean
  /** The fault is no program any more, which shows nothing. */
  readonly isSyntaxError: boolean
  readonly seconds: number
}

/**
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
    // A group of its own: what a test has started ends with it.
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
  // What it had started, and did not end as it failed.
  kill()
  if (clusterUrl !== null) await dropTestDatabases(clusterUrl)
  signal.throwIfAborted()
  return {
    isGreen: code === 0,
    isSyntaxError: code !== 0 && syntaxError.test(text),
    seconds: Math.round((performance.now() - startedAt) / 1000),
  }
}

/** The group outlives the process that it is named after. */
function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch (error) {
    // Nothing is left of it.
    if (readErrorCode(error) !== 'ESRCH') throw error
  }
}
