// The interface of boxes: what the executor asks of a box, and what a box reports.
import type { Command } from './command.ts'
import type { Phase } from './outcome.ts'
import type { Network, PhaseLimits } from './request.ts'

/** A place for one program at a time: its number and host uid, null for the worker's own. */
export interface Slot {
  readonly index: number
  readonly uid: number | null
  /** Host uid of the interactor. With the same uid the two would share what the kernel counts by uid. */
  readonly interactorUid: number | null
}

/** The output that a run has written so far. */
export interface OutputSource {
  /** Returns a copy of the captured output: at most `most` bytes, from byte `from` on. */
  read(output: 'stdout' | 'stderr', from: number, most: number): Buffer
}

/** Receives notifications about the output of one run. */
export interface OutputTap {
  /** Called when a run begins, and again when it could not begin and is tried in another slot. */
  open(source: OutputSource): void
  /** Called when more output was captured. */
  note(): void
  /** Called when the run is over. The source is then invalid. */
  close(): void
}

/** How many bytes of a compiler's messages are kept. `compile.stderrBytes` is the larger amount that stops the compiler. */
export const compileMessageBytes = 64 * 1024

export interface PhaseRequest {
  readonly command: Command
  /** The default is empty. */
  readonly stdin?: Uint8Array
  readonly limits: PhaseLimits
  /** Cores that the box may use at once: at least its slot's share, the default. */
  readonly cores?: number | undefined
  /** `loopback`: a network of this run alone, with 127.0.0.1 and ::1. The default is none. */
  readonly network?: Network | undefined
  /** Sends stderr into the pipe of stdout, under the limit of stdout. `stderr` is then empty. The default is false. */
  readonly mergesStderr?: boolean | undefined
  /** How many bytes of stderr are kept, when fewer than the limit. */
  readonly stderrKeptBytes?: number
  /** Names of at most 16 files below /box. Those that exist after the run are reported. */
  readonly outputFiles?: readonly string[] | undefined
  /**
   * True when exit code and stderr show that the runtime ran out of memory below the kernel's limit. By default nothing shows
   * it.
   */
  readonly ranOutOfMemory?: ((exitCode: number, stderr: Buffer) => boolean) | undefined
  /** Ends the phase as `cancelled`. The output captured until then is kept. */
  readonly stop?: AbortSignal | undefined
  /** A second program, in a box of its own. Each program reads what the other writes; `stdin` is then unused. */
  readonly interactor?: PhaseRequest | undefined
  /** Notified of output while the program runs. */
  readonly tap?: OutputTap | undefined
}

/** Runs phases, each in a fresh box. */
export interface Boxes {
  /**
   * Runs one phase in a slot that no other phase uses meanwhile. When the promise settles, no process of the phase lives, or
   * `clearing` returns a promise for the slot.
   * @throws {NotStartedError} when the sandbox failed before the program started; {SandboxError} when it failed later; the
   * signal's reason when the signal was aborted.
   */
  run(slot: Slot, request: PhaseRequest, signal?: AbortSignal): Promise<Phase>
  /** Null when the slot is clear of earlier runs. Otherwise resolves when it is clear, and rejects if it cannot be cleared. */
  clearing(slot: Slot): Promise<void> | null
  /**
   * Makes new boxes after files of the host were replaced, because the old ones may show the old files. Each slot changes
   * before its next run.
   */
  renew(): void
  /** Resolves when each prestarted runtime has started for the first time, or has failed to. */
  settled(): Promise<void>
  close(): Promise<void>
}

/** A running interpreter. Programs with its command line run in forks of it (box/keeper). */
export interface ForkServer {
  readonly name: string
  readonly argv: readonly string[]
  /** Writes its /proc/self/status to stdout and its /proc/self/net/dev to stderr. */
  readonly probe: Command
  /** Programs that must give these results in a fork, too. */
  readonly proofs: readonly {
    readonly command: Command
    readonly stdout: string
    readonly exitCode: number
  }[]
}

/** A runtime that starts in the next box, before its program is known. It waits when it looks for the program's file. */
export interface PrestartedRuntime {
  readonly name: string
  /** Its command line, and that of the programs that it may run. */
  readonly argv: readonly string[]
  readonly unlimitedStack: boolean
  /** Path of the program's file. The runtime waits when it first looks for it. */
  readonly awaits: string
  /** Paths that the runtime looks for before it waits. A program with one of these files starts a runtime of its own. */
  readonly looksForBefore: readonly string[]
}
