// The host that the doctor examines, a real one or one that a test has made in a folder, and the rows of the report.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Language, LanguageSettings } from '#language'
import type { ToolHost } from '#toolchain'

export interface Host extends ToolHost {
  /** Usually `/proc`. */
  readonly processDirectory: string
  /** The languages to examine; all by default. */
  readonly languages?: readonly Language[] | undefined
  /** The languages' own variables. */
  readonly settings: LanguageSettings
  /** The worker's uid. */
  readonly uid: number
  /** The first slot's host uid, when the worker is root. */
  readonly firstUid: number
  /** The directory for compiled programs. */
  readonly cacheDirectory: string
}

/** Reads a file below /proc, trimmed; empty when it is missing or unreadable. */
export function readProcessFile(host: Host, path: string): string {
  try {
    return readFileSync(join(host.processDirectory, path), 'utf8').trim()
  } catch {
    return ''
  }
}

/** Returns the remedy for an old kernel. @param machine Node's name of the architecture. */
export function adviseKernel(machine: string = process.arch): string {
  const name = `linux-image-${machine === 'x64' ? 'amd64' : machine}`
  return `install a kernel ≥ 5.14, best ≥ 6.12 (Debian: apt-get install ${name}), and reboot`
}

export interface Finding {
  /** For example `kernel`. */
  readonly name: string
  /** `missing`: a worker does not start. `warning`: something could be better. */
  readonly level: 'ok' | 'warning' | 'missing'
  readonly detail: string
  /** The command or setting that helps; null when all is well. */
  readonly remedy: string | null
}

export function reportOk(name: string, detail: string): Finding {
  return { name, level: 'ok', detail, remedy: null }
}
const reportFault =
  (level: Finding['level']) =>
  (name: string, detail: string, remedy: string): Finding => ({ name, level, detail, remedy })
export const reportWarning = reportFault('warning')
export const reportMissing = reportFault('missing')
