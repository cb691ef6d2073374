// A resident: a program of ours that stays in a box and answers framed requests. It is used for compilers whose start costs
// more than their work. No submission's program runs in it. A surplus byte, an exceeded limit or a missing answer ends it.
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
  /** Sends one request; calls must not overlap. Returns null when no answer came in time, which also ends the resident. */
  exchange(request: Uint8Array, seconds: number): Promise<Exchange | null>
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
  const opened = await openKeeper(resources, { name, uid, ownStreams: true }, (removal) => removal)
  const { keeper, group, run, close } = opened
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
    async exchange(request, seconds) {
      const timer = setTimeout(end, seconds * 1000)
      try {
        const started = performance.now()
        const before = group.readCounters()
        const answered = nextFrame()
        writeFrame(keeper.streams.input, request)
        const answer = await answered
        const { cpuSeconds, memoryBytes } = group.readCounters()
        const usage = {
          cpuSeconds: roundSeconds(cpuSeconds - before.cpuSeconds),
          wallSeconds: roundSeconds((performance.now() - started) / 1000),
          memoryPeakBytes: memoryBytes,
        }
        return { answer, usage }
      } catch {
        end()
        return null
      } finally {
        clearTimeout(timer)
      }
    },
  }
}
