// The host as the doctor sees it: where its files and programs are looked for.
// Separate so that every examination reads the same host, a real one or one that a test has laid out in a folder.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Language, LanguageSettings } from '#language'
import type { ToolHost } from '#toolchain'

/** Where to look. */
export interface Host extends ToolHost {
  /** The proc file system, `/proc`. */
  readonly processDirectory: string
  /** The languages that are looked for; all of them unless said. */
  readonly languages?: readonly Language[]
  /** What the languages' own variables say. */
  readonly settings: LanguageSettings
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
export function readProcessFile(host: Pick<Host, 'processDirectory'>, path: string): string | null {
  try {
    return readFileSync(join(host.processDirectory, path), 'utf8').trim()
  } catch {
    return null
  }
}
