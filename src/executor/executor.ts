// The executor's door: runs one program in a fresh sandbox and says what became of it. It knows no database, no HTTP.
//
// Theory of operation. A request takes a slot: a place for one program, with a host uid of its own. It has one phase or
// two, compile and run. Each phase gets a fresh cgroup below this worker's own (cgroup.ts) and a fresh box made by
// bubblewrap (bubblewrap.ts): new user, pid, mount, network, ipc, uts and cgroup namespaces, the host's programs
// and libraries read-only, sized scratch space, no capability, a filter on system calls (seccomp.ts).
//
// The worker starts a shell that lowers its own limits and enters the cgroup, then becomes the slot's uid, then bubblewrap
// (child.ts). bubblewrap builds the box and waits. The worker checks that the box stands in every hierarchy, takes the
// counters' present state as zero, starts the clocks and lets the program go (phase.ts). It ends when its main
// process ends, or a clock, an output or the kernel's out-of-memory killer stops it; then everything in the cgroup is
// killed, the output read to its end, the counters read, the cgroup removed. Only then is the slot free.
//
// Nothing that a program can write is ever opened from outside: source and compiled program go in over descriptors, input
// is a nameless file and outputs are pipes (standard-stream.ts), a compiler's result comes out over its stdout. What a phase became is judged by our own
// record and the kernel's counters first and by the exit status last, as that is the program's own word.
export * from './request.ts'
export * from './outcome.ts'
export { defaultLimits } from './limits.ts'
import { closeSync, mkdirSync, openSync } from 'node:fs'
import { createArtefactCache, hashSource } from './artefact-cache.ts'
import type { Compiled } from './artefact-cache.ts'
import { readHostRoot } from './bubblewrap.ts'
import { openCgroupParent } from './cgroup.ts'
import { findInheritedDescriptors } from './inherited.ts'
import type { Artefact, Compiler, Toolchain } from './language/language.ts'
import { compileMessageBytes } from './limits.ts'
import { SandboxError } from './outcome.ts'
import type { Outcome } from './outcome.ts'
import { runPhase } from './phase.ts'
import type { Host } from './phase.ts'
import { proveIsolation } from './probe.ts'
import type { ExecutionRequest, Language, Limits } from './request.ts'
import { assembleFilter } from './seccomp.ts'
import { createSlotPool } from './slot.ts'
import type { Slot } from './slot.ts'
import { createStandardStreams } from './standard-stream.ts'
import { findToolchains, warm } from './toolchain.ts'
import { nameWorkerGroup } from './worker-group.ts'

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
export async function createExecutor(options: ExecutorOptions): Promise<Executor> {
  const toolchains = await findToolchains()
  const name = nameWorkerGroup()
  const isRoot = process.getuid?.() === 0
  const cgroups = await openCgroupParent(name)
  const slots = createSlotPool(options.slots, isRoot ? options.firstUid : null)
  mkdirSync(options.cacheDirectory, { recursive: true, mode: 0o700 })
  const cache = createArtefactCache(`${options.cacheDirectory}/artefact`, options.cacheBytes)
  const streams = createStandardStreams(`${options.cacheDirectory}/${name}`)
  const host: Host = {
    cgroups,
    streams,
    filter: assembleFilter(),
    root: readHostRoot(),
    inherited: findInheritedDescriptors(),
    emptyDescriptor: openSync('/dev/null', 'r'),
  }
  const closing = new AbortController()
  const running = new Set<Promise<unknown>>()
  let phases = 0

  const close = async (): Promise<void> => {
    if (closing.signal.aborted) return
    closing.abort(new SandboxError('executor.close', 'the executor is closed'))
    await Promise.allSettled(running)
    streams.close()
    closeSync(host.emptyDescriptor)
    await cgroups.close()
  }

  async function compile(
    request: ExecutionRequest,
    compiler: Compiler,
    toolchain: Toolchain,
    slot: Slot,
    signal: AbortSignal,
  ): Promise<Compiled> {
    const limits = options.limits[request.language].compile
    if (limits === null)
      throw new SandboxError('limits.read', `${request.language} has no compile limits`)
    const phase = await runPhase(
      host,
      {
        name: String((phases += 1)),
        uid: slot.uid,
        command: compiler.command(request.code, limits.memoryBytes),
        paths: toolchain.paths,
        stdin: new Uint8Array(),
        limits,
        stderrKeptBytes: compileMessageBytes,
        ranOutOfMemory: toolchain.ranOutOfMemory,
      },
      signal,
    )
    const { stdout, ...rest } = phase
    const compiled = phase.ending === 'exited' && phase.exitCode === 0
    // The compiler's stdout carried the program; it is no output for anyone to read.
    const quiet = { ...rest, stdout: new Uint8Array(), stdoutTruncated: false }
    return { phase: quiet, artefact: compiled ? compiler.readArtefact(Buffer.from(stdout)) : null }
  }

  async function executeIn(
    slot: Slot,
    request: ExecutionRequest,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const toolchain = toolchains[request.language]
    const { compiler } = toolchain
    let compiled: Compiled | null = null
    let compileCached = false
    let artefact: Artefact | null = { content: request.code, entry: '' }
    if (compiler !== null) {
      const key = hashSource(request.language, compiler.identity, request.code)
      const result = await cache.compile(
        key,
        () => compile(request, compiler, toolchain, slot, signal),
        isCertain,
      )
      compiled = result.compiled
      compileCached = result.cached
      artefact = compiled.artefact
    }
    const compilePhase = compiled?.phase ?? null
    if (artefact === null) return { compile: compilePhase, compileCached, run: null }
    const limits = options.limits[request.language].run
    const run = await runPhase(
      host,
      {
        name: String((phases += 1)),
        uid: slot.uid,
        command: toolchain.run(artefact, limits.memoryBytes),
        paths: toolchain.paths,
        stdin: request.stdin,
        limits,
        ranOutOfMemory: toolchain.ranOutOfMemory,
      },
      signal,
    )
    return { compile: compilePhase, compileCached, run }
  }

  async function execute(request: ExecutionRequest, signal?: AbortSignal): Promise<Outcome> {
    const either = signal === undefined ? closing.signal : AbortSignal.any([closing.signal, signal])
    const slot = await slots.acquire(either)
    try {
      const outcome = await executeIn(slot, request, either)
      slots.release(slot)
      return outcome
    } catch (error) {
      if (error instanceof SandboxError && leavesTraces(error)) slots.quarantine(slot)
      else slots.release(slot)
      throw error
    }
  }

  try {
    await proveIsolation(host, isRoot ? options.firstUid : null)
    for (const { warmPaths } of Object.values(toolchains)) warm(warmPaths)
  } catch (error) {
    await close()
    throw error
  }

  const describe = ({ version, compiler, commandLine }: Toolchain): Runtime => ({
    version,
    compile: compiler?.commandLine ?? null,
    run: commandLine,
  })
  return {
    isolation: { box: 'bubblewrap', cgroup: cgroups.version, uid: isRoot ? 'slot' : 'worker' },
    runtimes: {
      python: describe(toolchains.python),
      cpp: describe(toolchains.cpp),
      java: describe(toolchains.java),
    },
    execute(request, signal) {
      const promise = execute(request, signal)
      running.add(promise)
      const forget = (): void => void running.delete(promise)
      promise.then(forget, forget)
      return promise
    },
    get slots() {
      return slots.count()
    },
    close,
  }
}

/** The same source will compile, or fail to, in the same way: neither a limit nor a signal had a part in it. */
function isCertain({ phase, artefact }: Compiled): boolean {
  return artefact !== null || (phase.ending === 'exited' && phase.exitCode === 1)
}

/** After these failures something of the run may still be there. */
function leavesTraces({ step }: SandboxError): boolean {
  return step === 'cgroup.kill' || step === 'cgroup.remove'
}
