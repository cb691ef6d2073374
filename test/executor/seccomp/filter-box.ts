// A box with any filter, for probing system calls. A keeper makes the box, so that the filter is tested where it is used.
import { existsSync } from 'node:fs'
import type { Test } from 'tap'
import { buildKeeper } from '../../../src/executor/box/keeper/build.ts'
import { encodeLayout } from '../../../src/executor/box/keeper/host-root.ts'
import { startKeeper } from '../../../src/executor/box/keeper/keeper-process.ts'
import { openCgroupParent } from '../../../src/executor/cgroup/cgroup.ts'
import { nameWorkerGroup } from '../../../src/executor/cgroup/worker-group.ts'
import { encode, returnValue } from '../../../src/executor/seccomp/bpf.ts'
import { assembleFilters } from '../../../src/executor/seccomp/seccomp.ts'
import { firstUid, keeperDirectory } from '../../helper/executor.ts'
import { request } from '../box/keeper/lone-keeper.ts'

export interface BoxResult {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

const allowAll = encode([returnValue(0x7fff0000)])
const configuration = ['/etc/java-17-openjdk', '/etc/java-21-openjdk', '/usr/include', '/usr/share']

/**
 * Returns a function that runs a command in a box. Inside, `/src` is the directory, read-only, and `/box` is the box's own.
 * @returns a function of the seccomp filter and the command. Null is a filter that allows all calls, for comparison.
 */
export async function openFilterBoxes(
  t: Test,
  directory: string,
): Promise<
  (filter: Buffer | null, command: readonly string[], input?: string) => Promise<BoxResult>
> {
  const cgroups = await openCgroupParent(nameWorkerGroup())
  t.teardown(() => cgroups.close())
  const { program } = await buildKeeper(keeperDirectory)
  const paths = configuration.filter(existsSync).map((path) => ({ source: path, target: path }))
  const layout = encodeLayout([...paths, { source: directory, target: '/src' }])
  const uid = process.getuid?.() === 0 ? firstUid : null
  const { keeperFilter } = assembleFilters().none
  let serial = 0
  return async (filter, command, stdin = '') => {
    serial += 1
    const group = await cgroups.createForKeeper(`filter-${serial}`, uid)
    const common = { group, uid, keeperFilter, layout, program }
    const keeper = await startKeeper({ ...common, filter: filter ?? allowAll })
    group.closeDescriptors()
    const asked = request(command, { stdin, wallSeconds: 300, memoryBytes: 1 << 30 })
    const limits = { ...asked.limits, cpuSeconds: 300, processes: 256, diskBytes: 64 << 20 }
    group.allow(limits)
    const { exit, stdout, stderr } = await keeper.run({ ...asked, limits })
    await keeper.close()
    await group.remove()
    const [out, errors] = [stdout, stderr].map(({ bytes }) => bytes.toString())
    return { status: exit?.code ?? null, stdout: out!, stderr: errors! }
  }
}
