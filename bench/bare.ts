// The floor of everything that runs a program: the same program started from Node without any box, and waited for.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'

/** What a program without a box did. */
export interface BareEnd {
  readonly exitCode: number | null
  readonly stdout: string
}

/** Runs a command with its stdout on a pipe; resolves when it has ended and everything is read. */
export function runBare(command: readonly string[], directory = '/'): Promise<BareEnd> {
  const [program = '', ...parameters] = command
  return new Promise((resolve, reject) => {
    const child = spawn(program, parameters, {
      cwd: directory,
      env: { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8' },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    let stdout = ''
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (stdout += chunk))
    child.once('error', reject)
    child.once('close', (exitCode) => resolve({ exitCode, stdout }))
  })
}

/** Runs a command bare and throws unless it exits with 0 and prints just this. */
export async function expectBare(
  command: readonly string[],
  stdout: string,
  directory?: string,
): Promise<void> {
  assert.deepEqual(await runBare(command, directory), { exitCode: 0, stdout })
}
