// The doctor: says row by row what keeps a worker from starting on this host, and what helps. With a `missing` row none
// starts; no weaker box is made instead.
import { findToolchains, ordinaryToolHost } from '#toolchain'
import { examineContainer } from './container.ts'
import { examineDisks } from './disk.ts'
import { reportMissing, reportOk, reportWarning } from './host.ts'
import type { Finding, Host } from './host.ts'
import { examineKernel } from './kernel.ts'
import { examineSandbox } from './sandbox.ts'

export { examineDatabase, examineSettings, examineTls } from './service.ts'
export type { Finding } from './host.ts'

const ordinary = { processDirectory: '/proc', ...ordinaryToolHost, uid: process.getuid?.() ?? 0 }

/**
 * One finding a row; a row's remedy may also help those below. Asking languages' programs takes most of the time.
 * @param differences what a worker's configuration says; of an ordinary host only tests differ.
 */
export async function examineHost(
  differences: Omit<Host, keyof typeof ordinary> & Partial<Host>,
): Promise<readonly Finding[]> {
  const host: Host = { ...ordinary, ...differences }
  const disks = await examineDisks(host)
  const kernel = [...examineKernel(host), ...examineContainer(host)]
  return [...kernel, await examineSandbox(host), ...(await examineLanguages(host)), ...disks]
}

/** By the worker's own search: a row for each language that is there, whole or broken, and one for the rest. */
async function examineLanguages(host: Host): Promise<Finding[]> {
  const { toolchains, missing } = await findToolchains(host.settings, host, host.languages)
  const found = Object.entries(toolchains)
  // A missing language is a fault only when all are missing.
  if (found.length === 0)
    return missing.map(({ language, reason, remedy }) => reportMissing(language, reason, remedy))
  const broken = missing.filter(({ isBroken }) => isBroken)
  const absent = missing.filter(({ isBroken }) => !isBroken).map(({ language }) => language)
  return [
    ...found.map(([name, { version, location }]) => reportOk(name, `${version} (${location})`)),
    ...broken.map(({ language, reason, remedy }) =>
      reportWarning(language, `${reason}: it is not offered`, remedy),
    ),
    reportOk('languages', `not installed: ${absent.join(', ') || 'none'} (make languages)`),
  ]
}

const marks: Readonly<Record<Finding['level'], string>> = { ok: '✓', warning: '!', missing: '✗' }

/** Lines for a terminal: mark, name and detail in columns, the remedy on a line below; last whether a worker starts. */
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
