// Examines what podman or docker gives a container. Each row names a missing flag of the engine, because an operator can set
// a flag but cannot use the kernel's error message.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { readProcessFile, reportMissing, reportOk, reportWarning } from './host.ts'
import type { Finding, Host } from './host.ts'

/** capabilities(7), and what a root worker uses them for. */
const capabilities = [
  ['CHOWN', 0, 'hands cgroups to the slots'],
  ['DAC_OVERRIDE', 1, 'writes to cgroups that it has handed over'],
  ['KILL', 5, 'ends programs of the slots'],
  ['SETGID', 6, 'becomes a slot’s group'],
  ['SETUID', 7, 'becomes a slot’s user'],
  ['SETPCAP', 8, 'drops every capability for a slot'],
  ['SYS_PTRACE', 19, 'reads the namespaces and files of a box'],
  ['SYS_ADMIN', 21, 'lets the engine’s filter allow namespaces; the worker itself drops it'],
] as const

/**
 * Returns a row for each fault of the container; nothing outside a container. podman is recognized by an environment
 * variable, docker by a file.
 * @param root the root directory, in which docker's file is.
 */
export function examineContainer(host: Host, root = '/'): Finding[] {
  const environment = readProcessFile(host, 'self/environ').split('\0')
  const isPodman = environment.some((variable) => /^container=(podman|oci)$/u.test(variable))
  if (!isPodman && !existsSync(join(root, '.dockerenv'))) return []
  const faults = [...examineCapabilities(host), ...examineMounts(host), ...examineProfile(host)]
  if (faults.length > 0) return faults
  return [reportOk('container', `${isPodman ? 'podman' : 'docker'} gives what a worker needs`)]
}

/** Reads the capabilities of process 1, because the image's entry point drops those that a worker does not keep. */
function examineCapabilities(host: Host): Finding[] {
  const bounds = /^CapBnd:\s*([0-9a-f]+)$/mu.exec(readProcessFile(host, '1/status'))?.[1]
  const held = BigInt(`0x${bounds ?? '0'}`)
  const lacking = capabilities.filter(([, number]) => ((held >> BigInt(number)) & 1n) === 0n)
  if (host.uid !== 0 || lacking.length === 0) return []
  const detail = lacking.map(([name, , purpose]) => `no ${name} (${purpose})`).join(', ')
  const podman = `--cap-add=${lacking.map(([name]) => name).join(',')}`
  const docker = lacking.map(([name]) => `--cap-add=${name}`).join(' ')
  return [reportMissing('container caps', detail, sayBoth(podman, docker))]
}

function examineMounts(host: Host): Finding[] {
  const lines = readProcessFile(host, 'self/mountinfo').split('\n')
  const mounts = lines.map((line) => {
    const [, , , , path = '', options = '', ...others] = line.split(' ')
    const type = others[others.indexOf('-') + 1] ?? ''
    return { path, type, isReadOnly: options.split(',').includes('ro') }
  })
  const covered = mounts.filter(({ path }) => path.startsWith('/proc/')).length
  const proc = sayBoth('--security-opt=unmask=/proc/*', '--security-opt=systempaths=unconfined')
  const cgroups = mounts.filter(({ type }) => type.startsWith('cgroup'))
  // Engines mount cgroups read-only. The entry point remounts them with CAP_SYS_ADMIN, which the worker no longer has.
  const closed = cgroups
    .filter(({ path, isReadOnly }) => isReadOnly && /(cgroup|memory|pids|cpuacct)$/u.test(path))
    .map(({ path }) => path)
  const entryPoint = sayBoth('--cap-add=SYS_ADMIN with the image’s own entry point')
  const group = 'container cgroup'
  return [
    covered > 0 &&
      reportWarning('container proc', `${covered} paths are masked: a box gets no /proc`, proc),
    closed.length > 0 && reportMissing(group, `read-only: ${closed.join(', ')}`, entryPoint),
    cgroups.length === 0 && reportMissing(group, 'none is mounted', sayBoth('--cgroupns=private')),
  ].filter((finding) => finding !== false)
}

function examineProfile(host: Host): Finding[] {
  const profile = readProcessFile(host, 'self/attr/current')
  if (!profile.endsWith('(enforce)')) return []
  const remedy = sayBoth('--security-opt=apparmor=unconfined')
  return [reportWarning('container profile', `AppArmor’s ${profile} may refuse mounts`, remedy)]
}

function sayBoth(podman: string, docker = podman): string {
  return `podman run ${podman} …; docker run ${docker} …`
}
