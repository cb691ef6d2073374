// The executor's public interface: runs one program in a fresh sandbox and returns its result. It uses no database and no HTTP.
// docs/how-a-run-is-made.md describes boxes, keepers and the order of events.
export { NotStartedError, roundSeconds, SandboxError, stepsOfRequest } from '#contract'
export { createBlobCache } from './blob-cache.ts'
export type { BlobCache } from './blob-cache.ts'
export { nothingDone } from './program.ts'
export { tryLanguage } from './trial.ts'
export type { Runtime } from './languages.ts'
export { claimUids, countSpares } from './slot.ts'
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
import { beginPreparations, openLanguages } from './accelerate.ts'
import { createArtefactCache } from './artefact-cache.ts'
import { findInstalled, offerLanguages, openToolchains } from './languages.ts'
import type { LanguageOptions, Runtimes } from './languages.ts'
import { nothingDone, runProgram } from './program.ts'
import { openSandbox } from './sandbox.ts'
import { createSlotPool } from './slot.ts'
import { withSlot } from './tenancy.ts'
import { tryLanguage } from './trial.ts'

/** The settings that a worker chooses at start. */
export interface ExecutorOptions extends LanguageOptions {
  /** Number of programs that run at once; each slot has its own uid and cgroup. */
  readonly slots: number
  /**
   * Number of spare slots; 0 by default. Programs run in them while other slots are cleared and get their next box. Each
   * costs the memory of its keepers and their waiting boxes.
   */
  readonly spares?: number
  /**
   * First host uid of the slots: slot i runs as `firstUid + i`. The uids of the interactors and of the resident compilers
   * follow. Used only when the worker is root.
   */
  readonly firstUid: number
  /** Limits by language; a language that is missing here has its defaults. */
  readonly limits: Readonly<Partial<Record<Language, Limits>>>
  /** Bytes of compiled programs kept on disk for reuse; 0 turns the cache off. */
  readonly cacheBytes: number
  /** The worker's cache directory (cache-directory.ts); created if missing. */
  readonly cacheDirectory: string
  /**
   * Seconds for which a slot stays unlent because its box outlives a kill; after them it is never lent again. 60 by default:
   * the kernel lets a process die only at the end of its system call, which took 36 s at most.
   */
  readonly dyingSeconds?: number
  /** Whether a language is offered only after its trial has passed; otherwise as soon as it is found. True by default. */
  readonly proves?: boolean
  /** Called when the set of offered languages changes. */
  readonly onChange?: () => void
  /** Called with the reason when an accelerator is not available on this host; programs then run slower. */
  readonly onFallback?: (reason: string) => void
}

export interface Executor {
  /** The isolation in use, for events and logs. */
  readonly isolation: {
    /** The program that makes boxes. */
    readonly box: 'keeper'
    readonly cgroup: 'v1' | 'v2'
    /** `slot`: each slot has its own host uid; `worker`: all slots use the uid of the unprivileged worker. */
    readonly uid: 'slot' | 'worker'
  }
  /** The languages that are offered now: they are installed on this host and have passed their trial. */
  readonly runtimes: Runtimes
  /**
   * Waits for a free slot and runs one program. Resolves when every process of the run is dead. If a process survives its kill
   * for some seconds, the promise resolves anyway, and the slot is not lent until it is clear.
   * When the request's `stop` fires, resolves with the phases so far: the current phase ends as `cancelled`.
   * @param signal aborts the run: everything is killed and the promise rejects with the signal's reason.
   * @throws {SandboxError} when the sandbox failed or the language is not installed.
   */
  execute(request: ExecutionRequest, signal?: AbortSignal): Promise<Outcome>
  /** The languages that were found and have not had their trial yet. */
  readonly awaited: Runtimes
  /**
   * Resolves when no language waits for its trial and every accelerator is ready or has failed: resident compilers, precompiled
   * headers and class archives, prestarted runtimes.
   */
  settled(): Promise<void>
  /** Number of programs that can run at once: the requested number, or the number of slots in service if that is less. */
  readonly slots: number
  /** Cores that a program may use at once, unless its request allows more. */
  readonly cores: number
  /** Kills all runs and removes the worker's cgroups. */
  close(): Promise<void>
}

/**
 * Checks the host, removes the cgroups of a crashed worker, reads the toolchains into memory, and returns an executor.
 * @throws {SandboxError} when boxes cannot be made on this host; the message names what is missing and how to get it.
 */
export async function createExecutor(options: ExecutorOptions): Promise<Executor> {
  const isRoot = process.getuid?.() === 0
  if (isRoot && !(options.firstUid > 0)) {
    throw new SandboxError(
      'slot.uid',
      `firstUid is ${options.firstUid}, but a program never runs as root`,
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
  const toolchains = beginPreparations(found, workshop, onFallback)
  const slots = createSlotPool(options.slots, firstUid, options.spares)
  const limits = { ...defaultLimits, ...options.limits }
  const opening = openSandbox(toolchains, slots, limits, options)
  const { resources, boxes } = await opening.catch(async (error: unknown) => {
    // The preparations must end before the caller gets the error.
    closing.abort(error)
    await Promise.all(preparing)
    throw error
  })
  // Each slot has two uids; those of the resident compilers follow.
  const compilers = { slots: options.slots, firstUid: firstUid && firstUid + 2 * slots.all.length }
  const installed = openLanguages(toolchains, resources, limits, compilers, onFallback)
  const residents = [...installed.values()].flatMap((one) => one.residents ?? [])
  /** Waits for a slot and runs the request's phases in it. */
  const execute: Executor['execute'] = async (request, signal) => {
    const language = findInstalled(installed, request.language)
    const closedOrAborted = eitherOf(closing.signal, signal)
    const { stop } = request
    const ended = withSlot(
      slots,
      boxes,
      closedOrAborted,
      (runPhase, pause) => {
        request.onSlot?.()
        return runProgram({ cache, installed }, runPhase, language, request, closedOrAborted, {
          pause,
        })
      },
      eitherOf(closedOrAborted, stop),
    )
    const outcome = await unlessAborted(ended, stop)
    if (outcome !== undefined) return outcome
    closedOrAborted.throwIfAborted()
    return nothingDone
  }

  const offered = offerLanguages({
    installed,
    proves: options.proves !== false,
    directory: trialDirectory,
    circumstances: [resources.cgroups.version, release()].join(' '),
    tryOut: (language) =>
      keepUntilSettled(running, tryLanguage({ execute }, language, closing.signal)),
    onReplaced: () => boxes.renew(),
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

/** Keeps a promise in the set until it settles. @returns the promise. */
function keepUntilSettled<Work extends Promise<unknown>>(
  works: Set<Promise<unknown>>,
  work: Work,
): Work {
  works.add(work)
  const forget = (): void => void works.delete(work)
  work.then(forget, forget)
  return work
}
