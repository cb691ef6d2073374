// Examines the kernel: its version, and settings that a box cannot correct.
import { basename } from 'node:path'
import { readProcessFile, reportMissing, reportOk, reportWarning } from './host.ts'
import type { Finding, Host } from './host.ts'

/** mount_setattr needs 5.12, cgroup.kill 5.14; clone3, fsopen and close_range are older. */
const oldestKernel = '5.14'

/**
 * Page-cache bugs by which an unprivileged program rewrites read-only files, so every box's toolchain. The filter
 * refuses what published exploits use; a repaired kernel is the remedy. Name, day, each series' first repaired release
 * (as announced by it). Other series count as repaired if newer than all of them. Distributions repair without a new
 * number, so a kernel built after the day, weeks after the announcement, counts too.
 */
const knownBugs = [
  ['CVE-2022-0847 (Dirty Pipe)', '2022-04-01', ['5.10.102', '5.15.25', '5.16.11']],
  [
    'CVE-2026-31431, CVE-2026-43284 (Copy Fail, Dirty Frag)',
    '2026-06-01',
    ['6.6.138', '6.12.87', '6.18.28', '7.0.5'],
  ],
] as const

function examineRelease(host: Host): Finding {
  const release = readProcessFile(host, 'sys/kernel/osrelease')
  const version = /^\d+\.\d+(?:\.\d+)?/u.exec(release)?.[0]
  if (version === undefined)
    return reportMissing('kernel', 'its version cannot be read', 'mount -t proc proc /proc')
  if (compare(version, oldestKernel) < 0)
    return reportMissing(
      'kernel',
      `Linux ${release} is older than ${oldestKernel}, which boxes need`,
      'install a kernel that is still maintained (Debian: apt-get install linux-image-amd64) and reboot',
    )
  const built = readBuildDate(readProcessFile(host, 'version'))
  const bugs = knownBugs
    .filter(([, day, fixed]) => {
      const series = fixed.find((one) => compare(version, one.replace(/\.\d+$/u, '')) === 0)
      const isOlder = compare(version, series ?? fixed.at(-1) ?? '') < 0
      return isOlder && !(built >= Date.parse(day))
    })
    .map(([name]) => name)
  if (bugs.length > 0)
    return reportWarning(
      'kernel',
      `Linux ${release} is in the range of ${bugs.join(' and ')}`,
      'install the newest kernel of the distribution or of this series (Debian: apt-get upgrade) and reboot',
    )
  if (compare(version, '5.19') < 0)
    return reportWarning(
      'kernel',
      `Linux ${release}: cgroup v2 has no memory.peak below 5.19, so that the peak of a run is sampled`,
      'install a kernel ≥ 6.12 and reboot',
    )
  return reportOk('kernel', `Linux ${release}`)
}

/** Milliseconds; NaN when /proc/version does not say (`#1 SMP Debian 6.1.187-1 (2026-10-02)`). */
function readBuildDate(version: string): number {
  const text = /\((\d{4}-\d\d-\d\d)\)$/u.exec(version)?.[1]
  const long = / (\w{3}) +(\d{1,2}) [\d:]{8} \w+ (\d{4})$/u.exec(version)
  return Date.parse(text ?? (long === null ? '' : `${long[2]} ${long[1]} ${long[3]} UTC`))
}

/** By as many numbers as `right` has. */
function compare(left: string, right: string): number {
  const numbers = left.split('.').map(Number)
  const differences = right.split('.').map((number, at) => (numbers[at] ?? 0) - Number(number))
  return differences.find((difference) => difference !== 0) ?? 0
}

export function examineKernel(host: Host): Finding[] {
  const pattern = readProcessFile(host, 'sys/kernel/core_pattern')
  const swaps = readProcessFile(host, 'swaps').split('\n').slice(1)
  const swapFiles = swaps.map((line) => line.split(/\s+/u)[0]).join(', ')
  const init = basename(readProcessFile(host, '1/cmdline').split('\0')[0] ?? '')
  return [
    examineRelease(host),
    pattern.startsWith('|')
      ? reportWarning(
          'core pattern',
          `crashes start ${pattern.slice(1).split(' ')[0]} on the host; no limit on core files stops that`,
          'sysctl -w kernel.core_pattern=core',
        )
      : reportOk('core pattern', pattern || 'no core files'),
    swaps.length > 0
      ? reportWarning(
          'swap',
          `on (${swapFiles}): boxes may not use it, but times vary when the host does`,
          'swapoff -a, and take the swap lines out of /etc/fstab',
        )
      : reportOk('swap', 'off'),
    // A killed box leaves process 1 a zombie; Node does not reap what it has not started.
    /^(?:node|nodejs|npm)\b/u.test(init)
      ? reportWarning(
          'init',
          `process 1 is ${init}, as in a container without an init: what a killed box leaves stays as zombies`,
          'docker run --init …, or start the container with tini or dumb-init',
        )
      : reportOk('init', `process 1 is ${init || 'not to be seen'}`),
  ]
}
