// The executor's door: runs one program in a fresh sandbox and says what became of it.
export * from './request.ts'
export * from './outcome.ts'
import type { ExecutionRequest, Language, Limits } from './request.ts'
import type { Outcome } from './outcome.ts'

/** What the worker chooses at start. */
export interface ExecutorOptions {
  /** How many programs run at once; each slot has its own uid and cgroup. */
  readonly slots: number
  /** First host uid of the slots (slot i runs as `firstUid + i`); used when the worker is root. */
  readonly firstUid: number
  /** The limits of each language. */
  readonly limits: Readonly<Record<Language, Limits>>
  /** Bytes of compiled programs kept on disk for reuse; 0 turns the cache off. */
  readonly cacheBytes: number
  /** A directory of the worker's own, for compiled programs; made if missing. */
  readonly cacheDirectory: string
}

/** The isolation in force, for events and logs. */
export interface Isolation {
  /** How a box is made: `bubblewrap` (per run). */
  readonly box: 'bubblewrap'
  readonly cgroup: 'v1' | 'v2'
  /** `slot`: a host uid a slot; `worker`: the unprivileged worker's own. */
  readonly uid: 'slot' | 'worker'
}

/** A language as it runs here. */
export interface Runtime {
  /** The exact version, such as `Python 3.11.2`. */
  readonly version: string
  /** The compiler's command line; null for a language without one. */
  readonly compile: readonly string[] | null
  /** The program's command line. */
  readonly run: readonly string[]
}

export interface Executor {
  readonly isolation: Isolation
  readonly runtimes: Readonly<Record<Language, Runtime>>
  /**
   * Runs one program; waits for a free slot. Resolves once every process of the run is dead and its cgroup is gone.
   * @param signal aborts the run: everything is killed and the promise rejects with the signal's reason.
   * @throws {SandboxError} when we failed.
   */
  execute(request: ExecutionRequest, signal?: AbortSignal): Promise<Outcome>
  /** Slots in service: those asked for less those quarantined. */
  readonly slots: number
  /** Kills what runs, removes our cgroups. */
  close(): Promise<void>
}

/**
 * Checks the host, sweeps what a crashed worker left, warms the toolchains, and returns an executor.
 * @throws {SandboxError} naming everything that is missing and how to get it, when isolation cannot be had.
 */
export declare function createExecutor(options: ExecutorOptions): Promise<Executor>
