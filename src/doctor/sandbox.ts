// Makes and proves a box with the worker's own code, so a step that fails here also fails in the worker. A table has the
// remedy for each step.
import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { describe, SandboxError } from '#contract'
import { defaultLimits } from '#language'
import { openSandbox } from '#sandbox'
import { claimUids, createSlotPool } from '#slot'
import type { UidRange } from '#slot'
import { adviseKernel, reportMissing, reportOk, reportWarning } from './host.ts'
import type { Finding, Host } from './host.ts'

/** Remedies by a pattern for the failed step and its error message. The first pattern that matches counts. */
const remedies: Readonly<Record<string, string>> = {
  'seccomp\\.assemble': 'run the worker on an x86_64 or aarch64 machine',
  'keeper\\.compile':
    'make keeper, or apt-get install gcc libc6-dev: the worker then compiles the keeper itself',
  'cgroup\\..*EROFS':
    'docker run --cgroupns=private --cap-add SYS_ADMIN … with the image’s own entry point, or mount -o remount,bind,rw the cgroup file system',
  'cgroup\\.find.*no memory cgroup':
    'mount -t cgroup2 none /sys/fs/cgroup, or boot with systemd.unified_cgroup_hierarchy=1',
  'cgroup\\..*swap is on': 'swapoff -a, or boot with swapaccount=1',
  'cgroup\\.find':
    'run the worker as root, or give its user a group in every hierarchy and start it there; for a hierarchy that is not mounted: mount -t cgroup -o NAME NAME /sys/fs/cgroup/NAME',
  'cgroup\\.':
    'run the worker as root, or as a systemd service with Delegate=yes (in a container: --cgroupns=private and a writable /sys/fs/cgroup)',
  'Function not implemented': adviseKernel(),
  'setpriv.*not found': 'apt-get install util-linux',
  'setpriv:':
    'run the worker as root with CAP_SETUID, CAP_SETGID and CAP_SETPCAP (Docker drops none of them by default), or not as root',
  'keeper\\.unshare.*No space left': 'sysctl -w user.max_user_namespaces=15000',
  'box\\.proc':
    'docker run --security-opt systempaths=unconfined …, podman run --security-opt unmask=ALL …, Kubernetes procMount: Unmasked',
  'box\\.filter': 'boot a kernel built with CONFIG_SECCOMP_FILTER=y',
  'keeper\\.(unshare|map|limit)|root\\.|box\\.(clone|mounts|scratch)':
    'run the worker as root with CAP_SYS_ADMIN, or sysctl -w kernel.unprivileged_userns_clone=1 kernel.apparmor_restrict_unprivileged_userns=0; in Docker: --security-opt seccomp=unconfined or a profile that allows clone, unshare, mount, pivot_root',
  '': 'find in dmesg and the audit log what refused it (AppArmor, SELinux, a container engine)',
}

export function findRemedy(words: string): string {
  const isMeant = ([pattern]: [string, string]): boolean => new RegExp(pattern, 'su').test(words)
  return Object.entries(remedies).find(isMeant)?.[1] ?? ''
}

/** Returns one row: the box that was made, or the failed step with its reason and remedy. */
export async function examineSandbox(host: Host): Promise<Finding> {
  const isRoot = host.uid === 0
  // The worker's cache directory may belong to another user.
  const cacheDirectory = mkdtempSync('/tmp/runledger-doctor-')
  let uids: UidRange | null = null
  try {
    // One uid would do, but workers that run here may have claimed hundreds: the search goes in steps of this size.
    if (isRoot) uids = await claimUids(host.firstUid, 64)
    const slots = createSlotPool(1, uids?.firstUid ?? null)
    const options = { slots: availableParallelism(), cacheDirectory }
    const { resources, boxes } = await openSandbox(new Map(), slots, defaultLimits, options)
    await boxes.close()
    await resources.cgroups.close()
    const detail = `made and closed: no capabilities, filter on, no network; cgroup ${resources.cgroups.version}`
    if (isRoot) return reportOk('box', `${detail}; slots run as uid ${host.firstUid} and up`)
    return reportWarning(
      'box',
      `${detail}; all slots run as uid ${host.uid}, whose kernel quotas they share with each other and the worker`,
      'run the worker as root (sudo make doctor checks that worker): every slot then has a separate uid, and no part of a submission runs as root',
    )
  } catch (error) {
    const step = error instanceof SandboxError ? error.step : 'box.open'
    // Reports the error's cause, because the error's own message sends the operator to the doctor.
    const reason = describe(error instanceof Error ? (error.cause ?? error) : error)
    const words = reason.startsWith(step) ? reason : describe(error)
    return reportMissing(step, words, findRemedy(words))
  } finally {
    uids?.release()
    rmSync(cacheDirectory, { recursive: true })
  }
}
