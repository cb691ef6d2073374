// Opens the boxes of a worker: a keeper in each slot makes them (keeper/keeper.c), and they are proved on this host before any
// program is accepted.
import { describe, SandboxError } from '#contract'
import type { Boxes, BoxOptions, Phase, PhaseRequest } from '#contract'
import { createKeeperBoxes } from '#keeper'
import type { BoxResources } from '#keeper'
import { proveForks, proveIsolation } from './prove-isolation.ts'

/** @throws {SandboxError} when no box can be had here, or one does not isolate: with the step, the reason and where to look. */
export async function openBoxes(resources: BoxResources, options: BoxOptions): Promise<Boxes> {
  const [firstSlot] = options.slots
  if (firstSlot === undefined) throw new SandboxError('slot.acquire', 'no slot was asked for')
  const boxes = await createKeeperBoxes({ resources, proveForks, ...options }).catch(refuse)
  try {
    const run = (request: PhaseRequest): Promise<Phase> => boxes.run(firstSlot, request)
    await proveIsolation(run)
    for (const { probe } of options.forkServers) await proveIsolation(run, probe)
    return boxes
  } catch (error) {
    await boxes.close()
    return refuse(error)
  }
}

function refuse(error: unknown): never {
  if (!(error instanceof SandboxError)) throw error
  const words = `no box can be made on this host: ${describe(error)}; \`make doctor\` says what helps`
  throw new SandboxError(error.step, words, error)
}
