// What a box is to those who use one.
import type { Command } from './command.ts'
import type { Phase } from './outcome.ts'
import type { Network, PhaseLimits } from './request.ts'

/** A place for one program: its number and its host uid, null for the worker's own. */
export interface Slot {
  readonly index: number
  readonly uid: number | null
  /** Of what runs beside the program: with one uid the two would share what the kernel counts by it. */
  readonly interactorUid: number | null
}

/** What a run has written so far. */
export interface OutputSource {
  /** A copy of what was captured from this byte on, at most so many. */
  read(output: 'stdout' | 'stderr', from: number, most: number): Buffer
}

/** Notified of the output of one run. */
export interface OutputTap {
  /** A run begins. Once more when it could not, and begins elsewhere. */
  open(source: OutputSource): void
  /** More was captured. */
  note(): void
  /** The run is over, and the source with it. */
  close(): void
}

/** Bytes of a compiler's messages kept; `compile.stderrBytes` is the larger amount that stops the compiler. */
export const compileMessageBytes = 64 * 1024

/** One command to run once. */
export interface PhaseRequest {
  readonly command: Command
  readonly stdin: Uint8Array
  readonly limits: PhaseLimits
  /** That it may use at once; the share of a slot unless that is less. */
  readonly cores?: number | undefined
  /** `loopback`: 127.0.0.1 and ::1, in a network of this run alone; none unless said. */
  readonly network?: Network | undefined
  /** stderr is a copy of stdout: one pipe, one limit, and stderr itself is empty; false unless said. */
  readonly mergesStderr?: boolean | undefined
  /** Bytes of stderr kept when that is less than the limit. */
  readonly stderrKeptBytes?: number
  /** Names of files below /box, at most 16, that are reported when the program has left them. */
  readonly outputFiles?: readonly string[] | undefined
  /** True when the runtime's own end shows that it ran out of memory below the kernel's limit. */
  readonly ranOutOfMemory: (exitCode: number, stderr: Buffer) => boolean
  /** Ends the phase as `cancelled`; what was captured until then is kept. */
  readonly stop?: AbortSignal | undefined
  /** Runs beside it, in a box of its own: each has what the other writes as its input. `stdin` is nobody's then. */
  readonly interactor?: PhaseRequest | undefined
  /** Hears of output before the end. */
  readonly tap?: OutputTap | undefined
}

/** Runs phases, each in a fresh box. */
export interface Boxes {
  /**
   * Runs one phase in a slot that is nobody else's meanwhile. When it settles, no process of the phase lives, or the slot
   * is still to be cleared.
   * @throws {NotStartedError} when we failed before the program began; {SandboxError} when we failed later; the signal's reason
   * when it was aborted.
   */
  run(slot: Slot, request: PhaseRequest, signal?: AbortSignal): Promise<Phase>
  /** Null when nothing of earlier runs is in the slot; else resolves once that is so, and rejects if it never will be. */
  clearing(slot: Slot): Promise<void> | null
  /** Resolves when what is up before its program is up for the first time, or cannot be. */
  settled(): Promise<void>
  close(): Promise<void>
}

/** An interpreter that is already up: programs whose command says so (`forks`) run in forks of it (box/keeper). */
export interface ForkServer {
  /** What people call it. */
  readonly name: string
  /** What it is started with, and what the commands that it may run begin with. */
  readonly argv: readonly string[]
  /** Writes its /proc/self/status to stdout and its /proc/self/net/dev to stderr. */
  readonly probe: Command
  /** Programs that must end in a fork as they do by themselves. */
  readonly proofs: readonly {
    readonly command: Command
    readonly stdout: string
    readonly exitCode: number
  }[]
}

/** A runtime that is up before there is a program: it is started in the next box, and waits where it looks for one. */
export interface PrestartedRuntime {
  /** What people call it. */
  readonly name: string
  /** Of the programs that it may run. */
  readonly argv: readonly string[]
  readonly unlimitedStack: boolean
  /** Path of the program's file, where it waits. */
  readonly awaits: string
  /** Paths in the box's directory that it has looked for by then: a program that has one of these starts its own. */
  readonly looksForBefore: readonly string[]
}
