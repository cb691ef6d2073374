// Asks installed programs. Separate: every language needs it and none of them owns it.
import { execFile } from 'node:child_process'

/** What a program did. */
export interface ProgramAnswer {
  readonly succeeded: boolean
  /** stdout, then stderr, trimmed. */
  readonly text: string
}

/** Runs a program of the host with nothing of our environment. Never throws. */
export function askProgram(program: string, options: readonly string[]): Promise<ProgramAnswer> {
  return new Promise((resolve) => {
    const environment = { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8' }
    execFile(
      program,
      options,
      { cwd: '/', env: environment, timeout: 60_000 },
      (error, ...output) => {
        const text = output.join('').trim()
        resolve({
          succeeded: error === null,
          text: text === '' && error !== null ? error.message : text,
        })
      },
    )
  })
}

/** What the tool prints, stdout then stderr, trimmed. @throws when it cannot be run. */
export async function readVersion(program: string, ...options: string[]): Promise<string> {
  const { succeeded, text } = await askProgram(program, options)
  if (!succeeded) throw new Error(`${program} ${options.join(' ')}: ${text}`)
  return text
}
