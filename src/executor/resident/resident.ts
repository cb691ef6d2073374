// Compiles with a compiler that is already up. Where that cannot be, a box of its own compiles, and its clocks and counters
// judge. Here is what a resident may use, and which of its answers count.
import { compileMessageBytes, describe } from '#contract'
import type { ResidentCompiler } from '#toolchain'
import type { HostPath, Phase, PhaseLimits } from '#contract'
import type { BoxResources } from '#bubblewrap'
import { keepResidents } from './pool.ts'
import { startResident } from './process.ts'
import type { Exchange } from './process.ts'

/** A compiler of one language, kept up. */
export interface ResidentCompilers {
  /** How many there are at once; each has a host uid of its own. */
  readonly count: number
  /**
   * What the compilation became, its artefact in stdout; null when it must be done in a box of its own.
   * @throws the signal's reason when aborted.
   */
  compile(code: Uint8Array, signal: AbortSignal): Promise<Phase | null>
  /** Resolves when the first of each are up, or cannot be had yet. */
  settled(): Promise<void>
  close(): Promise<void>
}

const mebibyte = 1024 * 1024

/** Less than a compilation in a box may use; what needs more is begun anew there. A JDK's compiler takes some 150 MiB. */
const residentMemoryBytes = 512 * mebibyte
const exchangeCpuSeconds = 2
const exchangeWallSeconds = 4

const retirement = { exchanges: 2000, seconds: 3600, memoryBytes: (residentMemoryBytes * 3) / 4 }

/** CPU time of a resident's whole life: what it may do before it retires takes less. */
const lifetimeCpuSeconds = 3600
const startSeconds = 60

/** A resident compiles in a fourth of a run's time: one serves so many slots. */
const slotsServed = 4

/** Which compiler is kept, and how. */
export interface KeptCompiler {
  /** Begins the names of their cgroups; unique among the executor's. */
  readonly name: string
  readonly compiler: ResidentCompiler
  readonly paths: readonly HostPath[]
  /** Those of a compilation in a box of its own. */
  readonly limits: PhaseLimits
  /** Of the executor that they work for. */
  readonly slots: number
  /** Host uid of the first of them; null: the worker's own. */
  readonly firstUid: number | null
  /** Hears why one did not start; then every source has a box of its own for a while. */
  readonly onFallback: (reason: string) => void
}

/** Starts them in the background. */
export function keepCompilers(
  resources: BoxResources,
  { name, compiler, paths, limits, slots, firstUid, onFallback }: KeptCompiler,
): ResidentCompilers {
  const memoryBytes = Math.min(limits.memoryBytes, residentMemoryBytes)
  const count = Math.ceil(slots / slotsServed)
  const pool = keepResidents(
    count,
    (serial, signal) =>
      startResident(
        resources,
        {
          name: `${name}-${serial}`,
          uid: firstUid === null ? null : firstUid + (serial % count),
          command: compiler.command(memoryBytes),
          paths,
          memoryBytes,
          processes: limits.processes,
          diskBytes: limits.diskBytes,
          lifetimeCpuSeconds,
          startSeconds,
          answerBytes: limits.stdoutBytes + limits.stderrBytes,
        },
        signal,
      ),
    retirement,
    (error) => onFallback(describe(error)),
  )
  const exchangeLimits: PhaseLimits = {
    ...limits,
    cpuSeconds: Math.min(limits.cpuSeconds, exchangeCpuSeconds),
    wallSeconds: Math.min(limits.wallSeconds, exchangeWallSeconds),
  }

  const judge = ({ answer, usage }: Exchange): Phase | null => {
    const read = compiler.readAnswer(answer)
    if (read === null || usage.cpuSeconds > exchangeLimits.cpuSeconds) return null
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

  return {
    count,
    compile: (code, signal) => pool.ask(compiler.writeRequest(code), exchangeLimits, judge, signal),
    settled: () => pool.settled(),
    close: () => pool.close(),
  }
}
