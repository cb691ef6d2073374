// Examines the kernel: its version, and settings that a box cannot correct.
import { basename } from 'node:path'
import { readProcessFile, adviseKernel, reportMissing, reportOk, reportWarning } from './host.ts'
import type { Finding, Host } from './host.ts'

function examineRelease(host: Host): Finding {
  const release = readProcessFile(host, 'sys/kernel/osrelease')
  const [, major, minor] = /^(\d+)\.(\d+)/u.exec(release) ?? []
  if (minor === undefined)
    return reportMissing('kernel', 'its version cannot be read', 'mount -t proc proc /proc')
  const version = Number(major) * 1000 + Number(minor)
  // mount_setattr needs 5.12, cgroup.kill 5.14; clone3, fsopen and close_range are older.
  if (version < 5014) {
    const detail = `Linux ${release} is older than 5.14, which boxes need`
    return reportMissing('kernel', detail, adviseKernel())
  }
  if (version >= 5019) return reportOk('kernel', `Linux ${release}`)
  const detail = `Linux ${release}: cgroup v2 has no memory.peak below 5.19, so that the peak of a run is sampled`
  return reportWarning('kernel', detail, adviseKernel())
}

export function examineKernel(host: Host): Finding[] {
  const pattern = readProcessFile(host, 'sys/kernel/core_pattern')
  const swaps = readProcessFile(host, 'swaps').split('\n').slice(1)
  const files = swaps.map((line) => line.split(/\s+/u)[0]).join(', ')
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
    files
      ? reportWarning(
          'swap',
          `on (${files}): boxes may not use it, but times vary when the host does`,
          'swapoff -a, and remove the swap lines from /etc/fstab',
        )
      : reportOk('swap', 'off'),
    // The zombie of a killed box becomes a child of process 1, and Node does not reap processes that it has not started.
    /^(?:node|nodejs|npm)\b/u.test(init)
      ? reportWarning(
          'init',
          `process 1 is ${init}, as in a container without an init: processes of killed boxes stay as zombies`,
          'docker run --init …, or start the container with tini or dumb-init',
        )
      : reportOk('init', `process 1 is ${init || 'not visible'}`),
  ]
}
