// Where the doctor looks for files and programs: a real host, or one that a test has laid out in a folder.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Language, LanguageSettings } from '#language'
import type { ToolHost } from '#toolchain'

export interface Host extends ToolHost {
  /** Usually `/proc`. */
  readonly processDirectory: string
  /** All unless said. */
  readonly languages?: readonly Language[]
  /** The languages' own variables. */
  readonly settings: LanguageSettings
  /** The worker's. */
  readonly uid: number
  /** The first slot's host uid, when the worker is root. */
  readonly firstUid: number
  /** For compiled programs. */
  readonly cacheDirectory: string
  /** For pipes and other short-lived files. */
  readonly temporaryDirectory: string
}

/** A file below /proc, trimmed; null when it is missing or unreadable. */
export function readProcessFile(host: Pick<Host, 'processDirectory'>, path: string): string | null {
  try {
    return readFileSync(join(host.processDirectory, path), 'utf8').trim()
  } catch {
    return null
  }
}
