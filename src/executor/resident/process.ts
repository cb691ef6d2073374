// A resident: a program of ours that stays in a box and answers framed requests. It is used for compilers whose start costs
// more than their work. No submission's program runs in it. A surplus byte, an exceeded limit or a missing answer ends it.
import type { KeeperGroup } from '#cgroup'
import { describe, roundSeconds, SandboxError } from '#contract'
import type { Command, PhaseLimits, Usage } from '#contract'
import { openKeeper } from '#keeper'
import type { BoxResources } from '#keeper'
import { readFrames, writeFrame } from './frame.ts'

export interface ResidentLaunch {
  /** Name of its cgroup; unique among keepers and residents. */
  readonly name: string
  /** Host uid; null for the worker's uid. */
  readonly uid: number | null
  readonly command: Command
  /** Limits of its whole life, start included. */
  readonly limits: Pick<PhaseLimits, 'memoryBytes' | 'processes' | 'diskBytes' | 'cpuSeconds'>
  /** Longest time until it is ready. */
  readonly startSeconds: number
  /** Size of the largest answer. */
  readonly answerBytes: number
}

/** An answer and its resource usage, which includes all threads of the resident. */
export interface Exchange {
  readonly answer: Buffer
  readonly usage: Usage
}

export interface Resident {
  /** Resolves when every process is dead and the cgroup gone; rejects with {SandboxError} when that fails. */
  readonly ended: Promise<void>
  /**
   * Sends one request; calls must not overlap. Returns null when no answer came within the limits, which also ends the
   * resident. The limits on CPU and wall time apply to this exchange alone.
   */
  exchange(request: Uint8Array, limits: PhaseLimits): Promise<Exchange | null>
  end(): void
}

/** Bytes of stderr kept to explain a failed start, and the number of bytes that ends the resident. */
const wordsKeptBytes = 4096
const wordsBytes = 1024 * 1024

/** A keeper's run must have a wall limit. A resident that is unused for this long is replaced. */
const lifetimeSeconds = 20 * 24 * 3600

/**
 * Starts a resident; resolves when it is ready.
 * @throws {SandboxError} when it does not become ready; the signal's reason when aborted.
 */
export async function startResident(
  resources: BoxResources,
  launch: ResidentLaunch,
  signal: AbortSignal,
): Promise<Resident> {
  signal.throwIfAborted()
  const { name, uid, command, limits, startSeconds, answerBytes } = launch
  const request = { name, uid, ownStreams: true }
  const { keeper, group, run, close } = await openKeeper(resources, request, (removal) => removal)
  const stop = new AbortController()
  const end = (): void => stop.abort()
  const nextFrame = readFrames(keeper.streams.output, answerBytes, end)
  // The resident's life is one run of its keeper. After the run no process lives. If the keeper fails, the removal of its
  // cgroup kills the rest.
  const lastWords = run({
    command,
    limits: { ...limits, wallSeconds: lifetimeSeconds, stdoutBytes: 1, stderrBytes: wordsBytes },
    stop: stop.signal,
    stderrKeptBytes: wordsKeptBytes,
  }).then(({ stderr }) => stderr.bytes.toString('utf8').trim(), describe)
  const ended = lastWords.then(close)
  // The caller need not wait for the end.
  ended.catch(() => {})
  signal.addEventListener('abort', end)
  let isLate = false
  const deadline = setTimeout(() => {
    isLate = true
    end()
  }, startSeconds * 1000)
  try {
    if (signal.aborted) end()
    await nextFrame()
  } catch (cause) {
    end()
    const words = await lastWords
    await ended
    signal.throwIfAborted()
    const reason = isLate ? `it was not ready after ${startSeconds} s` : describe(cause)
    throw new SandboxError('resident.start', words || reason, cause)
  } finally {
    clearTimeout(deadline)
    signal.removeEventListener('abort', end)
  }
  return {
    ended,
    end,
    async exchange(question, most) {
      let meter: ReturnType<typeof startMeter> | null = null
      try {
        meter = startMeter(group, most, end)
        const answered = nextFrame()
        writeFrame(keeper.streams.input, question)
        const answer = await answered
        return { answer, usage: meter.read() }
      } catch {
        end()
        return null
      } finally {
        meter?.stop()
      }
    },
  }
}

/** Time between two readings of the counters, in milliseconds. */
const lookMilliseconds = 20

/**
 * Measures an exchange with the counters of the resident's cgroup.
 * @param onLimit called when CPU or wall time has passed its limit, or `read` would throw.
 * @throws when the counters cannot be read.
 */
function startMeter(group: KeeperGroup, limits: PhaseLimits, onLimit: () => void) {
  const started = performance.now()
  const before = group.readCounters()
  let memoryPeakBytes = 0

  /**
   * Returns the usage since the meter's start. The memory peak is the highest value that was read.
   * @throws when the out-of-memory killer killed a process, or the counters cannot be read.
   */
  function read(): Usage {
    const { cpuSeconds, memoryBytes, outOfMemoryKills } = group.readCounters()
    if (outOfMemoryKills > 0) throw new Error('part of it was killed')
    memoryPeakBytes = Math.max(memoryPeakBytes, memoryBytes)
    return {
      cpuSeconds: roundSeconds(cpuSeconds - before.cpuSeconds),
      wallSeconds: roundSeconds((performance.now() - started) / 1000),
      memoryPeakBytes,
    }
  }

  function look(): void {
    try {
      const { cpuSeconds, wallSeconds } = read()
      if (cpuSeconds > limits.cpuSeconds || wallSeconds > limits.wallSeconds) onLimit()
    } catch {
      onLimit()
    }
  }

  const timer = setInterval(look, lookMilliseconds)
  return { read, stop: () => clearInterval(timer) }
}
