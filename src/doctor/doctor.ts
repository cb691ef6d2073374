// The doctor: reports, row by row, what keeps a worker from starting on this host, and what helps. With a `missing` row no
// worker starts; it never makes a weaker box instead.
import { findToolchains, ordinaryToolHost } from '#toolchain'
import { examineContainer } from './container.ts'
import { examineDisks } from './disk.ts'
import { reportMissing, reportOk, reportWarning } from './host.ts'
import type { Finding, Host } from './host.ts'
import { examineKernel } from './kernel.ts'
import { examineSandbox } from './sandbox.ts'

export { examineDatabase, examineSettings, examineTls } from './service.ts'

const ordinary = { processDirectory: '/proc', ...ordinaryToolHost, uid: process.getuid?.() ?? 0 }

/**
 * Examines the host, with a finding for each row; a row's remedy may also help the rows below. Running the languages' programs
 * takes most of the time.
 * @param differences the worker's configuration. Only tests replace properties of an ordinary host.
 */
export async function examineHost(
  differences: Omit<Host, keyof typeof ordinary> & Partial<Host>,
): Promise<readonly Finding[]> {
  const host: Host = { ...ordinary, ...differences }
  const disks = await examineDisks(host)
  const kernel = [...examineKernel(host), ...examineContainer(host)]
  return [...kernel, await examineSandbox(host), ...(await examineLanguages(host)), ...disks]
}

/** Searches as the worker does. Returns a row for each installed language, working or broken, and one row for the others. */
async function examineLanguages(host: Host): Promise<Finding[]> {
  const { toolchains, missing } = await findToolchains(host.settings, host, host.languages)
  // A missing language is a fault only when all are missing.
  if (toolchains.size === 0)
    return missing.map(({ language, reason, remedy }) => reportMissing(language, reason, remedy))
  const broken = missing.filter(({ isBroken }) => isBroken)
  const absent = missing.filter(({ isBroken }) => !isBroken).map(({ language }) => language)
  return [
    ...Array.from(toolchains, ([name, { version, location }]) =>
      reportOk(name, `${version} (${location})`),
    ),
    ...broken.map(({ language, reason, remedy }) =>
      reportWarning(language, `${reason}: it is not offered`, remedy),
    ),
    reportOk('languages', `not installed: ${absent.join(', ') || 'none'} (make languages)`),
  ]
}

const marks: Readonly<Record<Finding['level'], string>> = { ok: '✓', warning: '!', missing: '✗' }

/**
 * Formats findings for a terminal: mark, name and detail in columns, the remedy on a line below. The last line says whether a
 * worker starts.
 */
export function formatFindings(findings: readonly Finding[]): string {
  const width = Math.max(0, ...findings.map(({ name }) => name.length))
  const rows = findings.flatMap(({ name, level, detail, remedy }) => [
    `${marks[level]} ${name.padEnd(width)}  ${detail}`,
    ...(remedy === null ? [] : [`  ${' '.repeat(width)}  → ${remedy}`]),
  ])
  const first = findings.find(({ level }) => level === 'missing')
  const end =
    first === undefined
      ? 'A worker starts here.'
      : `No worker starts here: ${first.name}: ${first.detail.replaceAll(/\s+/gu, ' ')}`
  return [...rows, end].join('\n')
}
