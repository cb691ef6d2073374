// Runs one command in bubblewrap's box. Order counts: limits hold before the first instruction, and figures are read
// after the last process is dead.
import { closeSync } from 'node:fs'
import { resolve as resolvePath } from 'node:path'
import type { Cgroup } from '#cgroup'
import { judgeEnding, nameSignal, requireStartable, roundSeconds, SandboxError } from '#contract'
import type { Command, Evidence, OutputSource, Phase, PhaseRequest, Reason, Usage } from '#contract'
import { environment } from './arguments.ts'
import { captureOutput } from './capture.ts'
import type { Capture } from './capture.ts'
import type { ChildEnd } from './child.ts'
import { watchLimits } from './limit-watch.ts'
import { awaitBox, openBox, ownProcesses } from './open-box.ts'
import type { BoxResources, OpenBox } from './open-box.ts'
import { openWorkDirectory, readOutputFiles } from './output-file.ts'

const nothingUsed: Usage = { cpuSeconds: 0, wallSeconds: 0, memoryPeakBytes: 0 }

const refusalPrefix = Buffer.from('bwrap: ')

/** After this a box that outlives its kill is cleared later; its verdict stands. */
const killMilliseconds = 5000

/**
 * When it settles, the phase's processes and cgroup are gone, or `onLeft` was called.
 * @param uid of the slot; null: the worker's own.
 * @param onLeft gets a promise that resolves when the rest is gone, and rejects when it stays.
 * @throws {SandboxError} when we failed; the signal's reason when aborted.
 */
export async function runPhase(
  resources: BoxResources,
  uid: number | null,
  request: PhaseRequest,
  signal?: AbortSignal,
  onLeft: (cleared: Promise<void>) => void = () => {},
): Promise<Phase> {
  signal?.throwIfAborted()
  requireStartable(request, environment)
  const group = await resources.cgroups.create(request.name, {
    memoryBytes: request.limits.memoryBytes,
    processes: request.limits.processes + ownProcesses,
    cores: request.cores,
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
  const { command, paths, limits } = request
  const { diskBytes, cpuSeconds, processes } = limits
  const openStdin = (): number => resources.streams.openInput(request.stdin)
  const contents = { uid, command, paths, diskBytes, cpuSeconds, processes, openStdin }
  const box = await openBox(resources, group, contents)
  const { child } = box
  const killer = createKiller(box, group)
  const captured = captureBoth(box, request, () => killer.stop('output_limit'))
  let outlives = false
  let watch: { stop(): void } | null = null
  let directory: number | null = null
  const abort = (): void => killer.stop('aborted')
  const cancel = (): void => killer.stop('cancelled')
  signal?.addEventListener('abort', abort)
  request.stop?.addEventListener('abort', cancel)
  try {
    if (signal?.aborted === true) abort()
    if (request.stop?.aborted === true) cancel()
    let started = performance.now()
    let hasBegun = false
    const isOver = (): boolean => killer.reason() !== null
    const boxPid = await awaitBox(child, group, isOver)
    if (boxPid !== null && !isOver()) {
      if (request.outputFiles !== undefined) directory = openWorkDirectory(boxPid)
      group.startMeasuring()
      started = performance.now()
      hasBegun = true
      request.tap?.open(openSource(captured))
      watch = watchLimits(group, limits, started, killer.stop)
      child.release()
    }
    await Promise.race([child.exited, killer.overdue])
    killer.close()
    outlives = !(await empties(group)) || child.readEnd() === null
    if (!outlives) await Promise.all([child.ended, ...captured.map(({ ended }) => ended)])
    const end = child.readEnd() ?? outlived()
    const reason = killer.reason()
    if (reason === 'aborted') signal?.throwIfAborted()
    if (reason === 'unwatched') {
      throw new SandboxError('cgroup.read', 'the counters of a running box could not be read')
    }
    const judged = reason === 'aborted' ? null : reason
    const evidence = gather(command, group, captured, end, judged, started)
    // What set-up used is not the program's.
    const usage = reason === 'cancelled' && !hasBegun ? nothingUsed : evidence.usage
    const left = directory === null || outlives ? [] : readOutputFiles(directory, request.outputFiles ?? []) // prettier-ignore
    const outputFiles = request.outputFiles && { outputFiles: left }
    return { phase: judgeEnding(request, { ...evidence, usage, ...outputFiles }), outlives }
  } finally {
    killer.close()
    watch?.stop()
    if (directory !== null) closeSync(directory)
    request.tap?.close()
    signal?.removeEventListener('abort', abort)
    request.stop?.removeEventListener('abort', cancel)
    child.kill()
    outlives ||= !(await empties(group))
    box.close()
    if (!outlives) await child.ended
  }
}

interface Killer {
  /** Only the first reason counts. */
  readonly stop: (why: Reason) => void
  readonly reason: () => Reason | null
  /** Resolves when a kill has not ended the box in time. */
  readonly overdue: Promise<void>
  /** The run is over: later kills do nothing. */
  readonly close: () => void
}

function createKiller({ child }: OpenBox, group: Cgroup): Killer {
  const overdue = Promise.withResolvers<void>()
  let reason: Reason | null = null
  let over = false
  let patience: NodeJS.Timeout | undefined
  return {
    stop(why) {
      if (over || reason !== null) return
      reason = why
      patience = setTimeout(overdue.resolve, killMilliseconds)
      // First the process that may be outside the cgroup still.
      child.kill()
      try {
        group.kill()
      } catch {
        // bubblewrap's death ends the box too; group.empty() tries again and reports.
      }
    },
    reason: () => reason,
    overdue: overdue.promise,
    close() {
      over = true
      clearTimeout(patience)
    },
  }
}

function captureBoth(
  { stdout, stderr }: OpenBox,
  { limits, stderrKeptBytes = limits.stderrBytes, tap }: PhaseRequest,
  onPass: () => void,
): [Capture, Capture] {
  const { stdoutBytes, stderrBytes } = limits
  return [
    captureOutput(stdout, stdoutBytes, stdoutBytes, onPass, tap?.note),
    captureOutput(stderr, stderrKeptBytes, stderrBytes, onPass, tap?.note),
  ]
}

function openSource([stdout, stderr]: readonly [Capture, Capture]): OutputSource {
  // What bubblewrap may say there before the program begins is told in other words (readRefusal).
  const isForeign = (): boolean => stderr.read(0, refusalPrefix.length).equals(refusalPrefix)
  return {
    read(output, from, most) {
      if (output === 'stdout') return stdout.read(from, most)
      return isForeign() ? Buffer.alloc(0) : stderr.read(from, most)
    },
    follow() {},
  }
}

/** False when a kill failed; clearing the group reports why. */
async function empties(group: Cgroup): Promise<boolean> {
  try {
    await group.empty()
    return true
  } catch {
    return false
  }
}

function outlived(): ChildEnd {
  return { exitStatus: null, killed: true, time: performance.now(), error: null }
}

/**
 * @throws {SandboxError} when the program did not begin, unless by its own fault: step `bubblewrap.setup`, or `bubblewrap.gone` when
 * something outside killed the box.
 */
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
      end.killed ? 'bubblewrap.gone' : 'bubblewrap.setup',
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
 * A submission may compile to a binary that cannot start, say without its linker: it then ends as in a shell. A
 * toolchain that cannot start is our failure. Files of no known format never come here, as bubblewrap gives them to a
 * shell like execvp.
 * @param words all of stderr, which is bubblewrap's own here.
 * @returns the status and the program's stderr; null when something else failed.
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
