// Examines what podman or docker gives a container: one row per flag, in the engine's words, as an operator needs the
// flag behind what the kernel refuses.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { reportMissing, reportOk, reportWarning } from './finding.ts'
import type { Finding } from './finding.ts'
import { readProcessFile } from './host.ts'
import type { Host } from './host.ts'

/** capabilities(7), and what a root worker uses them for. */
const capabilities = [
  ['CHOWN', 0, 'hands cgroups to the slots'],
  ['DAC_OVERRIDE', 1, 'writes what it has handed over'],
  ['KILL', 5, 'ends programs of the slots'],
  ['SETGID', 6, 'becomes a slot’s group'],
  ['SETUID', 7, 'becomes a slot’s user'],
  ['SETPCAP', 8, 'gives every capability up for a slot'],
  ['SYS_PTRACE', 19, 'looks at the namespaces and files of a box'],
  [
    'SYS_ADMIN',
    21,
    'opens the engine’s system call filter for namespaces; the worker itself gives it up',
  ],
] as const

/**
 * Empty outside a container. podman tells by its environment, docker by a file.
 * @param root of the file system with docker's file.
 */
export function examineContainer(host: Host, root = '/'): Finding[] {
  const environment = (readProcessFile(host, 'self/environ') ?? '').split('\0')
  const engine = environment.some((variable) => /^container=(podman|oci)$/u.test(variable))
    ? 'podman'
    : 'docker'
  if (engine === 'docker' && !existsSync(join(root, '.dockerenv'))) return []
  const flags = [
    ...(host.uid === 0 ? [examineCapabilities(host)] : []),
    examineCoveredProc(host),
    examineCgroupMounts(host),
    examineProfile(host),
  ]
  return flags.every(({ level }) => level === 'ok')
    ? [reportOk('container', `${engine} gives what a worker needs`)]
    : flags
}

/** Looks at process 1, as the image's entry point drops what a worker does not keep. */
function examineCapabilities(host: Host): Finding {
  const name = 'container caps'
  const bounds = /^CapBnd:\s*([0-9a-f]+)$/mu.exec(readProcessFile(host, '1/status') ?? '')?.[1]
  const held = BigInt(`0x${bounds ?? '0'}`)
  const lacking = capabilities.filter(([, number]) => ((held >> BigInt(number)) & 1n) === 0n)
  if (lacking.length === 0) return reportOk(name, 'all that a worker needs')
  const names = lacking.map(([capability]) => capability)
  return reportMissing(
    name,
    lacking.map(([capability, , purpose]) => `no ${capability} (${purpose})`).join(', '),
    sayBoth(
      `--cap-add=${names.join(',')}`,
      names.map((capability) => `--cap-add=${capability}`).join(' '),
    ),
  )
}

function examineCoveredProc(host: Host): Finding {
  const name = 'container proc'
  const covered = readMounts(host).filter(({ place }) => place.startsWith('/proc/'))
  if (covered.length === 0) return reportOk(name, 'whole')
  return reportWarning(
    name,
    `${covered.length} paths are covered, so that a box gets no /proc of its own`,
    sayBoth('--security-opt=unmask=/proc/*', '--security-opt=systempaths=unconfined'),
  )
}

function examineCgroupMounts(host: Host): Finding {
  const name = 'container cgroup'
  const mounts = readMounts(host).filter(({ type }) => type.startsWith('cgroup'))
  const needed = mounts.filter(({ place }) => /(cgroup|memory|pids|cpuacct)$/u.test(place))
  const closed = needed.filter(({ options }) => options.split(',').includes('ro'))
  if (mounts.length > 0 && closed.length === 0) return reportOk(name, 'writable')
  if (mounts.length === 0)
    return reportMissing(
      name,
      'none is mounted',
      sayBoth('--cgroupns=private', '--cgroupns=private'),
    )
  // Engines mount cgroups read-only; the entry point remounts them with this capability, which the worker then lacks.
  const flag = '--cap-add=SYS_ADMIN with the image’s own entry point'
  return reportMissing(
    name,
    `read-only: ${closed.map(({ place }) => place).join(', ')}`,
    sayBoth(flag, flag),
  )
}

function examineProfile(host: Host): Finding {
  const name = 'container profile'
  const profile = readProcessFile(host, 'self/attr/current') ?? ''
  if (!profile.endsWith('(enforce)')) return reportOk(name, 'none of AppArmor’s')
  const flag = '--security-opt=apparmor=unconfined'
  return reportWarning(name, `AppArmor’s ${profile}: it may refuse mounts`, sayBoth(flag, flag))
}

interface Mount {
  readonly place: string
  readonly options: string
  readonly type: string
}

function readMounts(host: Host): Mount[] {
  const lines = (readProcessFile(host, 'self/mountinfo') ?? '').split('\n')
  return lines.map((line) => {
    const fields = line.split(' ')
    return {
      place: fields[4] ?? '',
      options: fields[5] ?? '',
      type: fields[fields.indexOf('-') + 1] ?? '',
    }
  })
}

function sayBoth(podman: string, docker: string): string {
  return `podman run ${podman} …; docker run ${docker} …`
}
