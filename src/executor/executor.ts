// The executor's door: runs one program in a fresh sandbox and says what became of it. It knows no database, no HTTP.
//
// A request takes a slot: a place for one program, with a host uid of its own. It has one phase or two, compile and run. Each
// phase gets a fresh box: namespaces of its own, below a user namespace in which only the slot's uid exists; the host's
// programs and libraries, read-only; sized scratch space; no capability; a filter on system calls (seccomp/policy.ts); a
// cgroup that limits and counts. There are two ways to make one (box/box.ts); a worker finds out at its start which it can use.
//
// A keeper (box/keeper/keeper.c) is a small C program of ours that stays in a slot. It has the next box standing before it
// is asked, and supervises the run. An interpreter that is already up (`fork-server`) has a keeper of its own in each slot
// and runs programs in forks of itself. Boxes are born in their cgroup: to enter one takes the kernel ten milliseconds.
//
// bubblewrap makes a box for each phase where no keeper can be had (box/bubblewrap/run-phase.ts). A shell lowers its own
// limits, enters a fresh cgroup and becomes the slot's uid, then bubblewrap. The worker checks that the box stands in its
// cgroup, sets the counters to zero, starts the clocks and lets the program go.
//
// The run ends when its main process ends, or when a clock, an output or the out-of-memory killer stops it. Then everything
// in the box is killed, the output read to its end, the counters read; only then is the slot free. When a keeper fails
// before a program begins, the program begins elsewhere (tenancy.ts).
//
// Nothing that a program can write is ever opened from outside: sources and compiled programs go in by descriptors, input is
// a nameless file, outputs are pipes, and a compiler's result comes out over its stdout. The exit status is the program's
// own word, and is judged last (contract/judge-ending.ts).
export { NotBegunError, SandboxError } from '#contract'
export { claimUids } from './uid-range.ts'
export type { UidRange } from './uid-range.ts'
export type { MissingLanguage } from '#toolchain'
export type { Ending, ExecutionRequest, Outcome, Phase, Usage } from '#contract'
import { closeSync, openSync, readdirSync } from 'node:fs'
import {
  createStandardStreams,
  findInheritedDescriptors,
  readHostRoot,
  removeStandardStreams,
} from '#bubblewrap'
import type { BoxResources } from '#bubblewrap'
import { openBoxes } from '#box'
import { openCacheDirectory } from '#cache-directory'
import { isAbandoned, nameWorkerGroup, openCgroupParent } from '#cgroup'
import { SandboxError } from '#contract'
import type { BoxChoice, Boxes, ExecutionRequest, Language, Limits, Outcome } from '#contract'
import { assembleFilter } from '#seccomp'
import { warm } from '#toolchain'
import type { Toolchain } from '#toolchain'
import { createArtefactCache } from './artefact-cache.ts'
import { beginPreparations, listForkServers, openOffers, openToolchains } from './offer.ts'
import type { LanguageOptions, Toolchains } from './offer.ts'
import { createProgramRunner } from './program.ts'
import { createSlotPool } from './slot.ts'
import type { SlotPool } from './slot.ts'
import { withSlot } from './tenancy.ts'

/** What the worker chooses at start. */
export interface ExecutorOptions extends LanguageOptions {
  /** How many programs run at once; each slot has its own uid and cgroup. */
  readonly slots: number
  /**
   * First host uid of the slots (slot i runs as `firstUid + i`), the resident compilers' after them; used when the
   * worker is root.
   */
  readonly firstUid: number
  /** The limits of each language. */
  readonly limits: Readonly<Record<Language, Limits>>
  /** Bytes of compiled programs kept on disk for reuse; 0 turns the cache off. */
  readonly cacheBytes: number
  /** A directory of the worker's own, for compiled programs; made if missing. */
  readonly cacheDirectory: string
  /** How boxes are made; `auto` unless said. */
  readonly box?: BoxChoice
  /** Hears what was wanted and cannot be had on this host, and why; it costs speed alone. */
  readonly onFallback?: (reason: string) => void
}

/** The isolation in force, for events and logs. */
export interface Isolation {
  /** How a box is made: by a `keeper` that stays in the slot, or by `bubblewrap` for each run. */
  readonly box: Boxes['kind']
  readonly cgroup: 'v1' | 'v2'
  /** `slot`: a host uid a slot; `worker`: the unprivileged worker's own. */
  readonly uid: 'slot' | 'worker'
}

/** A language as it runs here. */
export interface Runtime {
  /** The exact version, such as `GCC 12.2.0`. */
  readonly version: string
  /** The compiler's command line; null for a language without one. */
  readonly compile: readonly string[] | null
  /** The program's command line. */
  readonly run: readonly string[]
}

export interface Executor {
  readonly isolation: Isolation
  /** The languages that this host has. */
  readonly runtimes: Readonly<Partial<Record<Language, Runtime>>>
  /**
   * Runs one program; waits for a free slot. Resolves when every process of the run is dead. If a kill does not end one in
   * seconds it resolves too, and the slot is lent to nobody until it is clear.
   * @param signal aborts the run: everything is killed and the promise rejects with the signal's reason.
   * @throws {SandboxError} when we failed, or do not have the language.
   */
  execute(request: ExecutionRequest, signal?: AbortSignal): Promise<Outcome>
  /** Resolves when nothing is being prepared for later runs: a compiler that stays up, headers. */
  settled(): Promise<void>
  /** Slots in service: those asked for less those quarantined. */
  readonly slots: number
  /** Kills what runs, removes our cgroups. */
  close(): Promise<void>
}

/**
 * Checks the host, sweeps what a crashed worker left, warms the toolchains, and returns an executor.
 * @throws {SandboxError} naming everything that is missing and how to get it, when isolation cannot be had.
 */
export async function createExecutor(options: ExecutorOptions): Promise<Executor> {
  const isRoot = process.getuid?.() === 0
  if (isRoot && !(options.firstUid > 0)) {
    throw new SandboxError(
      'slot.uid',
      `firstUid is ${options.firstUid}; a program never runs as root`,
    )
  }
  const firstUid = isRoot ? options.firstUid : null
  const onFallback = options.onFallback ?? ((): void => {})
  const closing = new AbortController()
  const running = new Set<Promise<unknown>>()
  const preparing = new Set<Promise<void>>()
  openCacheDirectory(options.cacheDirectory)
  const cache = createArtefactCache(`${options.cacheDirectory}/artefact`, options.cacheBytes)
  const toolchains = beginPreparations(
    await openToolchains(options),
    {
      directory: options.cacheDirectory,
      signal: closing.signal,
      track: (work) => keepUntilSettled(preparing, work),
    },
    onFallback,
  )
  const slots = createSlotPool(options.slots, firstUid)
  const opened = await openSandbox(toolchains, slots, options).catch(async (error: unknown) => {
    // Who is refused an executor is left nothing that goes on in the background.
    closing.abort(error)
    await Promise.all(preparing)
    throw error
  })
  const { resources, boxes } = opened
  const offers = openOffers(
    toolchains,
    resources,
    options.limits,
    { slots: options.slots, firstUid: firstUid && firstUid + options.slots },
    onFallback,
  )
  const residents = [...offers.values()].flatMap((offer) => offer.residents ?? [])
  const runProgram = createProgramRunner(cache)

  async function execute(request: ExecutionRequest, signal?: AbortSignal): Promise<Outcome> {
    const offer = offers.get(request.language)
    if (offer === undefined)
      throw new SandboxError('language.missing', `${request.language} is not installed here`)
    const either = signal === undefined ? closing.signal : AbortSignal.any([closing.signal, signal])
    return withSlot(slots, boxes, either, (runPhase) =>
      runProgram(runPhase, offer, request, either),
    )
  }

  return {
    isolation: {
      box: boxes.kind,
      cgroup: resources.cgroups.version,
      uid: isRoot ? 'slot' : 'worker',
    },
    runtimes: Object.fromEntries(
      [...toolchains].map(([language, toolchain]) => [language, describeRuntime(toolchain)]),
    ),
    execute(request, signal) {
      const promise = execute(request, signal)
      keepUntilSettled(running, promise)
      return promise
    },
    async settled() {
      await Promise.all(residents.map((resident) => resident.settled()))
      while (preparing.size > 0) await Promise.all(preparing)
    },
    get slots() {
      return slots.count()
    },
    async close() {
      if (closing.signal.aborted) return
      closing.abort(new SandboxError('executor.close', 'the executor is closed'))
      await Promise.allSettled([
        ...running,
        ...preparing,
        ...residents.map((resident) => resident.close()),
      ])
      await boxes.close()
      await closeResources(resources)
    },
  }
}

/** Makes what phases share, then the boxes, and proves them. */
async function openSandbox(
  toolchains: Toolchains,
  slots: SlotPool,
  { box = 'auto', cacheDirectory, onFallback = () => {} }: ExecutorOptions,
): Promise<{ readonly resources: BoxResources; readonly boxes: Boxes }> {
  const resources = await openResources(cacheDirectory)
  try {
    // First of all, so that no keeper or box is charged for what it reads.
    for (const { warmPaths } of toolchains.values()) warm(warmPaths)
    const boxes = await openBoxes(resources, {
      choice: box,
      slots: slots.all,
      directory: `${cacheDirectory}/keeper`,
      paths: [...toolchains.values()].flatMap(({ paths }) => paths),
      forkServers: listForkServers(toolchains),
      onFallback,
    })
    return { resources, boxes }
  } catch (error) {
    await closeResources(resources)
    throw error
  }
}

/** Makes what all phases share: the parent cgroup, the directory of the standard streams, the filter. */
async function openResources(cacheDirectory: string): Promise<BoxResources> {
  const name = nameWorkerGroup()
  sweepDirectory(cacheDirectory)
  const cgroups = await openCgroupParent(name)
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

async function closeResources(resources: BoxResources): Promise<void> {
  resources.streams.close()
  closeSync(resources.emptyDescriptor)
  await resources.cgroups.close()
}

function keepUntilSettled<Work extends Promise<unknown>>(works: Set<Work>, work: Work): void {
  works.add(work)
  const forget = (): void => void works.delete(work)
  work.then(forget, forget)
}

function describeRuntime({ version, compiler, commandLine }: Toolchain): Runtime {
  return { version, compile: compiler?.commandLine ?? null, run: commandLine }
}
