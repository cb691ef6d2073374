// A box that stays: a program of ours in it answers one framed request after the other. It is for compilers whose start costs
// more than their work; a submission's program never runs in one. The box is that of any phase (open-box.ts). A word too
// many, a passed limit or silence ends it, and whoever asked does without.
import type { Socket } from 'node:net'
import { awaitBox, captureOutput, openBox, ownProcesses, watchLimits } from '#bubblewrap'
import { describe, roundSeconds, SandboxError } from '#contract'
import type { Cgroup } from '#cgroup'
import type { BoxResources, OpenBox } from '#bubblewrap'
import type { Command, HostPath, PhaseLimits, Usage } from '#contract'
import { readFrames, writeFrame } from './frame.ts'
import type { Frames } from './frame.ts'

/** What a resident is started with. */
export interface ResidentLaunch {
  /** The cgroup's name; unique among running phases and residents. */
  readonly name: string
  /** Host uid; null: the worker's own. */
  readonly uid: number | null
  readonly command: Command
  readonly paths: readonly HostPath[]
  readonly memoryBytes: number
  readonly processes: number
  readonly diskBytes: number
  /** CPU time of its whole life, its start included, in seconds. */
  readonly lifetimeCpuSeconds: number
  /** How long it may take until it is ready, in seconds. */
  readonly startSeconds: number
  /** The largest answer, in bytes. */
  readonly answerBytes: number
}

/** An answer and what it took, other threads of the resident included. */
export interface Exchange {
  readonly answer: Buffer
  readonly usage: Usage
}

export interface Resident {
  /** Resolves when every process is dead and the cgroup gone; rejects with a {SandboxError} when that cannot be had. */
  readonly ended: Promise<void>
  /**
   * Asks one thing; nothing else may be under way. Null when there was no answer within the limits: then it is ended.
   * Of the limits, CPU and wall time are those of this exchange.
   */
  exchange(request: Uint8Array, limits: PhaseLimits): Promise<Exchange | null>
  /** Kills it; `ended` tells when it is gone. */
  end(): void
}

/** What is kept of its stderr, for the message when it does not start, and how much ends it. */
const wordsKeptBytes = 4096
const wordsBytes = 1024 * 1024

/** Resolves when it is ready. @throws {SandboxError} when it does not get there; the signal's reason when aborted. */
export async function startResident(
  resources: BoxResources,
  launch: ResidentLaunch,
  signal: AbortSignal,
): Promise<Resident> {
  signal.throwIfAborted()
  const group = await resources.cgroups.create(launch.name, {
    memoryBytes: launch.memoryBytes,
    processes: launch.processes + ownProcesses,
  })
  let room: Room
  try {
    room = await openRoom(resources, launch, group)
  } catch (error) {
    await group.remove()
    throw error
  }
  const { end, ended, words } = room
  const abort = (): void => end()
  signal.addEventListener('abort', abort)
  const deadline = setTimeout(end, launch.startSeconds * 1000)
  try {
    if (signal.aborted) end()
    await letGo(room)
    await room.frames.next()
  } catch (cause) {
    end()
    await ended
    signal.throwIfAborted()
    if (cause instanceof SandboxError) throw cause
    throw new SandboxError('resident.start', words() || describe(cause), cause)
  } finally {
    clearTimeout(deadline)
    signal.removeEventListener('abort', abort)
  }
  return { ended, end, exchange: (request, limits) => exchange(room, request, limits) }
}

/** Its box, and what goes in and out. */
interface Room {
  readonly child: OpenBox['child']
  readonly group: Cgroup
  readonly feed: Socket
  readonly frames: Frames
  /** What it has said on stderr. */
  readonly words: () => string
  readonly end: () => void
  readonly ended: Promise<void>
  readonly isOver: () => boolean
}

/** Starts the box; its program is not let go yet. */
async function openRoom(
  resources: BoxResources,
  launch: ResidentLaunch,
  group: Cgroup,
): Promise<Room> {
  const { uid, command, paths, diskBytes, lifetimeCpuSeconds, answerBytes } = launch
  const { stream: feed, childDescriptor } = await resources.streams.openFeed()
  // A write to one that has died is answered by its end.
  feed.on('error', () => {})
  const contents = { uid, command, paths, diskBytes, cpuSeconds: lifetimeCpuSeconds }
  const box = await openBox(resources, group, {
    ...contents,
    openStdin: () => childDescriptor,
  }).catch((error: unknown) => {
    feed.destroy()
    throw error
  })
  const { child } = box
  const end = (): void => {
    child.kill()
    try {
      group.kill()
    } catch {
      // bubblewrap's death ends the box too; emptying the cgroup tries again and reports what fails.
    }
  }
  const said = captureOutput(box.stderr, wordsKeptBytes, wordsBytes, end)
  const frames = readFrames(box.stdout, answerBytes)
  frames.onDoubt(end)
  let isOver = false
  const finish = async (): Promise<void> => {
    await child.exited
    isOver = true
    feed.destroy()
    box.close()
    await group.empty()
    await child.ended
    await group.remove()
  }
  const ended = finish()
  // Whoever waits for the end hears of a failure; nobody has to.
  ended.catch(() => {})
  const words = (): string => said.captured().bytes.toString('utf8').trim()
  return { child, group, feed, frames, words, end, ended, isOver: () => isOver }
}

async function letGo({ child, group, isOver }: Room): Promise<void> {
  if (!(await awaitBox(child, group))) throw new Error('the box ended without a word')
  // Past its end the gate's descriptor is closed and may be another's.
  if (isOver()) throw new Error('the box ended before it started')
  child.release()
}

async function exchange(
  { group, feed, frames, end }: Room,
  request: Uint8Array,
  limits: PhaseLimits,
): Promise<Exchange | null> {
  let watch: { stop(): void } | null = null
  try {
    group.startMeasuring()
    const started = performance.now()
    watch = watchLimits(group, limits, started, end)
    const answered = frames.next()
    writeFrame(feed, request)
    const answer = await answered
    const wallSeconds = roundSeconds((performance.now() - started) / 1000)
    const cpuSeconds = roundSeconds(group.readCpuSeconds())
    if (group.readOutOfMemoryKills() > 0) throw new Error('part of it was killed')
    const memoryPeakBytes = group.readMemoryPeakBytes()
    return { answer, usage: { cpuSeconds, wallSeconds, memoryPeakBytes } }
  } catch {
    end()
    return null
  } finally {
    watch?.stop()
  }
}
