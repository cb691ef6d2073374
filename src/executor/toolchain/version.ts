// Asks an installed tool for its version. Separate: every language needs it and none of them owns it.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** What the tool prints, stdout then stderr, trimmed. @throws when it cannot be run. */
export async function readVersion(program: string, ...options: string[]): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)(program, options, {
    cwd: '/',
    env: { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8' },
    timeout: 60_000,
  })
  return `${stdout}${stderr}`.trim()
}
