// Starts one box and talks to bubblewrap; run-phase.ts judges.
import type { ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { findOwnLimits, SandboxError } from '#contract'
import type { Command } from '#contract'
import { blockDescriptor, spawnBox } from './spawn-box.ts'
import type { BoxSpawn } from './spawn-box.ts'
import type { Gate } from './standard-stream.ts'

export interface Launch extends Omit<BoxSpawn, 'launcher' | 'standard' | 'block'> {
  readonly command: Command
  /** Host uid of the slot; null: the worker's own. */
  readonly uid: number | null
  /** The cgroup's `cgroup.procs` files. */
  readonly entrances: readonly string[]
  /** The kernel kills a process beyond about twice this, should the worker be gone. */
  readonly cpuSeconds: number
  /** All that the box may have. */
  readonly processes: number
  /** stdin, stdout and stderr. */
  readonly standardDescriptors: readonly [number, number, number]
  /** bubblewrap waits here, and closes it before the program's first instruction. */
  readonly gate: Gate
}

export interface ChildEnd {
  /** The program's, 128 + n for signal n; null when it never started or bubblewrap was killed. */
  readonly exitStatus: number | null
  /** bubblewrap itself was killed. */
  readonly killed: boolean
  /** `performance.now()` when the end was seen. */
  readonly time: number
  readonly error: Error | null
}

export interface Child {
  /** Host pid of the box's first process; null when there was none. */
  readonly boxPid: Promise<number | null>
  /** Resolves when bubblewrap has ended, for whatever cause. */
  readonly exited: Promise<void>
  /** Resolves only when every process of the box is dead. */
  readonly ended: Promise<ChildEnd>
  /** Null while bubblewrap runs. */
  readEnd(): ChildEnd | null
  /** Resolves when the box's first process waits, or has ended. */
  waitUntilReady(boxPid: number): Promise<void>
  release(): void
  /** Kills bubblewrap itself, even before it is in its cgroup. */
  kill(): void
}

// Enters the cgroup before it becomes bubblewrap: moved later, a box would show its host path in /proc/self/cgroup.
// Without the score of 500 a box would inherit a worker's protection from the out-of-memory killer.
const script = `
umask 022
unset PWD OLDPWD
ulimit -c 0 && ulimit -n "$4" && ulimit -t "$1" && ulimit -f "$2" || exit 125
ulimit -l "$5" 2>/dev/null || ulimit -l "$(ulimit -H -l)" || exit 125
if [ "$3" = unlimited ]; then ulimit -s unlimited 2>/dev/null || ulimit -s "$(ulimit -H -s)" || exit 125; fi
echo 500 >/proc/self/oom_score_adj || exit 125
shift 5
while [ "$1" != -- ]; do echo 0 >"$1" || exit 125; shift; done
shift
exec "$@"`

/** The box waits before its program's first instruction. Never throws: the end tells what failed. */
export function startChild(launch: Launch): Child {
  const { command, uid, entrances, gate } = launch
  const { openFiles, lockedBytes } = findOwnLimits(launch.processes)
  const box = spawnBox({
    ...launch,
    launcher: [
      // In case the worker dies. Doubled, as the kernel's ticks may exceed the group's CPU time by a fifth.
      ['/bin/sh', '-c', script, 'sh', String(2 * Math.ceil(launch.cpuSeconds) + 1)],
      // In blocks of 512 bytes, one more than the disk holds, so that a full disk is ENOSPC and not SIGXFSZ.
      [String(Math.ceil(launch.diskBytes / 512) + 1)],
      [command.unlimitedStack ? 'unlimited' : 'usual'],
      [String(openFiles), String(lockedBytes / 1024)],
      [...entrances, '--'],
      uid === null ? [] : dropTo(uid),
      'bwrap',
    ].flat(),
    standard: launch.standardDescriptors,
    block: gate.childDescriptor,
  })
  const exit = watchExit(box.process)
  let seen: Omit<ChildEnd, 'exitStatus'> | null = null
  void exit.then((end) => (seen = end))
  return {
    boxPid: box.boxPid,
    exited: exit.then(() => box.closePipes()),
    ended: Promise.all([exit, box.exitStatus]).then(([end, exitStatus]) => ({
      ...end,
      exitStatus,
    })),
    readEnd: () => seen && { ...seen, exitStatus: box.readExitStatus() },
    waitUntilReady,
    release: () => gate.open(),
    kill: () => void box.process.kill('SIGKILL'),
  }
}

/** Becomes the slot's user for good: run by root, bubblewrap would keep root's rights over files. */
export function dropTo(uid: number): string[] {
  return [
    ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups'],
    ['--inh-caps=-all', '--ambient-caps=-all', '--bounding-set=-all', '--no-new-privs'],
  ].flat()
}

function watchExit(child: ChildProcess): Promise<Omit<ChildEnd, 'exitStatus'>> {
  return new Promise((resolve) => {
    child.once('error', (error) => {
      // Failed kills come here too; only failed starts leave no pid.
      if (child.pid === undefined) resolve({ killed: false, time: performance.now(), error })
    })
    child.once('exit', (_, signal) => {
      resolve({ killed: signal !== null, time: performance.now(), error: null })
    })
  })
}

/** read(2) on x86-64 and arm64, as in /proc/PID/syscall: number, then arguments. */
const waiting = new RegExp(`^(?:0|63) 0x${blockDescriptor.toString(16)} `)

/**
 * bubblewrap tells the pid before it builds the box, which is not the program's time. So this waits until the first
 * process is in read(2) on the block descriptor. Where the kernel hides that, the program is charged some 3 ms more.
 * @throws {SandboxError} step `bubblewrap.setup` after 30 seconds.
 */
async function waitUntilReady(boxPid: number): Promise<void> {
  const deadline = performance.now() + 30_000
  for (;;) {
    let call: string
    try {
      call = readFileSync(`/proc/${boxPid}/syscall`, 'utf8')
    } catch {
      return
    }
    if (waiting.test(call)) return
    if (performance.now() > deadline) {
      throw new SandboxError('bubblewrap.setup', 'the box was not ready after 30 seconds')
    }
    await delay(1)
  }
}
