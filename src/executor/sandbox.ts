// What all programs of a worker share: the parent of their cgroups, the directory of their standard streams, the filter; and the
// boxes that are made with these.
import { closeSync, openSync, readdirSync } from 'node:fs'
import { openBoxes } from '#box'
import {
  createStandardStreams,
  findInheritedDescriptors,
  readHostRoot,
  removeStandardStreams,
} from '#bubblewrap'
import type { BoxResources } from '#bubblewrap'
import { isAbandoned, nameWorkerGroup, openCgroupParent, shareCores } from '#cgroup'
import type { BoxChoice, Boxes, Language, Limits } from '#contract'
import { assembleFilter } from '#seccomp'
import { warm } from '#toolchain'
import { listAheadRuntimes, listForkServers } from './offer.ts'
import type { Toolchains } from './offer.ts'
import type { SlotPool } from './slot.ts'

/** What a worker says of its boxes. */
export interface SandboxOptions {
  /** How many programs run at once. */
  readonly slots: number
  readonly box?: BoxChoice
  readonly cacheDirectory: string
  readonly onFallback?: (reason: string) => void
}

/** Makes what phases share, then the boxes, and proves them. */
export async function openSandbox(
  toolchains: Toolchains,
  slots: SlotPool,
  limits: Readonly<Record<Language, Limits>>,
  { slots: running, box = 'auto', cacheDirectory, onFallback = () => {} }: SandboxOptions,
): Promise<{ readonly resources: BoxResources; readonly boxes: Boxes }> {
  const resources = await openResources(cacheDirectory, shareCores(running))
  try {
    // First of all, so that no keeper or box is charged for what it reads.
    for (const { warmPaths } of toolchains.values()) warm(warmPaths)
    const boxes = await openBoxes(resources, {
      choice: box,
      slots: slots.all,
      directory: `${cacheDirectory}/keeper`,
      paths: [...toolchains.values()].flatMap(({ paths }) => paths),
      forkServers: listForkServers(toolchains),
      aheadRuntimes: listAheadRuntimes(toolchains, limits),
      onFallback,
    })
    return { resources, boxes }
  } catch (error) {
    await closeResources(resources)
    throw error
  }
}

/** Makes what all phases share: the parent cgroup, the standard streams, the filter. */
async function openResources(cacheDirectory: string, cores: number): Promise<BoxResources> {
  const name = nameWorkerGroup()
  sweepDirectory(cacheDirectory)
  const cgroups = await openCgroupParent(name, cores)
  try {
    const filter = assembleFilter()
    const streams = createStandardStreams(`${cacheDirectory}/${name}`)
    const inherited = findInheritedDescriptors()
    const emptyDescriptor = openSync('/dev/null', 'r')
    return { cgroups, streams, filter, root: readHostRoot(), inherited, emptyDescriptor }
  } catch (error) {
    await cgroups.close()
    throw error
  }
}

/**
 * Standard streams of workers that died have no name a moment after they are made; their directories and the
 * records of them remain. */
function sweepDirectory(cacheDirectory: string): void {
  for (const name of readdirSync(cacheDirectory).filter(isAbandoned)) {
    removeStandardStreams(`${cacheDirectory}/${name}`)
  }
}

export async function closeResources(resources: BoxResources): Promise<void> {
  resources.streams.close()
  closeSync(resources.emptyDescriptor)
  await resources.cgroups.close()
}
