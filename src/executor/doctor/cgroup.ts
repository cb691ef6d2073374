// Examines cgroups: which version has the controllers, and whether this worker may make groups with limits. Unlike the
// worker it moves no process and enables nothing, as a login session may hold others.
import { accessSync, constants, existsSync, mkdirSync, rmdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import {
  findDelegatedGroup,
  readHierarchies,
  readPids,
  readValue,
  versionOneControllers,
} from '#cgroup'
import type { Hierarchy } from '#cgroup'
import { describe } from '#contract'
import { reportMissing, reportOk, reportWarning } from './finding.ts'
import type { Finding } from './finding.ts'
import { readProcessFile } from './host.ts'
import type { Host } from './host.ts'

const unifiedRemedy =
  'mount -t cgroup2 none /sys/fs/cgroup, or boot with systemd.unified_cgroup_hierarchy=1'
const mountController = (controller: string): string =>
  `mount -t cgroup -o ${controller} ${controller} /sys/fs/cgroup/${controller} (after mkdir)`
const delegateRemedy =
  'run the worker as root, or as a systemd service with Delegate=yes (in a container: --cgroupns=private and a writable /sys/fs/cgroup)'
/** systemd delegates the v2 tree alone. */
const versionOneRemedy = (group: string): string =>
  `run the worker as root, or give its user a group in every hierarchy and start it there: mkdir ${group}/worker && chown -R USER ${group}/worker`

export function examineCgroups(host: Host): Finding[] {
  const mountinfo = readProcessFile(host, 'self/mountinfo')
  const membership = readProcessFile(host, 'self/cgroup')
  if (mountinfo === null || membership === null)
    return [reportMissing('cgroup', '/proc/self/cgroup cannot be read', 'mount -t proc proc /proc')]
  const hierarchies = readHierarchies(mountinfo, membership)
  const unified = hierarchies.find(({ type }) => type === 'cgroup2')
  const hasVersion1 = hierarchies.some(({ controllers }) => controllers.includes('memory'))
  if (hasVersion1) {
    const kind = unified === undefined ? 'v1' : 'v1, with an empty v2 tree beside it (hybrid)'
    return [reportOk('cgroup', kind), ...examineVersion1(host, hierarchies, unified)]
  }
  if (unified !== undefined)
    return [reportOk('cgroup', `v2 on ${unified.mountPoint}`), ...examineVersion2(host, unified)]
  return [
    reportMissing('cgroup', 'no memory controller is mounted, neither v1 nor v2', unifiedRemedy),
  ]
}

function examineVersion1(
  host: Host,
  hierarchies: readonly Hierarchy[],
  unified: Hierarchy | undefined,
): Finding[] {
  const find = (controller: string): Hierarchy | undefined =>
    hierarchies.find(({ controllers }) => controllers.includes(controller))
  const examineController = (controller: string, isRequired: boolean): Finding[] => {
    const name = `cgroup ${controller}`
    const hierarchy = find(controller)
    const remedy = mountController(controller)
    if (hierarchy !== undefined)
      return [examineGroup(name, hierarchy.ownGroup, { version: 'v1', mountRemedy: remedy })]
    return isRequired
      ? [reportMissing(name, 'not mounted', `${remedy}, or boot with cgroup v2`)]
      : []
  }
  const { required, optional } = versionOneControllers
  const findings = [
    ...required.flatMap((controller) => examineController(controller, true)),
    // The worker makes groups here too.
    ...optional.flatMap((controller) => examineController(controller, false)),
    examineKill(unified, find('freezer')),
  ]
  if (find('cpu') === undefined)
    findings.push(
      reportWarning(
        'cgroup cpu',
        'not mounted: one box may take every core for its time',
        mountController('cpu'),
      ),
    )
  const memory = find('memory')
  const hasAccounting =
    memory !== undefined && existsSync(join(memory.ownGroup, 'memory.memsw.limit_in_bytes'))
  return [...findings, examineSwapAccounting(host, hasAccounting)]
}

/** One of the two must kill a box at once: an old kernel kills one by one, which a fork bomb outruns. */
function examineKill(unified: Hierarchy | undefined, freezer: Hierarchy | undefined): Finding {
  const name = 'cgroup kill'
  const freezerRemedy = mountController('freezer')
  const wanted = [
    {
      hierarchy: unified,
      file: 'cgroup.kill',
      mountRemedy: `${freezerRemedy}, or boot a kernel ≥ 5.14, whose v2 tree has cgroup.kill`,
    },
    { hierarchy: freezer, file: 'freezer.state', mountRemedy: freezerRemedy },
  ]
  const found = wanted.flatMap(({ hierarchy, ...kind }) =>
    hierarchy === undefined
      ? []
      : [examineGroup(name, hierarchy.ownGroup, { version: 'v1', ...kind })],
  )
  return (
    found.find(({ level }) => level === 'ok') ??
    found[0] ??
    reportMissing(
      name,
      'neither a v2 tree nor the freezer is mounted: a box could not be killed at once',
      'mkdir -p /sys/fs/cgroup/unified && mount -t cgroup2 none /sys/fs/cgroup/unified',
    )
  )
}

function examineVersion2(host: Host, unified: Hierarchy): Finding[] {
  const { mountPoint } = unified
  const ownGroup = findDelegatedGroup(unified)
  let controllers: string[]
  let readOnly: Finding
  try {
    controllers = readValue(ownGroup, 'cgroup.controllers').split(' ')
    readOnly = examineGroup('cgroup delegation', ownGroup, {
      version: 'v2',
      mountRemedy: unifiedRemedy,
    })
  } catch (error) {
    return [reportMissing('cgroup delegation', describe(error), unifiedRemedy)]
  }
  const findings = ['memory', 'pids'].map((controller) =>
    controllers.includes(controller)
      ? reportOk(`cgroup ${controller}`, 'available')
      : reportMissing(
          `cgroup ${controller}`,
          `${ownGroup} is not given it`,
          controller === 'memory'
            ? 'Delegate=yes in the service, or boot with cgroup_enable=memory where the kernel turns it off (Raspberry Pi)'
            : delegateRemedy,
        ),
  )
  if (!controllers.includes('cpu'))
    findings.push(
      reportWarning(
        'cgroup cpu',
        'not given: one box may take every core for its time',
        'Delegate=yes in the service',
      ),
    )
  findings.push(readOnly.level === 'ok' ? examineDelegation(ownGroup, mountPoint) : readOnly)
  const hasAccounting = [ownGroup, ...listAbove(ownGroup, mountPoint)].some((group) =>
    existsSync(join(group, 'memory.swap.max')),
  )
  // The root group has no such file, so swap is taken as counted.
  const isUnknown = ownGroup === mountPoint
  return [...findings, examineSwapAccounting(host, hasAccounting || isUnknown)]
}

function listAbove(group: string, mountPoint: string): string[] {
  const names = group.slice(mountPoint.length).split('/').filter(Boolean)
  return names.map((_, index) => join(mountPoint, ...names.slice(0, index)))
}

/** Groups with processes give children no controllers (EBUSY), so the worker must move them to a leaf. */
function examineDelegation(ownGroup: string, mountPoint: string): Finding {
  const name = 'cgroup delegation'
  try {
    for (const file of ['cgroup.procs', 'cgroup.subtree_control'])
      accessSync(join(ownGroup, file), constants.W_OK)
    const type = existsSync(join(ownGroup, 'cgroup.type'))
      ? readValue(ownGroup, 'cgroup.type')
      : 'root'
    if (type !== 'root' && type !== 'domain')
      return reportMissing(
        name,
        `${ownGroup} is "${type}" and takes no limits on memory`,
        delegateRemedy,
      )
    const enabled = readValue(ownGroup, 'cgroup.subtree_control').split(' ')
    if (type === 'root' || ['memory', 'pids'].every((controller) => enabled.includes(controller)))
      return reportOk(name, `${ownGroup} can be divided`)
    // Pid 0 is a process of another pid namespace, which cannot be moved.
    const pids = readPids(ownGroup)
    if (pids.includes(0))
      return reportMissing(
        name,
        `EBUSY: ${ownGroup} holds processes that cannot be seen, and so moved, from here`,
        'docker run --cgroupns=private …, or give the worker a cgroup of its own',
      )
    if (pids.length === 0) return reportOk(name, `${ownGroup} can be divided`)
    return reportOk(
      name,
      `${ownGroup} can be divided once its ${pids.length} processes are in a leaf of their own; the worker does that`,
    )
  } catch (error) {
    return explain(name, ownGroup === mountPoint ? mountPoint : ownGroup, error, {
      version: 'v2',
      mountRemedy: unifiedRemedy,
    })
  }
}

interface GroupKind {
  readonly version: 'v1' | 'v2'
  /** `cgroup.procs` unless said. */
  readonly file?: string
  /** What helps without such a tree. */
  readonly mountRemedy: string
}

/** Making and removing a group is the only proof. */
function examineGroup(
  name: string,
  group: string,
  { version, file = 'cgroup.procs', mountRemedy }: GroupKind,
): Finding {
  const probe = join(group, `runledger-doctor-${process.pid}`)
  try {
    mkdirSync(probe)
    // A plain directory in a cgroup's place stays empty.
    const isUsable = existsSync(join(probe, file))
    rmdirSync(probe)
    if (!isUsable)
      return reportMissing(
        name,
        `a group made in ${group} has no ${file}: it is no cgroup of the kind needed`,
        mountRemedy,
      )
    return reportOk(name, `groups can be made in ${group}`)
  } catch (error) {
    return explain(name, group, error, { version, mountRemedy })
  }
}

function explain(
  name: string,
  group: string,
  error: unknown,
  { version, mountRemedy }: GroupKind,
): Finding {
  const remedy = version === 'v1' ? versionOneRemedy(group) : delegateRemedy
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
  switch (code) {
    case 'EROFS':
      return reportMissing(
        name,
        `EROFS: ${group} is mounted read-only`,
        'docker run --cgroupns=private --security-opt writable-cgroups=true …, or mount -o remount,bind,rw the cgroup file system',
      )
    case 'EACCES':
    case 'EPERM': {
      const owner = existsSync(group) ? ` (owned by uid ${statSync(group).uid})` : ''
      return reportMissing(name, `${code}: ${group} is not ours to divide${owner}`, remedy)
    }
    case 'EBUSY':
      return reportMissing(
        name,
        `EBUSY: ${group} is held by other processes`,
        version === 'v1'
          ? remedy
          : 'give the worker a cgroup of its own: systemd-run -p Delegate=yes …',
      )
    case 'ENOENT':
      return reportMissing(
        name,
        `ENOENT: ${group} is not there; is the cgroup file system mounted in this container?`,
        mountRemedy,
      )
    default:
      return reportMissing(name, `${group}: ${describe(error)}`, remedy)
  }
}

function examineSwapAccounting(host: Host, hasAccounting: boolean): Finding {
  const name = 'swap accounting'
  if (hasAccounting) return reportOk(name, 'swap counts towards the memory limit')
  const swaps = readProcessFile(host, 'swaps') ?? ''
  if (swaps.includes('\n'))
    return reportMissing(
      name,
      'off, and swap is on: a box could grow past its memory limit',
      'swapoff -a, or boot with swapaccount=1',
    )
  return reportOk(name, 'off, and so is swap')
}
