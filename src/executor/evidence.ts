// Decides from the evidence how a phase ended.
// Its own file because the order of the evidence is the promise that verdicts rest on.
import { constants } from 'node:os'
import type { Capture } from './capture.ts'
import type { Cgroup } from './cgroup.ts'
import type { ChildEnd } from './child.ts'
import { SandboxError } from './outcome.ts'
import type { Ending, Phase } from './outcome.ts'
import type { PhaseRequest } from './phase.ts'
import type { Reason } from './watch.ts'

/** Reads the evidence, strongest first. The exit status comes last: it is the program's own word. */
export function judge(
  request: PhaseRequest,
  group: Cgroup,
  [stdout, stderr]: readonly [Capture, Capture],
  end: ChildEnd,
  reason: Exclude<Reason, 'aborted' | 'unwatched'> | null,
  started: number,
): Phase {
  const { limits } = request
  const usage = {
    cpuSeconds: roundSeconds(group.readCpuSeconds()),
    wallSeconds: roundSeconds((end.time - started) / 1000),
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
  else if (reason !== null) ending = reason
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

/** To microseconds: what the clocks tell; the rest is only the noise of binary fractions. */
function roundSeconds(seconds: number): number {
  return Math.round(seconds * 1e6) / 1e6
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
