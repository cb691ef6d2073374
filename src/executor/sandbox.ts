// What all boxes of a worker share: the parent of their cgroups, the filter, the keeper's program and what of the host they show;
// and the boxes that are made with these.
import { openCgroupParent, nameWorkerGroup, shareCores } from '#cgroup'
import type { Boxes, Language, Limits } from '#contract'
import { buildKeeper, encodeLayout, openBoxes } from '#keeper'
import type { BoxResources } from '#keeper'
import { assembleFilters } from '#seccomp'
import { warm } from '#toolchain'
import { listPrestartedRuntimes, listForkServers } from './accelerate.ts'
import type { Toolchains } from './languages.ts'
import type { SlotPool } from './slot.ts'

/** What a worker says of its boxes. */
export interface SandboxOptions {
  /** How many programs run at once. */
  readonly slots: number
  readonly cacheDirectory: string
  readonly onFallback?: (reason: string) => void
}

/** Makes what phases share, then the boxes, and proves them. */
export async function openSandbox(
  toolchains: Toolchains,
  slots: SlotPool,
  limits: Readonly<Record<Language, Limits>>,
  { slots: running, cacheDirectory, onFallback = () => {} }: SandboxOptions,
): Promise<{ readonly resources: BoxResources; readonly boxes: Boxes }> {
  const programs = await buildKeeper(`${cacheDirectory}/keeper`)
  const layout = encodeLayout([...toolchains.values()].flatMap(({ paths }) => paths))
  const filters = assembleFilters()
  const cgroups = await openCgroupParent(nameWorkerGroup(), shareCores(running))
  const resources = { cgroups, filters, programs, layout }
  try {
    // First of all, so that no keeper or box is charged for what it reads.
    for (const { warmPaths } of toolchains.values()) warm(warmPaths)
    const boxes = await openBoxes({
      resources,
      slots: slots.all,
      forkServers: listForkServers(toolchains),
      prestartedRuntimes: listPrestartedRuntimes(toolchains, limits),
      onFallback,
    })
    return { resources, boxes }
  } catch (error) {
    await cgroups.close()
    throw error
  }
}
