// A box that stays: our program in it answers framed requests. For compilers whose start costs more than their work; no
// submission's program runs in one. A surplus byte, a passed limit or silence ends it.
import type { Socket } from 'node:net'
import { awaitBox, captureOutput, openBox, ownProcesses, watchLimits } from '#bubblewrap'
import type { BoxResources, OpenBox } from '#bubblewrap'
import type { Cgroup } from '#cgroup'
import { describe, roundSeconds, SandboxError } from '#contract'
import type { Command, HostPath, PhaseLimits, Usage } from '#contract'
import { readFrames, writeFrame } from './frame.ts'
import type { Frames } from './frame.ts'

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

interface Room {
  readonly child: OpenBox['child']
  readonly group: Cgroup
  readonly feed: Socket
  readonly frames: Frames
  readonly words: () => string
  readonly end: () => void
  readonly ended: Promise<void>
  readonly isOver: () => boolean
}

async function openRoom(
  resources: BoxResources,
  launch: ResidentLaunch,
  group: Cgroup,
): Promise<Room> {
  const { uid, command, paths, diskBytes, processes, lifetimeCpuSeconds, answerBytes } = launch
  const { stream: feed, childDescriptor } = await resources.streams.openFeed()
  // Its end tells.
  feed.on('error', () => {})
  const contents = { uid, command, paths, diskBytes, processes, cpuSeconds: lifetimeCpuSeconds }
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
      // bubblewrap's death ends the box too; group.empty() tries again and reports.
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
  // Nobody has to wait for the end.
  ended.catch(() => {})
  const words = (): string => said.captured().bytes.toString('utf8').trim()
  return { child, group, feed, frames, words, end, ended, isOver: () => isOver }
}

async function letGo({ child, group, isOver }: Room): Promise<void> {
  if (!(await awaitBox(child, group))) throw new Error('the box ended without a word')
  // The gate's descriptor may be another's by now.
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
