// Examines the kernel: its version, and settings that a box cannot correct.
import { basename } from 'node:path'
import { reportMissing, reportOk, reportWarning } from './finding.ts'
import type { Finding } from './finding.ts'
import { readProcessFile } from './host.ts'
import type { Host } from './host.ts'

/** mount_setattr needs 5.12, cgroup.kill 5.14; clone3, fsopen and close_range are older. */
const oldestKernel = [5, 14] as const

/**
 * Page-cache bugs by which an unprivileged program rewrites read-only files, so every box's toolchain. The filter
 * refuses what published exploits use; a repaired kernel is the remedy.
 * `fixed`: each series' first repaired release; other series count as repaired if newer than all of them. Distributions
 * repair without a new number, so a kernel built after `repairedSince`, weeks after the announcement, counts too.
 * Sources: the announcements of Linux 5.10.102, 5.15.25, 5.16.11 (Dirty Pipe) and of 6.6.138, 6.12.87, 6.18.28, 7.0.5
 * (Dirty Frag; Copy Fail was repaired in earlier releases of each).
 */
const knownBugs = [
  {
    name: 'CVE-2022-0847 (Dirty Pipe)',
    since: [5, 8, 0],
    fixed: [
      [5, 10, 102],
      [5, 15, 25],
      [5, 16, 11],
    ],
    repairedSince: '2022-04-01',
  },
  {
    name: 'CVE-2026-31431, CVE-2026-43284 (Copy Fail, Dirty Frag)',
    since: [4, 14, 0],
    fixed: [
      [6, 6, 138],
      [6, 12, 87],
      [6, 18, 28],
      [7, 0, 5],
    ],
    repairedSince: '2026-06-01',
  },
] as const

export function examineKernel(host: Host): Finding[] {
  return [examineRelease(host), examineCorePattern(host), examineSwap(host), examineInit(host)]
}

function examineRelease(host: Host): Finding {
  const name = 'kernel'
  const release = readProcessFile(host, 'sys/kernel/osrelease')
  const numbers = /^(\d+)\.(\d+)(?:\.(\d+))?/u.exec(release ?? '')
  if (release === null || numbers === null)
    return reportMissing(name, 'its version cannot be read', 'mount -t proc proc /proc')
  const version = numbers.slice(1).map((number) => Number(number ?? 0))
  if (compare(version, oldestKernel) < 0)
    return reportMissing(
      name,
      `Linux ${release} is older than ${oldestKernel.join('.')}, which boxes need`,
      'install a kernel that is still maintained (Debian: apt-get install linux-image-amd64) and reboot',
    )
  const built = readBuildDate(readProcessFile(host, 'version') ?? '')
  const bugs = knownBugs.filter(
    ({ since, fixed, repairedSince }) =>
      isAffected(version, since, fixed) && !(built >= Date.parse(repairedSince)),
  )
  if (bugs.length > 0)
    return reportWarning(
      name,
      `Linux ${release} is in the range of ${bugs.map((bug) => bug.name).join(' and ')}`,
      'install the newest kernel of the distribution or of this series (Debian: apt-get upgrade) and reboot',
    )
  if (compare(version, [5, 19]) < 0)
    return reportWarning(
      name,
      `Linux ${release}: cgroup v2 has no memory.peak below 5.19, so that the peak of a run is sampled`,
      'install a kernel ≥ 6.12 and reboot',
    )
  return reportOk(name, `Linux ${release}`)
}

/** Milliseconds; NaN when /proc/version does not say (`#1 SMP Debian 6.1.187-1 (2026-10-02)`). */
function readBuildDate(version: string): number {
  const text = /\((\d{4}-\d\d-\d\d)\)$/u.exec(version)?.[1]
  const long = / (\w{3}) +(\d{1,2}) [\d:]{8} \w+ (\d{4})$/u.exec(version)
  return Date.parse(text ?? (long === null ? '' : `${long[2]} ${long[1]} ${long[3]} UTC`))
}

function compare(left: readonly number[], right: readonly number[]): number {
  for (const [index, number] of right.entries())
    if (left[index] !== number) return (left[index] ?? 0) - number
  return 0
}

function isAffected(
  version: readonly number[],
  since: readonly number[],
  fixed: readonly (readonly number[])[],
): boolean {
  if (compare(version, since) < 0) return false
  const series = fixed.find((release) => compare(version, release.slice(0, 2)) === 0)
  if (series !== undefined) return compare(version, series) < 0
  const newest = fixed.at(-1) ?? []
  return compare(version, newest) < 0
}

function examineCorePattern(host: Host): Finding {
  const name = 'core pattern'
  const pattern = readProcessFile(host, 'sys/kernel/core_pattern') ?? ''
  if (pattern.startsWith('|'))
    return reportWarning(
      name,
      `crashes start ${pattern.slice(1).split(' ')[0]} on the host; no limit on core files stops that`,
      'sysctl -w kernel.core_pattern=core',
    )
  return reportOk(name, pattern === '' ? 'no core files' : pattern)
}

function examineSwap(host: Host): Finding {
  const name = 'swap'
  const swaps = (readProcessFile(host, 'swaps') ?? '').split('\n').slice(1)
  const files = swaps.map((line) => line.split(/\s+/u)[0] ?? '')
  if (files.length > 0)
    return reportWarning(
      name,
      `on (${files.join(', ')}): boxes may not use it, but times vary when the host does`,
      'swapoff -a, and take the swap lines out of /etc/fstab',
    )
  return reportOk(name, 'off')
}

/** A killed box leaves process 1 a zombie; Node does not reap what it has not started. */
function examineInit(host: Host): Finding {
  const name = 'init'
  const program = basename(readProcessFile(host, '1/cmdline')?.split('\0')[0] ?? '')
  if (/^(?:node|nodejs|npm)\b/u.test(program))
    return reportWarning(
      name,
      `process 1 is ${program}, as in a container without an init: what a killed box leaves stays as zombies`,
      'docker run --init …, or start the container with tini or dumb-init',
    )
  return reportOk(name, program === '' ? 'process 1 cannot be seen' : `process 1 is ${program}`)
}
