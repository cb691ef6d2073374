// A box that stays: our program in it answers framed requests. For compilers whose start costs more than their work; no
// submission's program runs in one. A surplus byte, a passed limit or silence ends it.
import { describe, SandboxError } from '#contract'
import type { Command, Evidence, PhaseLimits, Usage } from '#contract'
import { openKeeper } from '#keeper'
import type { BoxResources, OpenKeeper } from '#keeper'
import { readFrames, writeFrame } from './frame.ts'
import type { NextFrame } from './frame.ts'
import { startMeter } from './meter.ts'
import type { Meter } from './meter.ts'

export interface ResidentLaunch {
  /** The cgroup's name; unique among keepers and residents. */
  readonly name: string
  /** Host uid; null: the worker's own. */
  readonly uid: number | null
  readonly command: Command
  readonly memoryBytes: number
  readonly processes: number
  readonly diskBytes: number
  /** CPU time of its whole life, start included. */
  readonly lifetimeCpuSeconds: number
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
  const room = await openRoom(resources, launch)
  const { end, ended, lived } = room
  const abort = (): void => end()
  signal.addEventListener('abort', abort)
  const deadline = setTimeout(end, launch.startSeconds * 1000)
  try {
    if (signal.aborted) end()
    await room.nextFrame()
  } catch (cause) {
    end()
    const words = await lived.then(({ stderr }) => stderr.bytes.toString('utf8').trim())
    await ended
    signal.throwIfAborted()
    throw new SandboxError('resident.start', words || describe(cause), cause)
  } finally {
    clearTimeout(deadline)
    signal.removeEventListener('abort', abort)
  }
  return { ended, end, exchange: (request, limits) => exchange(room, request, limits) }
}

interface Room {
  readonly opened: OpenKeeper
  readonly nextFrame: NextFrame
  /** How its one run ended. */
  readonly lived: Promise<Pick<Evidence, 'stderr'>>
  readonly end: () => void
  readonly ended: Promise<void>
}

/** A keeper of its own, whose one run lasts as long as the resident. */
async function openRoom(resources: BoxResources, launch: ResidentLaunch): Promise<Room> {
  const { name, uid, answerBytes } = launch
  const request = { name, uid, ownStreams: true }
  const opened = await openKeeper(resources, request, (removal) => removal)
  const stop = new AbortController()
  const end = (): void => stop.abort()
  const nextFrame = readFrames(opened.keeper.streams.output, answerBytes, end)
  const lived = live(opened, launch, stop.signal)
  const ended = lived.then(() => opened.close())
  // Nobody has to wait for the end.
  ended.catch(() => {})
  return { opened, nextFrame, lived, end, ended }
}

/** Resolves when no process of its box lives, or its keeper has failed, which its group's removal then ends. */
function live(opened: OpenKeeper, launch: ResidentLaunch, stop: AbortSignal): Room['lived'] {
  const { command, memoryBytes, processes, diskBytes, lifetimeCpuSeconds } = launch
  const limits: PhaseLimits = {
    memoryBytes,
    processes,
    diskBytes,
    cpuSeconds: lifetimeCpuSeconds,
    wallSeconds: lifetimeSeconds,
    stdoutBytes: 1,
    stderrBytes: wordsBytes,
  }
  const request = {
    command,
    limits,
    stop,
    stdin: new Uint8Array(),
    stderrKeptBytes: wordsKeptBytes,
    ranOutOfMemory: () => false,
  }
  return opened.run(request).catch((error: unknown) => ({
    stderr: { bytes: Buffer.from(describe(error)), truncated: false, exceeded: false },
  }))
}

async function exchange(
  { opened: { group, keeper }, nextFrame, end }: Room,
  request: Uint8Array,
  limits: PhaseLimits,
): Promise<Exchange | null> {
  let meter: Meter | null = null
  try {
    meter = startMeter(group, limits, end)
    const answered = nextFrame()
    writeFrame(keeper.streams.input, request)
    const answer = await answered
    return { answer, usage: meter.read() }
  } catch {
    end()
    return null
  } finally {
    meter?.stop()
  }
}
