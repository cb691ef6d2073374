// Runs one command once: a fresh cgroup, a box that waits in it, the clocks, the end, the evidence, nothing left.
// The order of the steps is the point of this file: limits are in force and verified before the first instruction, and
// figures are read after the last process is dead.
import { closeSync } from 'node:fs'
import { constants } from 'node:os'
import { describe } from './cgroup-file.ts'
import { captureOutput } from './capture.ts'
import type { Capture } from './capture.ts'
import type { Cgroup, CgroupParent } from './cgroup.ts'
import { startChild } from './child.ts'
import type { Child, ChildEnd } from './child.ts'
import type { Command } from './language/language.ts'
import { SandboxError } from './outcome.ts'
import type { Ending, Phase } from './outcome.ts'
import type { PhaseLimits } from './request.ts'
import type { OutputPipe, StandardStreams } from './standard-stream.ts'

/** What every phase of an executor shares. */
export interface Host {
  readonly cgroups: CgroupParent
  readonly streams: StandardStreams
  readonly filter: Buffer
  readonly root: readonly string[]
  readonly inherited: readonly number[]
  readonly emptyDescriptor: number
}

export interface PhaseRequest {
  /** The cgroup's name; unique among running phases. */
  readonly name: string
  /** Host uid; null: the worker's own. */
  readonly uid: number | null
  readonly command: Command
  readonly paths: readonly string[]
  readonly stdin: Uint8Array
  readonly limits: PhaseLimits
  /** Bytes of stderr kept when that is less than the limit. */
  readonly stderrKeptBytes?: number
  ranOutOfMemory(exitCode: number, stderr: Buffer): boolean
}

/** bubblewrap's monitor and the box's first process. */
const ownProcesses = 2

/** Milliseconds between two looks at the counters: near the CPU limit, and otherwise. */
const shortestLook = 5
const longestLook = 20

type Reason = 'cpu_limit' | 'wall_limit' | 'output_limit' | 'memory_limit' | 'aborted'

/**
 * Runs the command. When it settles, no process of the phase lives and its cgroup is gone.
 * @throws {SandboxError} when we failed; the signal's reason when it was aborted.
 */
export async function runPhase(
  host: Host,
  request: PhaseRequest,
  signal?: AbortSignal,
): Promise<Phase> {
  signal?.throwIfAborted()
  const group = await host.cgroups.create(request.name, {
    memoryBytes: request.limits.memoryBytes,
    processes: request.limits.processes + ownProcesses,
  })
  try {
    return await runInGroup(host, request, group, signal)
  } finally {
    await group.empty()
    await group.remove()
  }
}

async function runInGroup(
  host: Host,
  request: PhaseRequest,
  group: Cgroup,
  signal: AbortSignal | undefined,
): Promise<Phase> {
  const { limits } = request
  let reason: Reason | null = null
  let over = false
  const stop = (why: Reason): void => {
    if (over || reason !== null) return
    reason = why
    group.kill()
  }
  const pipes = await openOutputs(host.streams)
  const [stdout, stderr] = pipes
  const passOutput = (): void => stop('output_limit')
  const stderrKept = request.stderrKeptBytes ?? limits.stderrBytes
  const captured: [Capture, Capture] = [
    captureOutput(stdout.stream, limits.stdoutBytes, limits.stdoutBytes, passOutput),
    captureOutput(stderr.stream, stderrKept, limits.stderrBytes, passOutput),
  ]
  const child = start(host, request, group, pipes)

  let watch: { stop(): void } | null = null
  const abort = (): void => stop('aborted')
  signal?.addEventListener('abort', abort)
  try {
    if (signal?.aborted === true) abort()
    const boxPid = await child.boxPid
    let started = performance.now()
    if (boxPid !== null) {
      if (!group.holds(boxPid) && reason === null) await refuseOutside(child, boxPid)
      await child.waitUntilReady(boxPid)
      group.startMeasuring()
      started = performance.now()
      watch = watchLimits(group, limits, started, stop)
      child.release()
    }
    await child.exited
    over = true
    await group.empty()
    const end = await child.ended
    await Promise.all(captured.map((capture) => capture.ended))
    if (reason === 'aborted') signal?.throwIfAborted()
    return judge(request, group, captured, end, reason, started)
  } finally {
    over = true
    watch?.stop()
    signal?.removeEventListener('abort', abort)
    child.kill()
    await group.empty().finally(() => {
      for (const { stream } of pipes) stream.destroy()
    })
    await child.ended
  }
}

/** The box ended by itself between telling its pid and our look, or it is not where it must be. */
async function refuseOutside(child: Child, boxPid: number): Promise<void> {
  const { promise: gone, resolve } = Promise.withResolvers<boolean>()
  const timer = setTimeout(resolve, 100, false)
  void child.exited.then(() => resolve(true))
  const ended = await gone
  clearTimeout(timer)
  if (!ended) throw new SandboxError('cgroup.attach', `process ${boxPid} is not in its cgroup`)
}

/** Starts the box and gives it its descriptors; ours of them are closed, whatever happens. */
function start(
  host: Host,
  request: PhaseRequest,
  group: Cgroup,
  [stdout, stderr]: readonly [OutputPipe, OutputPipe],
): Child {
  const given = [stdout.childDescriptor, stderr.childDescriptor]
  try {
    const stdin = host.streams.openInput(request.stdin)
    given.push(stdin)
    return startChild({
      command: request.command,
      root: host.root,
      paths: request.paths,
      diskBytes: request.limits.diskBytes,
      filter: host.filter,
      inherited: host.inherited,
      emptyDescriptor: host.emptyDescriptor,
      uid: request.uid,
      entrances: group.entrances,
      cpuSeconds: request.limits.cpuSeconds,
      standardDescriptors: [stdin, stdout.childDescriptor, stderr.childDescriptor],
    })
  } catch (cause) {
    for (const { stream } of [stdout, stderr]) stream.destroy()
    throw new SandboxError('bubblewrap.spawn', describe(cause), cause)
  } finally {
    for (const descriptor of given) closeSync(descriptor)
  }
}

async function openOutputs(streams: StandardStreams): Promise<[OutputPipe, OutputPipe]> {
  const opened: OutputPipe[] = []
  try {
    const stdout = await streams.openOutput()
    opened.push(stdout)
    return [stdout, await streams.openOutput()]
  } catch (cause) {
    for (const { childDescriptor, stream } of opened) {
      closeSync(childDescriptor)
      stream.destroy()
    }
    if (cause instanceof SandboxError) throw cause
    throw new SandboxError('pipe.open', describe(cause), cause)
  }
}

/** Calls `stop` once a clock has passed its limit, or a process has fallen to the out-of-memory killer. */
function watchLimits(
  group: Cgroup,
  limits: PhaseLimits,
  started: number,
  stop: (why: Reason) => void,
): { stop(): void } {
  const wall = setTimeout(
    // An end that has happened already is seen first: input events come before this callback.
    () => setImmediate(stop, 'wall_limit'),
    limits.wallSeconds * 1000 - (performance.now() - started),
  )
  let look: NodeJS.Timeout
  const schedule = (usedSeconds: number): void => {
    // At most two cores are used at once (cpu-quota.ts).
    const leftMilliseconds = ((limits.cpuSeconds - usedSeconds) * 1000) / 2
    const pause = Math.max(shortestLook, Math.min(longestLook, leftMilliseconds))
    look = setTimeout(() => {
      // cgroup v1 kills one process for want of memory and lets the others live on.
      if (group.readOutOfMemoryKills() > 0) {
        stop('memory_limit')
        return
      }
      const used = group.readCpuSeconds()
      if (used > limits.cpuSeconds) stop('cpu_limit')
      else schedule(used)
    }, pause)
  }
  schedule(0)
  return {
    stop() {
      clearTimeout(wall)
      clearTimeout(look)
    },
  }
}

/** Reads the evidence, strongest first. The exit status comes last: it is the program's own word. */
function judge(
  request: PhaseRequest,
  group: Cgroup,
  [stdout, stderr]: readonly [Capture, Capture],
  end: ChildEnd,
  reason: Reason | null,
  started: number,
): Phase {
  const { limits } = request
  const usage = {
    cpuSeconds: group.readCpuSeconds(),
    wallSeconds: (end.time - started) / 1000,
    memoryPeakBytes: group.readMemoryPeakBytes(),
  }
  const fell = group.readOutOfMemoryKills() > 0 || reason === 'memory_limit'
  if (end.exitStatus === null && reason === null && !fell) {
    const words = end.error?.message ?? stderr.bytes().toString('utf8').trim()
    throw new SandboxError(
      'bubblewrap.setup',
      words === '' ? 'the box ended without a word' : words,
    )
  }
  // 137 is SIGKILL: the program was killed with its box.
  const exitCode = end.exitStatus ?? 137
  const signal = nameSignal(exitCode)
  let ending: Ending = signal === null ? 'exited' : 'signaled'
  if (fell || request.ranOutOfMemory(exitCode, stderr.bytes())) ending = 'memory_limit'
  else if (reason !== null && reason !== 'aborted') ending = reason
  else if (usage.cpuSeconds > limits.cpuSeconds) ending = 'cpu_limit'
  else if (stdout.passed() || stderr.passed()) ending = 'output_limit'
  return {
    ending,
    exitCode,
    signal,
    stdout: stdout.bytes(),
    stderr: stderr.bytes(),
    stdoutTruncated: stdout.truncated(),
    stderrTruncated: stderr.truncated(),
    usage,
  }
}

/**
 * The signal behind a status of 128 + n. bubblewrap reports both by the shell's convention, so a program that exits
 * with, say, 139 by itself is told to have died of SIGSEGV, as a shell would tell it.
 */
export function nameSignal(exitCode: number): string | null {
  const number = exitCode - 128
  const found = Object.entries(constants.signals).find(([, value]) => value === number)
  return found?.[0] ?? null
}
