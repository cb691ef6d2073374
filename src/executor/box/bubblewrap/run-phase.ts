// Runs one command once, the portable way: a fresh cgroup, a box that waits in it, the clocks, the end, the evidence, nothing left.
// The order of the steps is the point of this file: limits are in force and verified before the first instruction, and
// figures are read after the last process is dead.
import { closeSync, readFileSync } from 'node:fs'
import { resolve as resolvePath } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, judgeEnding, nameSignal, roundSeconds, SandboxError } from '#contract'
import type { Cgroup, CgroupParent } from '#cgroup'
import type { Command, Evidence, Phase, PhaseRequest, Reason } from '#contract'
import type { RootEntry } from './arguments.ts'
import { captureOutput } from './capture.ts'
import type { Capture } from './capture.ts'
import { startChild } from './child.ts'
import type { Child, ChildEnd } from './child.ts'
import type { Gate, OutputPipe, StandardStreams } from './standard-stream.ts'
import { watchLimits } from './limit-watch.ts'

/** What every phase of an executor shares. */
export interface BoxResources {
  readonly cgroups: CgroupParent
  readonly streams: StandardStreams
  readonly filter: Buffer
  readonly root: readonly RootEntry[]
  readonly inherited: readonly number[]
  readonly emptyDescriptor: number
}

/** bubblewrap's monitor and the box's first process. */
const ownProcesses = 2

/** A box that a kill has not ended after so long is left to be cleared away later; its verdict stands. */
const killMilliseconds = 5000

/**
 * Runs the command in a box of bubblewrap's. When it settles, no process of the phase lives and its cgroup is gone, or
 * `onLeft` was called.
 * @param uid of the slot; null: the worker's own.
 * @param onLeft is told when something is left; the promise resolves when that is gone, and rejects when it stays.
 * @throws {SandboxError} when we failed; the signal's reason when it was aborted.
 */
export async function runPhase(
  resources: BoxResources,
  uid: number | null,
  request: PhaseRequest,
  signal?: AbortSignal,
  onLeft: (cleared: Promise<void>) => void = () => {},
): Promise<Phase> {
  signal?.throwIfAborted()
  const group = await resources.cgroups.create(request.name, {
    memoryBytes: request.limits.memoryBytes,
    processes: request.limits.processes + ownProcesses,
  })
  let outlives = false
  try {
    const run = await runInGroup(resources, uid, request, group, signal)
    outlives = run.outlives
    return run.phase
  } finally {
    const cleared = clear(group)
    cleared.catch(() => {})
    if (outlives) onLeft(cleared)
    else await cleared.catch(() => onLeft(cleared))
  }
}

async function clear(group: Cgroup): Promise<void> {
  await group.empty()
  await group.remove()
}

async function runInGroup(
  resources: BoxResources,
  uid: number | null,
  request: PhaseRequest,
  group: Cgroup,
  signal: AbortSignal | undefined,
): Promise<{ readonly phase: Phase; readonly outlives: boolean }> {
  const { limits } = request
  let reason: Reason | null = null
  let over = false
  let outlives = false
  const overdue = Promise.withResolvers<void>()
  let patience: NodeJS.Timeout | undefined
  const stop = (why: Reason): void => {
    if (over || reason !== null) return
    reason = why
    patience = setTimeout(overdue.resolve, killMilliseconds)
    // First the process that may still be on its way into the cgroup, then all that it has started: they are inside.
    child.kill()
    try {
      group.kill()
    } catch {
      // bubblewrap's death ends the box too; emptying the cgroup below tries again and reports what fails.
    }
  }
  const pipes = await openPipes(resources.streams)
  const { stdout, stderr } = pipes
  const passOutput = (): void => stop('output_limit')
  const stderrKept = request.stderrKeptBytes ?? limits.stderrBytes
  const captured: [Capture, Capture] = [
    captureOutput(stdout.stream, limits.stdoutBytes, limits.stdoutBytes, passOutput),
    captureOutput(stderr.stream, stderrKept, limits.stderrBytes, passOutput),
  ]
  const child = start(resources, uid, request, group, pipes)

  let watch: { stop(): void } | null = null
  const abort = (): void => stop('aborted')
  signal?.addEventListener('abort', abort)
  try {
    if (signal?.aborted === true) abort()
    const boxPid = await child.boxPid
    let started = performance.now()
    if (boxPid !== null && reason === null) {
      if (!group.holds(boxPid)) await refuseOutside(child, boxPid)
      await child.waitUntilReady(boxPid)
      group.startMeasuring()
      started = performance.now()
      watch = watchLimits(group, limits, started, stop)
      child.release()
    }
    await Promise.race([child.exited, overdue.promise])
    over = true
    outlives = !(await empties(group)) || child.readEnd() === null
    if (!outlives) await Promise.all([child.ended, ...captured.map(({ ended }) => ended)])
    const end = child.readEnd() ?? outlived()
    if (reason === 'aborted') signal?.throwIfAborted()
    if (reason === 'unwatched') {
      throw new SandboxError('cgroup.read', 'the counters of a running box could not be read')
    }
    const evidence = gather(request.command, group, captured, end, reason, started)
    return { phase: judgeEnding(request, evidence), outlives }
  } finally {
    over = true
    clearTimeout(patience)
    watch?.stop()
    signal?.removeEventListener('abort', abort)
    child.kill()
    outlives ||= !(await empties(group))
    closePipes(pipes)
    if (!outlives) await child.ended
  }
}

/** False when a kill has not ended what is in it; whoever clears the group away hears why. */
async function empties(group: Cgroup): Promise<boolean> {
  try {
    await group.empty()
    return true
  } catch {
    return false
  }
}

/** What is told of a bubblewrap that a kill has not ended. */
function outlived(): ChildEnd {
  return { exitStatus: null, killed: true, time: performance.now(), error: null }
}

/** @throws {SandboxError} step `bubblewrap.setup` when the box ended before its program began, unless by the program's fault. */
function gather(
  command: Command,
  group: Cgroup,
  [stdout, stderr]: readonly [Capture, Capture],
  end: ChildEnd,
  reason: Evidence['reason'],
  started: number,
): Evidence {
  const usage = {
    cpuSeconds: roundSeconds(group.readCpuSeconds()),
    wallSeconds: roundSeconds((end.time - started) / 1000),
    memoryPeakBytes: group.readMemoryPeakBytes(),
  }
  const outOfMemoryKills = group.readOutOfMemoryKills()
  const code = end.exitStatus
  if (code === null && reason === null && outOfMemoryKills === 0) {
    const words = end.error?.message ?? stderr.captured().bytes.toString('utf8').trim()
    const refusal = end.killed ? null : readRefusal(command, words)
    if (refusal !== null) {
      const told = { bytes: refusal.words, truncated: false, passed: false }
      const exit = { code: refusal.code, signal: null }
      return { reason, outOfMemoryKills, usage, stdout: stdout.captured(), stderr: told, exit }
    }
    throw new SandboxError(
      'bubblewrap.setup',
      words === '' ? 'the box ended without a word' : words,
    )
  }
  return {
    reason,
    outOfMemoryKills,
    usage,
    stdout: stdout.captured(),
    stderr: stderr.captured(),
    exit: code === null ? null : { code, signal: nameSignal(code) },
  }
}

/**
 * What the submission was compiled to may be nothing that can be started, such as a binary that asks for a linker that is
 * not there. That is its own end, as a shell would tell it; a toolchain that cannot be started is our failure. (What has no
 * form that the kernel knows never comes here: bubblewrap has a shell read it, as execvp does, and the end is the shell's.)
 * @param words all that was said on stderr: nothing of the program has run, so they are bubblewrap's own.
 * @returns the status and the program's stderr, or null when something else failed.
 */
function readRefusal(
  { argv: [program = ''], files }: Command,
  words: string,
): { readonly code: number; readonly words: Buffer } | null {
  const isItsOwn = files.some(({ path }) => path === resolvePath('/box', program))
  const prefix = `bwrap: execvp ${program}: `
  if (!isItsOwn || !words.startsWith(prefix)) return null
  const why = words.slice(prefix.length)
  const code = why === 'No such file or directory' ? 127 : 126
  return { code, words: Buffer.from(`${program}: ${why}\n`) }
}

/**
 * The box ended by itself between telling its pid and our look, or it is not where it must be. Then its cgroup cannot
 * end it: it is killed by pid, which is safe, as it is still waiting for us.
 */
export async function refuseOutside(child: Child, boxPid: number): Promise<void> {
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

/** False for a zombie too: it holds nothing any more. */
function isAlive(pid: number): boolean {
  try {
    return !/^State:\t[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

/** Starts the box and gives it its descriptors; ours of them are closed, whatever happens. */
function start(
  resources: BoxResources,
  uid: number | null,
  request: PhaseRequest,
  group: Cgroup,
  pipes: Pipes,
): Child {
  const { stdout, stderr, gate } = pipes
  const given = [stdout, stderr, gate].map(({ childDescriptor }) => childDescriptor)
  try {
    const stdin = resources.streams.openInput(request.stdin)
    given.push(stdin)
    return startChild({
      command: request.command,
      root: resources.root,
      paths: request.paths,
      diskBytes: request.limits.diskBytes,
      filter: resources.filter,
      inherited: resources.inherited,
      emptyDescriptor: resources.emptyDescriptor,
      uid,
      entrances: group.entrances,
      cpuSeconds: request.limits.cpuSeconds,
      standardDescriptors: [stdin, stdout.childDescriptor, stderr.childDescriptor],
      gate,
    })
  } catch (cause) {
    closePipes(pipes)
    throw new SandboxError('bubblewrap.spawn', describe(cause), cause)
  } finally {
    for (const descriptor of given) closeSync(descriptor)
  }
}

interface Pipes {
  readonly stdout: OutputPipe
  readonly stderr: OutputPipe
  readonly gate: Gate
}

function closePipes({ stdout, stderr, gate }: Pipes): void {
  stdout.stream.destroy()
  stderr.stream.destroy()
  gate.close()
}

async function openPipes(streams: StandardStreams): Promise<Pipes> {
  const opened: OutputPipe[] = []
  try {
    const stdout = await streams.openOutput()
    opened.push(stdout)
    const stderr = await streams.openOutput()
    opened.push(stderr)
    return { stdout, stderr, gate: await streams.openGate() }
  } catch (cause) {
    for (const { childDescriptor, stream } of opened) {
      closeSync(childDescriptor)
      stream.destroy()
    }
    if (cause instanceof SandboxError) throw cause
    throw new SandboxError('pipe.open', describe(cause), cause)
  }
}
