// Decides from the evidence how a phase ended. Verdicts depend on the order in which the evidence is read.
import { constants } from 'node:os'
import type { PhaseRequest } from './boxes.ts'
import type { Ending, OutputFile, Phase, Usage } from './outcome.ts'

/** Why a phase was stopped. */
export type Reason = 'cpu_limit' | 'wall_limit' | 'output_limit' | 'memory_limit' | 'cancelled'

/** The part of an output that was kept. */
export interface Captured {
  readonly bytes: Buffer
  /** True when bytes were dropped. */
  readonly truncated: boolean
  /** True when the program wrote more than the limit. */
  readonly exceeded: boolean
}

/** All that is known about a phase that is over. */
export interface Evidence {
  /** Why the keeper stopped the phase; null when it did not. */
  readonly reason: Reason | null
  readonly outOfMemoryKills: number
  readonly usage: Usage
  readonly stdout: Captured
  readonly stderr: Captured
  /** The main process's exit status, as its parent read it. Null when the process was killed with its box. */
  readonly exit: { readonly code: number; readonly signal: string | null } | null
  /** The requested files that the program left. Absent when the request names none. */
  readonly outputFiles?: readonly OutputFile[]
}

/** Judges a phase by the strongest evidence. The exit status comes last, because the program chooses it. */
export function judgeEnding(
  {
    limits,
    ranOutOfMemory,
    mergesStderr,
  }: Pick<PhaseRequest, 'limits' | 'ranOutOfMemory' | 'mergesStderr'>,
  { reason, outOfMemoryKills, usage, stdout, stderr, exit, outputFiles }: Evidence,
): Phase {
  const wasKilled = outOfMemoryKills > 0 || reason === 'memory_limit'
  const { code, signal } = exit ?? { code: 128 + constants.signals.SIGKILL, signal: 'SIGKILL' }
  let ending: Ending = signal === null ? 'exited' : 'signaled'
  const words = mergesStderr === true ? stdout : stderr
  if (wasKilled || ranOutOfMemory?.(code, words.bytes) === true) ending = 'memory_limit'
  else if (reason !== null) ending = reason
  else if (usage.cpuSeconds > limits.cpuSeconds) ending = 'cpu_limit'
  else if (stdout.exceeded || stderr.exceeded) ending = 'output_limit'
  return {
    ending,
    exitCode: code,
    signal,
    stdout: stdout.bytes,
    stderr: stderr.bytes,
    stdoutTruncated: stdout.truncated,
    stderrTruncated: stderr.truncated,
    usage,
    ...(outputFiles && { outputFiles }),
  }
}

/** Rounds to microseconds, the clocks' resolution. Further digits come from binary fractions. */
export function roundSeconds(seconds: number): number {
  return Math.round(seconds * 1e6) / 1e6
}

/** Returns the name of signal n for exit code 128 + n; null when no signal has that number. */
export function nameSignal(exitCode: number): string | null {
  return signalNames.get(exitCode - 128) ?? null
}

/** Names by number. Of two names for one number, such as SIGABRT and SIGIOT, the first one is taken. */
const signalNames = new Map(
  Object.entries(constants.signals)
    .toReversed()
    .map(([name, number]) => [number, name]),
)
