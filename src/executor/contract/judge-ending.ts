// Decides from the evidence how a phase ended.
// Its own file because the order of the evidence is the promise that verdicts rest on.
import { constants } from 'node:os'
import type { PhaseRequest } from './boxes.ts'
import type { Ending, OutputFile, Phase, Usage } from './outcome.ts'

/** Why a phase was stopped. */
export type Reason = 'cpu_limit' | 'wall_limit' | 'output_limit' | 'memory_limit' | 'cancelled'

/** What was kept of an output. */
export interface Captured {
  readonly bytes: Buffer
  /** True when bytes were dropped. */
  readonly truncated: boolean
  /** True when more than the limit came. */
  readonly exceeded: boolean
}

/** All that is known of a phase that is over. */
export interface Evidence {
  /** Why we stopped it; null when we did not. */
  readonly reason: Reason | null
  readonly outOfMemoryKills: number
  readonly usage: Usage
  readonly stdout: Captured
  readonly stderr: Captured
  /** How the main process ended, by its parent's word; null when it was killed with its box. */
  readonly exit: { readonly code: number; readonly signal: string | null } | null
  /** What it left; absent when nothing was asked for. */
  readonly outputFiles?: readonly OutputFile[]
}

/** Reads the evidence, strongest first. The exit status comes last: it is the program's own word. */
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
  if (wasKilled || ranOutOfMemory(code, words.bytes)) ending = 'memory_limit'
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

/** To microseconds, as the clocks have it: further digits come of binary fractions. */
export function roundSeconds(seconds: number): number {
  return Math.round(seconds * 1e6) / 1e6
}

/** The signal behind 128 + n; null when there is none of that number. */
export function nameSignal(exitCode: number): string | null {
  return signalNames.get(exitCode - 128) ?? null
}

/** Of two names for one number the first, as in SIGABRT and SIGIOT. */
const signalNames = new Map(
  Object.entries(constants.signals)
    .toReversed()
    .map(([name, number]) => [number, name]),
)
