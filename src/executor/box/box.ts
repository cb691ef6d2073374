// Boxes of two kinds behind one interface: bubblewrap for each run, or a keeper in each slot, as tried at start.
import { realpathSync } from 'node:fs'
import { deviceLinks, devices, runPhase } from '#bubblewrap'
import type { BoxResources, RootEntry } from '#bubblewrap'
import { createClearings, describe, SandboxError } from '#contract'
import type { Boxes, BoxOptions, HostPath, Phase, PhaseRequest } from '#contract'
import { buildKeeper, createKeeperBoxes } from '#keeper'
import { canReadOutputFiles, proveForks, proveIsolation } from './prove-isolation.ts'

/**
 * Opens the boxes and proves one on this host.
 * @throws {SandboxError} when neither kind works, or not the one asked for.
 */
export async function openBoxes(resources: BoxResources, options: BoxOptions): Promise<Boxes> {
  const [firstSlot] = options.slots
  if (firstSlot === undefined) throw new SandboxError('slot.acquire', 'no slot was asked for')
  const open = async (boxes: Boxes): Promise<Boxes> => {
    try {
      const run = (request: PhaseRequest): Promise<Phase> => boxes.run(firstSlot, request)
      await proveIsolation(run)
      if (boxes.kind === 'keeper')
        for (const { probe } of options.forkServers) await proveIsolation(run, probe)
      if (boxes.kind === 'keeper' || (await canReadOutputFiles(run))) return boxes
      options.onFallback('output_files cannot be read here: what asks for them is left to others')
      return { ...boxes, readsOutputFiles: false }
    } catch (error) {
      await boxes.close()
      throw error
    }
  }
  if (options.choice === 'bubblewrap') return open(createPortableBoxes(resources))
  try {
    const programs = await buildKeeper(options.directory)
    const layout = encodeLayout([...resources.root, ...listFurther(resources.root, options.paths)])
    return await open(
      await createKeeperBoxes({ resources, programs, layout, proveForks, ...options }),
    )
  } catch (error) {
    if (options.choice === 'keeper') throw error
    options.onFallback(`no keeper: ${describe(error)}`)
    return open(createPortableBoxes(resources))
  }
}

function createPortableBoxes(resources: BoxResources): Boxes {
  const clearings = createClearings()
  return {
    kind: 'bubblewrap',
    readsOutputFiles: true,
    run: (slot, request, signal) =>
      runPhase(resources, slot.uid, request, signal, (cleared) => clearings.hold(slot, cleared)),
    clearing: (slot) => clearings.of(slot),
    settled: () => Promise.resolve(),
    close: () => clearings.settled(),
  }
}

/** Paths that no entry shows yet: the same path cannot be mounted twice. */
function listFurther(root: readonly RootEntry[], paths: readonly HostPath[]): RootEntry[] {
  const found: RootEntry[] = []
  const isShown = (path: string): boolean =>
    [...root, ...found].some(
      ({ kind, target }) => kind === 'bind' && (path === target || path.startsWith(`${target}/`)),
    )
  for (const { source, target } of paths) {
    if (!isShown(target)) found.push({ kind: 'bind', source: realpathSync(source), target })
  }
  return found
}

/** In the format of build_root (keeper/root.c). */
export function encodeLayout(root: readonly RootEntry[]): Buffer {
  const entries = [
    // A keeper's /proc lacks what bubblewrap has to cover.
    ...root
      .filter(({ kind }) => kind !== 'cover')
      .map(({ kind, source, target }) => [kind, source, target]),
    ...devices.map((path) => ['device', path, path]),
    ...deviceLinks.map(([path, text]) => ['link', text, path]),
  ]
  return Buffer.from(entries.flatMap((entry) => entry.map((text) => `${text}\0`)).join(''))
}
