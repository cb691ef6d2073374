// Starts one box and speaks with bubblewrap: the child's pid, the wait before the program's first instruction, the end.
// Apart from run-phase.ts, which decides what all of it means.
import type { ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { Command } from '#contract'
import { SandboxError } from '#contract'
import { blockDescriptor, spawnBox } from './spawn-box.ts'
import type { BoxSpawn } from './spawn-box.ts'
import type { Gate } from './standard-stream.ts'

/** What a box is started with. */
export interface Launch extends Omit<BoxSpawn, 'launcher' | 'standard' | 'block'> {
  readonly command: Command
  /** Host uid of the slot; null: the worker's own. */
  readonly uid: number | null
  /** The cgroup's `cgroup.procs` files. */
  readonly entrances: readonly string[]
  /** A process that uses more is killed by the kernel, should the worker not be there to do it. */
  readonly cpuSeconds: number
  /** Descriptors of stdin, stdout and stderr. */
  readonly standardDescriptors: readonly [number, number, number]
  /** What the box waits at; bubblewrap closes it before the program's first instruction. */
  readonly gate: Gate
}

/** How bubblewrap ended. */
export interface ChildEnd {
  /** The program's exit status, 128 + n for signal n; null when the program never started or bubblewrap was killed. */
  readonly exitStatus: number | null
  /** True when bubblewrap itself was killed. */
  readonly killed: boolean
  /** `performance.now()` when the end was seen. */
  readonly time: number
  readonly error: Error | null
}

export interface Child {
  /** Host pid of the box's first process; null when bubblewrap ended before there was one. */
  readonly boxPid: Promise<number | null>
  /** Resolves when bubblewrap has ended: with the main process, by a kill, or before either. */
  readonly exited: Promise<void>
  /** How it ended; needs every process of the box to be dead. */
  readonly ended: Promise<ChildEnd>
  /** The same as far as it is known now; null while bubblewrap itself has not ended. */
  readEnd(): ChildEnd | null
  /** Resolves when the box stands and its first process waits to be let go, or has ended. */
  waitUntilReady(boxPid: number): Promise<void>
  /** Lets the program run. */
  release(): void
  /** Kills bubblewrap itself, for a box that never entered its cgroup. */
  kill(): void
}

// Lowers its own limits and enters the cgroup, then becomes bubblewrap, which is so born inside: moved later, it would show
// its host path in /proc/self/cgroup. 500: a worker that the out-of-memory killer must spare would hand that on otherwise.
const script = `
umask 022
unset PWD OLDPWD
ulimit -c 0 && ulimit -n 1024 && ulimit -t "$1" && ulimit -f "$2" || exit 125
if [ "$3" = unlimited ]; then ulimit -s unlimited 2>/dev/null || ulimit -s "$(ulimit -H -s)" || exit 125; fi
echo 500 >/proc/self/oom_score_adj || exit 125
shift 3
while [ "$1" != -- ]; do echo 0 >"$1" || exit 125; shift; done
shift
exec "$@"`

/** Starts a box that waits before its program's first instruction. Never throws: the end tells what failed. */
export function startChild(launch: Launch): Child {
  const { command, uid, entrances, gate } = launch
  const box = spawnBox({
    ...launch,
    launcher: [
      // A second line of defence: by ticks, which may be a fifth more than what the group is billed for.
      ['/bin/sh', '-c', script, 'sh', String(2 * Math.ceil(launch.cpuSeconds) + 1)],
      // In blocks of 512 bytes, and one more than the scratch disk holds, so that a full disk is ENOSPC and no signal.
      [String(Math.ceil(launch.diskBytes / 512) + 1)],
      [command.unlimitedStack ? 'unlimited' : 'usual'],
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

/** Becomes a slot's user for good, and runs what follows. bubblewrap that root runs would keep root's rights over files. */
export function dropTo(uid: number): string[] {
  return [
    ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups'],
    ['--inh-caps=-all', '--ambient-caps=-all', '--bounding-set=-all', '--no-new-privs'],
  ].flat()
}

function watchExit(child: ChildProcess): Promise<Omit<ChildEnd, 'exitStatus'>> {
  return new Promise((resolve) => {
    child.once('error', (error) => {
      // A failed kill is reported here too; only a failed start leaves no pid.
      if (child.pid === undefined) resolve({ killed: false, time: performance.now(), error })
    })
    child.once('exit', (_, signal) => {
      resolve({ killed: signal !== null, time: performance.now(), error: null })
    })
  })
}

/** read(2) on x86-64 and on arm64, in the notation of /proc/PID/syscall: number, then arguments. */
const waiting = new RegExp(`^(?:0|63) 0x${blockDescriptor.toString(16)} `)

/**
 * bubblewrap tells the pid before it has built the box, and what it uses to build it is not the program's. So we wait until
 * its first process is in read(2) on the block descriptor. Where the kernel does not show this, the program is charged some
 * 3 ms more.
 * @throws {SandboxError} step `bubblewrap.setup` when the box does not stand after 30 seconds.
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
