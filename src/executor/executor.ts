// The executor's door: runs one program in a fresh sandbox and says what became of it. It knows no database, no HTTP.
//
// A request takes a slot: a place for one program, with a host uid of its own. It has one phase or more: compile, runs.
// It holds one slot at a time; between phases it moves to a free one while the one that it left is cleared, and between two
// runs it may lend its slot to others (Runs.between). Each phase gets a fresh box: namespaces of its own, below a user namespace in which only the slot's uid exists; the host's programs
// and libraries, read-only; sized scratch space; no capability; a filter on system calls (seccomp/policy.ts); a cgroup
// that limits and counts.
//
// A keeper (box/keeper/keeper.c) is a small C program of ours that stays in a slot. It has the next box standing before it
// is asked, and supervises the run. An interpreter that is already up (`fork-server`) has a keeper of its own in each slot
// and runs programs in forks of itself. A runtime that is slow to start (`prestart`) has one, too, and waits in the next
// box for its program. No box enters a cgroup, which takes cgroup v1 ten milliseconds: on v2 it is born in
// its own, on v1 in its keeper's.
//
// The run ends when its main process ends, or when a clock, an output or the out-of-memory killer stops it. Then everything
// in the box is killed, the output read to its end, the counters read; only then is the slot free. When a keeper fails
// before a program begins, the program begins elsewhere (tenancy.ts).
//
// Nothing that a program can write is opened from outside while anything of it lives, and after that nothing but the files
// that its request names (outputFiles): sources and compiled programs go in by descriptors, input is a nameless file,
// outputs are pipes, and a compiler's result comes out over its stdout. The exit status is the program's own word, and is
// judged last (contract/judge-ending.ts).
export { NotStartedError, roundSeconds, SandboxError, stepsOfRequest } from '#contract'
export { createBlobCache } from './blob-cache.ts'
export type { BlobCache } from './blob-cache.ts'
export { nothingDone } from './program.ts'
export { tryLanguage } from './trial.ts'
export type { Runtime } from './languages.ts'
export { countSpares } from './slot.ts'
export { claimUids } from './uid-range.ts'
export type { MissingLanguage } from '#toolchain'
export type {
  Ending,
  Execute,
  ExecutionRequest,
  Live,
  Network,
  Outcome,
  OutputSource,
  Phase,
  RunInput,
  Runs,
} from '#contract'
import { mkdirSync } from 'node:fs'
import { release } from 'node:os'
import { eitherOf, unlessAborted } from '#abort'
import { openCacheDirectory } from '#cache-directory'
import { shareCores } from '#cgroup'
import { SandboxError } from '#contract'
import type { ExecutionRequest, Language, Limits, Outcome } from '#contract'
import { defaultLimits } from '#language'
import { loadVersions, saveVersions } from '#toolchain'
import type { Workshop } from '#toolchain'
import { beginPreparations, openOffers } from './accelerate.ts'
import { createArtefactCache } from './artefact-cache.ts'
import { findOffer, offerLanguages, openToolchains } from './languages.ts'
import type { LanguageOptions, Runtimes } from './languages.ts'
import { createProgramRunner, nothingDone } from './program.ts'
import { openSandbox } from './sandbox.ts'
import { createSlotPool } from './slot.ts'
import { withSlot } from './tenancy.ts'
import { tryLanguage } from './trial.ts'

/** What the worker chooses at start. */
export interface ExecutorOptions extends LanguageOptions {
  /** How many programs run at once; each slot has its own uid and cgroup. */
  readonly slots: number
  /**
   * Slots beside those, in which programs run while what earlier ones left is cleared away and the next box made; none unless
   * said. Each takes the memory of what stands in a slot.
   */
  readonly spares?: number
  /**
   * First host uid of the slots (slot i runs as `firstUid + i`), the interactors' and the resident compilers' after them; used
   * when the worker is root.
   */
  readonly firstUid: number
  /** The limits of each language; the defaults of those that are not named. */
  readonly limits: Readonly<Partial<Record<Language, Limits>>>
  /** Bytes of compiled programs kept on disk for reuse; 0 turns the cache off. */
  readonly cacheBytes: number
  /** A directory of the worker's own, for compiled programs; made if missing. */
  readonly cacheDirectory: string
  /**
   * Whether a language is offered only once its trial has ended as it should; else as soon as it is found. True unless said.
   */
  readonly proves?: boolean
  /** Called when the languages that are offered have changed. */
  readonly onChange?: () => void
  /** Hears what was wanted and cannot be had on this host, and why; it costs speed. */
  readonly onFallback?: (reason: string) => void
}

/** The isolation in force, for events and logs. */
export interface Isolation {
  /** What makes a box. */
  readonly box: 'keeper'
  readonly cgroup: 'v1' | 'v2'
  /** `slot`: a host uid a slot; `worker`: the unprivileged worker's own. */
  readonly uid: 'slot' | 'worker'
}

export interface Executor {
  readonly isolation: Isolation
  /** The languages that are offered now: those that this host has and that have passed their trial. */
  readonly runtimes: Runtimes
  /**
   * Runs one program; waits for a free slot. Resolves when every process of the run is dead. If a kill does not end one in
   * seconds it resolves too, and the slot is lent to nobody until it is clear.
   * With the request's `stop` it resolves with what there is: the phase that was under way ended as `cancelled`.
   * @param signal aborts the run: everything is killed and the promise rejects with the signal's reason.
   * @throws {SandboxError} when we failed, or do not have the language.
   */
  execute(request: ExecutionRequest, signal?: AbortSignal): Promise<Outcome>
  /** Those that were found and whose trial is still to come. */
  readonly awaited: Runtimes
  /** Every language that was found, tried or not. */
  readonly found: readonly Language[]
  /**
   * Resolves when no language waits for its trial and nothing is being prepared for later runs: a compiler that stays up, headers,
   * what is up before its program.
   */
  settled(): Promise<void>
  /** Programs that can run at once: as many as were asked for, or the slots that are not quarantined. */
  readonly slots: number
  /** That a program may use at once, unless its request is to have more. */
  readonly cores: number
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
  const { onFallback = () => {}, onChange = () => {} } = options
  const closing = new AbortController()
  const running = new Set<Promise<unknown>>()
  const preparing = new Set<Promise<void>>()
  openCacheDirectory(options.cacheDirectory)
  const cache = createArtefactCache(`${options.cacheDirectory}/artefact`, options.cacheBytes)
  const trialDirectory = `${options.cacheDirectory}/trial`
  mkdirSync(trialDirectory, { recursive: true, mode: 0o700 })
  loadVersions(trialDirectory)
  const found = await openToolchains(options)
  saveVersions(trialDirectory)
  const workshop: Workshop = {
    directory: options.cacheDirectory,
    signal: closing.signal,
    track: (work) => void keepUntilSettled(preparing, work),
  }
  const toolchains = await beginPreparations(found, workshop, onFallback)
  const slots = createSlotPool(options.slots, firstUid, options.spares)
  const limits = { ...defaultLimits, ...options.limits }
  const opening = openSandbox(toolchains, slots, limits, options)
  const { resources, boxes } = await opening.catch(async (error: unknown) => {
    // The preparations end before the caller hears of the failure.
    closing.abort(error)
    await Promise.all(preparing)
    throw error
  })
  // Each slot has two.
  const place = { slots: options.slots, firstUid: firstUid && firstUid + 2 * slots.all.length }
  const offers = openOffers(toolchains, resources, limits, place, onFallback)
  const residents = [...offers.values()].flatMap((offer) => offer.residents ?? [])
  const runProgram = createProgramRunner(cache, offers)
  /** Finds a request a slot, in which it goes through its phases. */
  const execute: Executor['execute'] = async (request, signal) => {
    const offer = findOffer(offers, request.language)
    const closedOrAborted = eitherOf(closing.signal, signal)
    const { stop } = request
    const ended = withSlot(
      slots,
      boxes,
      closedOrAborted,
      (runPhase, pause) => {
        request.onSlot?.()
        return runProgram(runPhase, offer, request, closedOrAborted, { pause })
      },
      eitherOf(closedOrAborted, stop),
    )
    const outcome = await unlessAborted(ended, stop)
    if (outcome !== undefined) return outcome
    closedOrAborted.throwIfAborted()
    return nothingDone
  }

  const offered = offerLanguages({
    offers,
    proves: options.proves !== false,
    directory: trialDirectory,
    circumstances: [resources.cgroups.version, release()].join(' '),
    tryOut: (language) =>
      keepUntilSettled(running, tryLanguage({ execute }, language, closing.signal)),
    findAgain: async (language) => {
      const search = openToolchains({ ...options, languages: [language] })
      return (await search.catch(() => null))?.get(language) ?? null
    },
    signal: closing.signal,
    onChange,
    onMissing: options.onMissing ?? (() => {}),
  })

  const executor: Executor = {
    isolation: {
      box: 'keeper',
      cgroup: resources.cgroups.version,
      uid: isRoot ? 'slot' : 'worker',
    },
    get runtimes() {
      return offered.runtimes
    },
    get awaited() {
      return offered.awaited
    },
    found: [...toolchains.keys()],
    execute: (request, signal) =>
      keepUntilSettled(
        running,
        offered.run(request, () => execute(request, signal)),
      ),
    async settled() {
      await offered.settled()
      await Promise.all(residents.map((resident) => resident.settled()))
      while (preparing.size > 0) await Promise.all(preparing)
      await boxes.settled()
    },
    get slots() {
      return slots.count()
    },
    cores: shareCores(options.slots),
    async close() {
      if (closing.signal.aborted) return
      closing.abort(new SandboxError('executor.close', 'the executor is closed'))
      await Promise.allSettled([
        ...running,
        ...preparing,
        ...residents.map((resident) => resident.close()),
      ])
      await boxes.close()
      await resources.cgroups.close()
    },
  }
  await offered.any().catch(async (error: unknown) => {
    await executor.close()
    throw error
  })
  return executor
}

/** Holds a promise in the set until it settles. @returns it. */
function keepUntilSettled<Work extends Promise<unknown>>(
  works: Set<Promise<unknown>>,
  work: Work,
): Work {
  works.add(work)
  const forget = (): void => void works.delete(work)
  work.then(forget, forget)
  return work
}
