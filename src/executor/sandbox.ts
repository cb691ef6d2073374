// Opens a worker's boxes and the resources that they share: the parent of their cgroups, the seccomp filters, the keeper's
// program and the host paths that they show.
import { openCgroupParent, nameWorkerGroup, shareCores } from '#cgroup'
import type { Boxes, Language, Limits } from '#contract'
import { buildKeeper, encodeLayout, openBoxes } from '#keeper'
import type { BoxResources } from '#keeper'
import { assembleFilters } from '#seccomp'
import { warm } from '#toolchain'
import type { Toolchains } from '#toolchain'
import { listPrestartedRuntimes, listForkServers } from './accelerate.ts'
import type { ExecutorOptions } from './executor.ts'
import type { SlotPool } from './slot.ts'

/** Makes the shared resources, then the boxes, and verifies that a box isolates. */
export async function openSandbox(
  toolchains: Toolchains,
  slots: SlotPool,
  limits: Readonly<Record<Language, Limits>>,
  {
    slots: running,
    cacheDirectory,
    dyingSeconds = 60,
    onFallback = () => {},
  }: Pick<ExecutorOptions, 'slots' | 'cacheDirectory' | 'dyingSeconds' | 'onFallback'>,
): Promise<{ readonly resources: BoxResources; readonly boxes: Boxes }> {
  const programs = await buildKeeper(`${cacheDirectory}/keeper`)
  const layout = encodeLayout([...toolchains.values()].flatMap(({ paths }) => paths))
  const filters = assembleFilters()
  const cgroups = await openCgroupParent(nameWorkerGroup(), shareCores(running))
  const resources = { cgroups, filters, programs, layout }
  try {
    // Done first, so that the page cache of these files is charged to the worker and not to a keeper or box.
    for (const { warmPaths } of toolchains.values()) warm(warmPaths)
    const boxes = await openBoxes({
      resources,
      slots: slots.all,
      forkServers: listForkServers(toolchains),
      prestartedRuntimes: listPrestartedRuntimes(toolchains, limits),
      dyingSeconds,
      onFallback,
    })
    return { resources, boxes }
  } catch (error) {
    await cgroups.close()
    throw error
  }
}
