// Reads a keeper's result (result.c), and rejects every result that cannot be true.
import { nameSignal, roundSeconds, SandboxError } from '#contract'
import type { Evidence, Usage } from '#contract'
import { readNumber } from './message.ts'
import type { Message } from './message.ts'

/** Why a keeper ended a box. */
const reasons = [
  'cpu_limit',
  'wall_limit',
  'output_limit',
  'memory_limit',
  'aborted',
  'starved',
  'squeezed',
] as const

export interface Result {
  /** Null when the box ended by itself. */
  readonly reason: (typeof reasons)[number] | null
  /** True when the slot may not be lent before the message `settled`. */
  readonly isUnsettled: boolean
  readonly exit: Evidence['exit']
  readonly usage: Usage
  readonly memoryKills: number
  readonly stdoutBytes: number
  readonly stderrBytes: number
}

/**
 * @param captured bytes of stdout and stderr that were kept before.
 * @throws {SandboxError} step `keeper.protocol` on a contradiction.
 */
export function decodeResult(
  { fields }: Pick<Message, 'fields'>,
  captured: readonly [number, number],
): Result {
  const read = (name: string): number => readNumber(fields, name)
  const named = fields.get('reason')
  const reason = reasons.find((name) => name === named) ?? null
  if (reason === null && named !== 'none')
    throw new SandboxError('keeper.protocol', 'the result has an unknown reason')
  const exit = describeExit(fields.get('end'), read('status'))
  const memoryKills = read('memory_kills')
  // A program that was killed with its box leaves no status, but then there is a reason.
  if (exit === undefined || (exit === null && reason === null && memoryKills === 0))
    throw new SandboxError('keeper.protocol', 'the result has an impossible end')
  const [unsettled, delay] = [read('unsettled'), read('delay_milliseconds')]
  const [stdoutBytes, stderrBytes] = [read('stdout_bytes'), read('stderr_bytes')]
  if (unsettled > 1 || stdoutBytes < captured[0] || stderrBytes < captured[1])
    throw new SandboxError('keeper.protocol', 'the result has impossible figures')
  return {
    reason,
    isUnsettled: unsettled === 1,
    exit,
    usage: {
      wallSeconds: roundSeconds(read('wall_nanoseconds') / 1e9),
      cpuSeconds: roundSeconds(read('cpu_nanoseconds') / 1e9),
      memoryPeakBytes: read('memory_peak_bytes'),
      ...(delay > 0 && { delaySeconds: delay / 1000 }),
    },
    memoryKills,
    stdoutBytes,
    stderrBytes,
  }
}

/** @returns null for a program that left no status; undefined for an impossible end. */
function describeExit(end: string | undefined, status: number): Evidence['exit'] | undefined {
  if (end === 'none' && status === 0) return null
  if (end === 'exited' && status <= 255) return { code: status, signal: null }
  if (end !== 'killed' || status < 1 || status > 64) return undefined
  return { code: 128 + status, signal: nameSignal(128 + status) ?? `SIG${status}` }
}
