// The doctor: tells row by row what keeps a host from having the sandbox, and what helps. With a `missing` row nothing
// runs; no weaker box is made instead.
import { defaultSettings } from '#language'
import { ordinaryToolHost } from '#toolchain'
import { examineContainer } from './container.ts'
import { examineDisks } from './disk.ts'
import type { Finding } from './finding.ts'
import type { Host } from './host.ts'
import { examineKernel } from './kernel.ts'
import { examineLanguages } from './language.ts'
import { examineSandbox } from './sandbox.ts'

export type { Finding } from './finding.ts'

/**
 * What differs from an ordinary host. Callers with a worker's configuration give `firstUid` (default 61000),
 * `cacheDirectory` (default /var/cache/runledger) and `settings` (the languages' variables); the rest is for tests.
 */
export type HostOptions = Partial<Host>

const ordinaryHost: Omit<Host, 'uid'> = {
  processDirectory: '/proc',
  ...ordinaryToolHost,
  settings: defaultSettings,
  firstUid: 61_000,
  cacheDirectory: '/var/cache/runledger',
  temporaryDirectory: '/tmp',
}

/** One finding a row; a row's remedy may also help those below. Asking languages' programs takes most of the time. */
export async function examineHost(options: HostOptions = {}): Promise<readonly Finding[]> {
  const host: Host = { ...ordinaryHost, uid: process.getuid?.() ?? 0, ...options }
  const disks = await examineDisks(host)
  return [
    ...examineKernel(host),
    ...examineContainer(host),
    await examineSandbox(host),
    ...(await examineLanguages(host)),
    ...disks,
  ]
}

const marks: Readonly<Record<Finding['level'], string>> = { ok: '✓', warning: '!', missing: '✗' }

/** Lines for a terminal: mark, name and detail in columns, the remedy on a line below. */
export function formatFindings(findings: readonly Finding[]): string {
  const width = Math.max(0, ...findings.map(({ name }) => name.length))
  return findings
    .flatMap(({ name, level, detail, remedy }) => [
      `${marks[level]} ${name.padEnd(width)}  ${detail}`,
      ...(remedy === null ? [] : [`  ${' '.repeat(width)}  → ${remedy}`]),
    ])
    .join('\n')
}
