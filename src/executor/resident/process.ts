// A box that stays: a program of ours in it answers one framed request after the other. For compilers whose start costs
// more than their work; a submission's own program never runs in one. The box is that of any phase (child.ts), with a
// cgroup and limits of its own. Whatever is not as agreed (a word too many, a limit, silence) ends it: what it says is
// taken whole or not at all, and whoever asked does without.
import { closeSync } from 'node:fs'
import type { Socket } from 'node:net'
import { captureOutput, refuseOutside, startChild, watchLimits } from '#bubblewrap'
import { describe, roundSeconds, SandboxError } from '#contract'
import type { Cgroup } from '#cgroup'
import type { Child, BoxResources } from '#bubblewrap'
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

/** bubblewrap's monitor and the box's first process. */
const ownProcesses = 2
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
  let box: Box
  try {
    box = await openBox(resources, launch, group)
  } catch (error) {
    await group.remove()
    throw error
  }
  const { child, feed, frames, words } = box
  const end = (): void => {
    child.kill()
    try {
      group.kill()
    } catch {
      // bubblewrap's death ends the box too; emptying the cgroup tries again and reports what fails.
    }
  }
  let isOver = false
  const finish = async (): Promise<void> => {
    await child.exited
    isOver = true
    box.close()
    await group.empty()
    await child.ended
    await group.remove()
  }
  const ended = finish()
  // Whoever waits for the end hears of a failure; nobody has to.
  ended.catch(() => {})
  frames.onDoubt(end)
  words.onDoubt(end)

  const abort = (): void => end()
  signal.addEventListener('abort', abort)
  const deadline = setTimeout(end, launch.startSeconds * 1000)
  try {
    if (signal.aborted) end()
    const boxPid = await child.boxPid
    if (boxPid === null) throw new Error('the box ended without a word')
    if (!group.holds(boxPid)) await refuseOutside(child, boxPid)
    await child.waitUntilReady(boxPid)
    // Past its end the gate's descriptor is closed and may be another's.
    if (isOver) throw new Error('the box ended before it started')
    child.release()
    await frames.next()
  } catch (cause) {
    end()
    await ended
    signal.throwIfAborted()
    if (cause instanceof SandboxError) throw cause
    throw new SandboxError('resident.start', words.text() || describe(cause), cause)
  } finally {
    clearTimeout(deadline)
    signal.removeEventListener('abort', abort)
  }

  return {
    ended,
    end,
    async exchange(request, limits) {
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
        return {
          answer,
          usage: { cpuSeconds, wallSeconds, memoryPeakBytes: group.readMemoryPeakBytes() },
        }
      } catch {
        end()
        return null
      } finally {
        watch?.stop()
      }
    },
  }
}

/** A started box whose program is not let go yet. */
interface Box {
  readonly child: Child
  readonly feed: Socket
  readonly frames: Frames
  readonly words: { text(): string; onDoubt(stop: () => void): void }
  close(): void
}

async function openBox(
  resources: BoxResources,
  launch: ResidentLaunch,
  group: Cgroup,
): Promise<Box> {
  const given: number[] = []
  const closers: (() => void)[] = []
  const close = (): void => {
    for (const closer of closers.splice(0)) closer()
  }
  try {
    const stdin = await resources.streams.openFeed()
    given.push(stdin.childDescriptor)
    closers.push(() => stdin.stream.destroy())
    // A write to one that has died is answered by its end.
    stdin.stream.on('error', () => {})
    const stdout = await resources.streams.openOutput()
    given.push(stdout.childDescriptor)
    closers.push(() => stdout.stream.destroy())
    const stderr = await resources.streams.openOutput()
    given.push(stderr.childDescriptor)
    closers.push(() => stderr.stream.destroy())
    const gate = await resources.streams.openGate()
    given.push(gate.childDescriptor)
    closers.push(() => gate.close())
    const frames = readFrames(stdout.stream, launch.answerBytes)
    let stop = (): void => {}
    const said = captureOutput(stderr.stream, wordsKeptBytes, wordsBytes, () => stop())
    const child = startChild({
      command: launch.command,
      root: resources.root,
      paths: launch.paths,
      diskBytes: launch.diskBytes,
      filter: resources.filter,
      inherited: resources.inherited,
      emptyDescriptor: resources.emptyDescriptor,
      uid: launch.uid,
      entrances: group.entrances,
      cpuSeconds: launch.lifetimeCpuSeconds,
      standardDescriptors: [stdin.childDescriptor, stdout.childDescriptor, stderr.childDescriptor],
      gate,
    })
    const words = {
      text: () => said.captured().bytes.toString('utf8').trim(),
      onDoubt: (then: () => void) => void (stop = then),
    }
    return { child, feed: stdin.stream, frames, words, close }
  } catch (cause) {
    close()
    if (cause instanceof SandboxError) throw cause
    throw new SandboxError('resident.start', describe(cause), cause)
  } finally {
    for (const descriptor of given) closeSync(descriptor)
  }
}
