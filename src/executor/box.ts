// The two ways to make a box behind one interface: bubblewrap for each run, or a keeper in each slot.
// Which one a worker uses is decided once, when it starts, by trying.
import { realpathSync } from 'node:fs'
import { deviceLinks, devices } from './bubblewrap.ts'
import type { RootEntry } from './bubblewrap.ts'
import type { HostPath } from './language/language.ts'
import { buildKeeper } from './keeper-program.ts'
import { createKeeperBoxes } from './keeper-box.ts'
import { describe } from './cgroup-file.ts'
import { createClearings } from './clearing.ts'
import { SandboxError } from './outcome.ts'
import type { Phase } from './outcome.ts'
import { runPhase } from './phase.ts'
import type { Host, PhaseRequest } from './phase.ts'
import { probeInterpreter, proveIsolation } from './probe.ts'
import type { Slot } from './slot.ts'

/** How boxes are made: `keeper`, `bubblewrap`, or `auto`: the first of them that this host can have. */
export type BoxChoice = 'auto' | 'keeper' | 'bubblewrap'

/** Runs phases, each in a fresh box. */
export interface Boxes {
  readonly kind: 'keeper' | 'bubblewrap'
  /**
   * Runs one phase in a slot that is nobody else's meanwhile. When it settles, no process of the phase lives, or the slot
   * is still to be cleared.
   * @throws {NotBegunError} when we failed before the program began; {SandboxError} when we failed later; the signal's reason
   * when it was aborted.
   */
  run(slot: Slot, request: PhaseRequest, signal?: AbortSignal): Promise<Phase>
  /** Null when nothing of earlier runs is in the slot; else resolves once that is so, and rejects if it never will be. */
  clearing(slot: Slot): Promise<void> | null
  close(): Promise<void>
}

export interface BoxOptions {
  readonly choice: BoxChoice
  readonly slots: readonly Slot[]
  /** A directory of the worker's own for the compiled keeper. */
  readonly directory: string
  /** What the languages need beyond the base system's paths. */
  readonly paths: readonly HostPath[]
  /** The Python interpreter; a resident one runs Python programs where it can be had. Null: none is to be resident. */
  readonly interpreter: string | null
  readonly onFallback: (reason: string) => void
}

/**
 * Opens the boxes and proves one of them on this host.
 * @throws {SandboxError} when neither way works, or not the one that was asked for.
 */
export async function openBoxes(host: Host, options: BoxOptions): Promise<Boxes> {
  const [firstSlot] = options.slots
  if (firstSlot === undefined) throw new SandboxError('slot.acquire', 'no slot was asked for')
  const open = async (boxes: Boxes): Promise<Boxes> => {
    try {
      const run = (request: PhaseRequest): Promise<Phase> => boxes.run(firstSlot, request)
      await proveIsolation(run)
      const { interpreter } = options
      if (boxes.kind === 'keeper' && interpreter !== null)
        await proveIsolation(run, probeInterpreter(interpreter))
      return boxes
    } catch (error) {
      await boxes.close()
      throw error
    }
  }
  if (options.choice === 'bubblewrap') return open(createPortableBoxes(host))
  try {
    const programs = await buildKeeper(options.directory)
    const layout = encodeLayout([...host.root, ...listFurther(host.root, options.paths)])
    return await open(await createKeeperBoxes({ host, programs, layout, ...options }))
  } catch (error) {
    if (options.choice === 'keeper') throw error
    options.onFallback(`no keeper: ${describe(error)}`)
    return open(createPortableBoxes(host))
  }
}

function createPortableBoxes(host: Host): Boxes {
  const clearings = createClearings()
  return {
    kind: 'bubblewrap',
    run: (slot, request, signal) =>
      runPhase(host, slot.uid, request, signal, (cleared) => clearings.hold(slot, cleared)),
    clearing: (slot) => clearings.of(slot),
    close: () => clearings.settled(),
  }
}

/** What is not already below another entry; a path that is there twice could not be made the second time. */
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

/** As build_root in keeper/box.c reads it. */
export function encodeLayout(root: readonly RootEntry[]): Buffer {
  const entries = [
    // What bubblewrap covers in /proc a keeper's has never had.
    ...root
      .filter(({ kind }) => kind !== 'cover')
      .map(({ kind, source, target }) => [kind, source, target]),
    ...devices.map((path) => ['device', path, path]),
    ...deviceLinks.map(([path, text]) => ['link', text, path]),
  ]
  return Buffer.from(entries.flatMap((entry) => entry.map((text) => `${text}\0`)).join(''))
}
