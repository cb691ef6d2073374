// Opens one box, for a run (run-phase.ts) or a resident compiler (resident/process.ts), and proves before the program
// begins that it is in its cgroup.
import { closeSync, readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { Cgroup, CgroupParent } from '#cgroup'
import { describe, SandboxError } from '#contract'
import type { Command, HostPath } from '#contract'
import type { RootEntry } from './arguments.ts'
import { startChild } from './child.ts'
import type { Child } from './child.ts'
import type { StandardStreams } from './standard-stream.ts'

/** Shared by all boxes of an executor. */
export interface BoxResources {
  readonly cgroups: CgroupParent
  readonly streams: StandardStreams
  readonly filter: Buffer
  readonly root: readonly RootEntry[]
  readonly inherited: readonly number[]
  readonly emptyDescriptor: number
}

export interface BoxContents {
  /** Host uid of the slot; null: the worker's own. */
  readonly uid: number | null
  readonly command: Command
  readonly paths: readonly HostPath[]
  readonly diskBytes: number
  readonly cpuSeconds: number
  readonly processes: number
  /** Opens a descriptor, which is always closed here. */
  readonly openStdin: () => number | Promise<number>
}

/** A started box whose program waits. */
export interface OpenBox {
  readonly child: Child
  readonly stdout: Socket
  readonly stderr: Socket
  close(): void
}

/** bubblewrap's monitor and the box's first process, which the group counts. */
export const ownProcesses = 2

/** @throws {SandboxError} when a stream or the process cannot be made; nothing is left open. */
export async function openBox(
  { streams, filter, root, inherited, emptyDescriptor }: BoxResources,
  group: Cgroup,
  { openStdin, ...contents }: BoxContents,
): Promise<OpenBox> {
  const given: number[] = []
  const closers: (() => void)[] = []
  const close = (): void => {
    for (const closer of closers.splice(0)) closer()
  }
  let step = 'pipe.open'
  try {
    const stdin = await openStdin()
    given.push(stdin)
    const stdout = await streams.openOutput()
    given.push(stdout.childDescriptor)
    closers.push(() => stdout.stream.destroy())
    const stderr = await streams.openOutput()
    given.push(stderr.childDescriptor)
    closers.push(() => stderr.stream.destroy())
    const gate = await streams.openGate()
    given.push(gate.childDescriptor)
    closers.push(() => gate.close())
    step = 'bubblewrap.spawn'
    const child = startChild({
      ...contents,
      root,
      filter,
      inherited,
      emptyDescriptor,
      entrances: group.entrances,
      standardDescriptors: [stdin, stdout.childDescriptor, stderr.childDescriptor],
      gate,
    })
    return { child, stdout: stdout.stream, stderr: stderr.stream, close }
  } catch (cause) {
    close()
    if (cause instanceof SandboxError) throw cause
    throw new SandboxError(step, describe(cause), cause)
  } finally {
    for (const descriptor of given) closeSync(descriptor)
  }
}

/**
 * Resolves when the box waits in its group, or has ended.
 * @param isGivenUp asked once the pid is known.
 * @returns the pid of its first process; null when there is nothing to let go.
 * @throws {SandboxError} step `cgroup.attach` when it is not in its group; it is dead then.
 */
export async function awaitBox(
  child: Child,
  group: Cgroup,
  isGivenUp = (): boolean => false,
): Promise<number | null> {
  const boxPid = await child.boxPid
  if (boxPid === null || isGivenUp()) return null
  if (!group.holds(boxPid)) await refuseOutside(child, boxPid)
  await child.waitUntilReady(boxPid)
  return boxPid
}

/** Kills by pid, as the cgroup cannot. The pid cannot be another's: the box still waits for us. */
async function refuseOutside(child: Child, boxPid: number): Promise<void> {
  const { promise: gone, resolve } = Promise.withResolvers<boolean>()
  const timer = setTimeout(resolve, 100, false)
  void child.exited.then(() => resolve(true))
  const ended = await gone
  clearTimeout(timer)
  if (ended) return
  process.kill(boxPid, 'SIGKILL')
  child.kill()
  await child.ended
  for (let tries = 0; tries < 1000 && isAlive(boxPid); tries += 1) await delay(5)
  throw new SandboxError('cgroup.attach', `process ${boxPid} is not in its cgroup`)
}

/** A zombie holds nothing, so it counts as dead. */
function isAlive(pid: number): boolean {
  try {
    return !/^State:\t[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}
