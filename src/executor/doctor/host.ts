// The host as the doctor sees it: where its files are looked for, and how a program of it is found and asked.
// Separate so that every examination reads the same host, a real one or one that a test has laid out in a folder.
import { execFile } from 'node:child_process'
import { accessSync, constants, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Where to look. */
export interface Host {
  /** The proc file system, `/proc`. */
  readonly processDirectory: string
  /** Directories in which programs are looked up, in order. */
  readonly programDirectories: readonly string[]
  /** Holds a JDK a directory, `/usr/lib/jvm`. */
  readonly javaDirectory: string
  /** Node's name of the machine's architecture. */
  readonly architecture: string
  /** The worker's user id. */
  readonly uid: number
  /** The host uid of the first slot, when the worker is root. */
  readonly firstUid: number
  /** Compiled programs are kept here. */
  readonly cacheDirectory: string
  /** The worker's pipes and other short-lived files are made here. */
  readonly temporaryDirectory: string
}

/** A file below /proc, trimmed; null when it is not there or may not be read. */
export function readProcessFile(host: Host, path: string): string | null {
  try {
    return readFileSync(join(host.processDirectory, path), 'utf8').trim()
  } catch {
    return null
  }
}

/** The first executable file of this name; null without one. */
export function findProgram(host: Host, name: string): string | null {
  for (const directory of host.programDirectories) {
    const path = join(directory, name)
    try {
      if (!statSync(path).isFile()) continue
      accessSync(path, constants.X_OK)
      return path
    } catch {
      continue
    }
  }
  return null
}

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
