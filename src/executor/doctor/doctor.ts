// The doctor: looks at a host and says, row by row, what keeps the sandbox from being had there and what to do about it.
// Nothing runs on a host with a row that is `missing`: a box that is weaker than promised is never made instead.
import { defaultSettings } from '#language'
import { ordinaryToolHost } from '#toolchain'
import type { Host } from './host.ts'
import { examineBox } from './box.ts'
import { examineCapabilities } from './capability.ts'
import { examineCgroups } from './cgroup.ts'
import { examineContainer } from './container.ts'
import { examineDisks } from './disk.ts'
import { examineKeeper } from './keeper.ts'
import { examineKernel } from './kernel.ts'
import { examineLanguages } from './language.ts'
import { examineBubblewrap, examineTools, examineUser } from './tools.ts'
import type { Finding } from './finding.ts'

export type { Finding } from './finding.ts'

/**
 * Where to look, as far as it differs from an ordinary host. A caller that knows the worker's configuration gives
 * `firstUid` (the uid that the box is tried with; 61000 unless said), `cacheDirectory` (whose disk is looked at;
 * /var/cache/runledger unless said) and `settings` (the languages' own variables); the rest is for tests.
 */
export type HostOptions = Partial<Host>

const ordinaryHost: Omit<Host, 'uid'> = {
  processDirectory: '/proc',
  ...ordinaryToolHost,
  settings: defaultSettings,
  architecture: process.arch,
  firstUid: 61_000,
  cacheDirectory: '/var/cache/runledger',
  temporaryDirectory: '/tmp',
}

/**
 * Examines the host, one finding a row, in an order in which each row's remedy may also help those below it.
 * Takes about a second, most of it the JVM's.
 */
export async function examineHost(options: HostOptions = {}): Promise<readonly Finding[]> {
  const host: Host = { ...ordinaryHost, uid: process.getuid?.() ?? 0, ...options }
  const kernel = examineKernel(host)
  const container = examineContainer(host)
  const programs = [...(await examineUser(host)), await examineBubblewrap(host)]
  const makers = [...kernel.filter(({ name }) => name === 'architecture'), ...programs]
  return [
    ...kernel,
    // A container's own row tells of more capabilities, and with which flag each is had.
    ...(container.length > 0 ? container : examineCapabilities(host)),
    ...examineCgroups(host),
    ...programs,
    ...examineTools(host),
    await examineBox(host, makers),
    ...(await examineKeeper(host)),
    ...(await examineLanguages(host)),
    ...(await examineDisks(host)),
  ]
}

const marks: Readonly<Record<Finding['level'], string>> = { ok: '✓', warning: '!', missing: '✗' }

/** The findings as lines for a terminal: mark, name and detail in columns, the remedy on a line of its own below. */
export function formatFindings(findings: readonly Finding[]): string {
  const width = Math.max(0, ...findings.map(({ name }) => name.length))
  return findings
    .flatMap(({ name, level, detail, remedy }) => [
      `${marks[level]} ${name.padEnd(width)}  ${detail}`,
      ...(remedy === null ? [] : [`  ${' '.repeat(width)}  → ${remedy}`]),
    ])
    .join('\n')
}
