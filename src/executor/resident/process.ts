// A box that stays: our program in it answers framed requests. For compilers whose start costs more than their work; no
// submission's program runs in one. A surplus byte, a passed limit or silence ends it.
import { describe, SandboxError } from '#contract'
import type { Command, PhaseLimits, Usage } from '#contract'
import { openKeeper } from '#keeper'
import type { BoxResources } from '#keeper'
import { readFrames, writeFrame } from './frame.ts'
import { startMeter } from './meter.ts'
import type { Meter } from './meter.ts'

export interface ResidentLaunch {
  /** The cgroup's name; unique among keepers and residents. */
  readonly name: string
  /** Host uid; null: the worker's own. */
  readonly uid: number | null
  readonly command: Command
  /** Of its whole life, start included. */
  readonly limits: Pick<PhaseLimits, 'memoryBytes' | 'processes' | 'diskBytes' | 'cpuSeconds'>
  /** Until it is ready. */
  readonly startSeconds: number
  /** The largest answer. */
  readonly answerBytes: number
}

/** An answer and what it took, including the resident's other threads. */
export interface Exchange {
  readonly answer: Buffer
  readonly usage: Usage
}

export interface Resident {
  /** Resolves when every process is dead and the cgroup gone; rejects with {SandboxError} when that fails. */
  readonly ended: Promise<void>
  /**
   * Asks one thing; only one at a time. Null when no answer came within the limits: it is ended then. CPU and wall time
   * are this exchange's.
   */
  exchange(request: Uint8Array, limits: PhaseLimits): Promise<Exchange | null>
  end(): void
}

/** stderr kept to explain a failed start, and how much ends it. */
const wordsKeptBytes = 4096
const wordsBytes = 1024 * 1024

/** A keeper's run has an end; another takes the place of one that nobody has asked for so long. */
const lifetimeSeconds = 20 * 24 * 3600

/**
 * Resolves when it is ready.
 * @throws {SandboxError} when it does not get there; the signal's reason when aborted.
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
  // One run, as long as its life: no process lives after it, or its keeper has failed, which its group's removal then ends.
  const lastWords = run({
    command,
    limits: { ...limits, wallSeconds: lifetimeSeconds, stdoutBytes: 1, stderrBytes: wordsBytes },
    stop: stop.signal,
    stdin: new Uint8Array(),
    stderrKeptBytes: wordsKeptBytes,
    ranOutOfMemory: () => false,
  }).then(({ stderr }) => stderr.bytes.toString('utf8').trim(), describe)
  const ended = lastWords.then(close)
  // Nobody has to wait for the end.
  ended.catch(() => {})
  signal.addEventListener('abort', end)
  const deadline = setTimeout(end, startSeconds * 1000)
  try {
    if (signal.aborted) end()
    await nextFrame()
  } catch (cause) {
    end()
    const words = await lastWords
    await ended
    signal.throwIfAborted()
    throw new SandboxError('resident.start', words || describe(cause), cause)
  } finally {
    clearTimeout(deadline)
    signal.removeEventListener('abort', end)
  }
  return {
    ended,
    end,
    async exchange(question, most) {
      let meter: Meter | null = null
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
