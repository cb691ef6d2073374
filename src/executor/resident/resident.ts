// Compiles with a resident compiler, or returns null so that the caller compiles in a box. Decides what a resident may use and
// which answers are accepted.
import { compileMessageBytes, describe } from '#contract'
import type { Phase, PhaseLimits } from '#contract'
import type { BoxResources } from '#keeper'
import type { ResidentCompiler } from '#toolchain'
import { keepResidents } from './pool.ts'
import type { ResidentPool } from './pool.ts'
import { startResident } from './process.ts'
import type { Exchange } from './process.ts'
import { createShares } from './shares.ts'

export interface ResidentCompilers extends Pick<ResidentPool, 'settled' | 'close'> {
  /** Number of resident compilers; each has its own host uid. */
  readonly count: number
  /**
   * Compiles a source. Returns a phase with the artefact in stdout, or null when the source must be compiled in a box, for
   * example because the account has used up its share.
   * @throws the signal's reason when aborted.
   */
  compile(account: string, code: Uint8Array, signal: AbortSignal): Promise<Phase | null>
}

const mebibyte = 1024 * 1024

/** Less than a compilation in a box may use; a source that needs more is compiled in a box. javac needs some 150 MiB. */
const residentMemoryBytes = 512 * mebibyte
const answerSeconds = 4

const retirement = { exchanges: 2000, memoryBytes: (residentMemoryBytes * 3) / 4 }

const startSeconds = 60
/** All that a resident of one core can use before it retires. */
const lifetimeCpuSeconds = retirement.exchanges * answerSeconds + startSeconds

/** Number of slots per resident: a compilation takes a quarter of a run's time. */
const slotsServed = 4

export interface KeptCompiler {
  /** Prefix of the residents' cgroup names; unique in the executor. */
  readonly name: string
  readonly compiler: ResidentCompiler
  /** The limits of a compilation in a box. */
  readonly limits: PhaseLimits
  readonly slots: number
  /** Host uid of the first resident; null when all use the worker's uid. */
  readonly firstUid: number | null
  /** Called with the reason when a resident did not start; sources are compiled in boxes for a while. */
  readonly onFallback: (reason: string) => void
}

export function keepCompilers(
  resources: BoxResources,
  { name, compiler, limits, slots, firstUid, onFallback }: KeptCompiler,
): ResidentCompilers {
  const memoryBytes = Math.min(limits.memoryBytes, residentMemoryBytes)
  const count = Math.ceil(slots / slotsServed)
  const pool = keepResidents(
    count,
    (position, signal) =>
      startResident(
        resources,
        {
          name: `${name}-${position}`,
          uid: firstUid === null ? null : firstUid + position,
          command: compiler.command(memoryBytes),
          limits: { ...limits, memoryBytes, cpuSeconds: lifetimeCpuSeconds },
          startSeconds,
          answerBytes: limits.stdoutBytes + limits.stderrBytes,
        },
        signal,
      ),
    retirement,
    (error) => onFallback(describe(error)),
  )
  const seconds = Math.min(limits.wallSeconds, limits.cpuSeconds, answerSeconds)

  const judge = ({ answer, usage }: Exchange): Phase | null => {
    const read = compiler.readAnswer(answer)
    if (read === null || usage.cpuSeconds > limits.cpuSeconds) return null
    const { exitCode, stdout, stderr } = read
    if (stdout.length > limits.stdoutBytes || stderr.length > limits.stderrBytes) return null
    return {
      ending: 'exited',
      exitCode,
      signal: null,
      stdout,
      stderr: stderr.subarray(0, compileMessageBytes),
      stdoutTruncated: false,
      stderrTruncated: stderr.length > compileMessageBytes,
      usage,
    }
  }

  const shares = createShares()
  return {
    count,
    async compile(account, code, signal) {
      if (!shares.mayUse(account)) return null
      let isLent = false
      let phase: Phase | null = null
      const onLent = (): void => void (isLent = true)
      try {
        phase = await pool.ask(code, seconds, judge, signal, {
          onLent,
          used: shares.usedBy(account),
        })
        return phase
      } finally {
        if (isLent) shares.charge(account, phase?.usage.cpuSeconds ?? null)
      }
    },
    settled: pool.settled,
    close: pool.close,
  }
}
