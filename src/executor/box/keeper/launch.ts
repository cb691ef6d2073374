// Starts a keeper's process. This is a separate module so that tests can talk to a keeper directly.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import type { KeeperGroup } from '#cgroup'
import type { Network, PrestartedRuntime } from '#contract'
import { environment, stage } from './host-root.ts'
import type { Layout } from './host-root.ts'

/** How a keeper is started. */
export interface KeeperLaunch {
  readonly group: KeeperGroup
  /** Host uid of the slot; null for the worker's own. */
  readonly uid: number | null
  /** Path of the keeper's program; with `interpreter`, of the preloaded library. */
  readonly program: string
  /** The filter of the boxes, besides the keeper's, which they inherit. */
  readonly filter: Buffer
  readonly keeperFilter: Buffer
  readonly layout: Layout
  /** Command line of the interpreter from which programs are forked. Without it they start by exec. */
  readonly interpreter?: readonly string[]
  /** The runtime that starts before each program. Without it programs start by themselves. */
  readonly runtime?: PrestartedRuntime
  /** Joins the program's stdin and stdout to the keeper's, so that the worker can talk with it. The default is false. */
  readonly ownStreams?: boolean
  /** `loopback` gives each box a network of its own. The default is none. */
  readonly network?: Network
}

// Enters the cgroup first: if the keeper were moved later, a box would show its host path in /proc/self/cgroup. A keeper must
// outlive a program that uses all memory, so a program's process raises its score to 500. If the worker may lower scores, a
// keeper on v1 is never killed, because a dead box's files may still be charged to its group. On v2 it is killed only when it
// fills its own group alone.
const script = `
umask 022
unset PWD OLDPWD
ulimit -s unlimited 2>/dev/null || ulimit -s "$(ulimit -H -s)" || exit 125
{ echo "$1" >/proc/self/oom_score_adj; } 2>/dev/null || :
shift
while [ "$1" != -- ]; do echo 0 >"$1" || exit 125; shift; done
shift
exec "$@"`

// Mounts the hidden directories (Layout.hidden) for the keeper: as root, in the keeper's own mount namespace.
const stageScript = `
mount -t tmpfs -o mode=0755,size=64k runledger ${stage} || exit 125
n=0
while [ "$1" != -- ]; do
  mkdir "${stage}/$n" && mount --bind "$1" "${stage}/$n" || exit 125
  n=$((n + 1))
  shift
done
shift
exec "$@"`

/** The keeper's oom_score_adj: with -1000 it is never killed, with -999 last. */
const scores = { v1: '-1000', v2: '-999' } as const

export const socketDescriptor = 3

/** The caller must watch the process. */
export function spawnKeeper({
  group,
  uid,
  program,
  interpreter,
  layout: { hidden },
  ownStreams = false,
}: KeeperLaunch): ChildProcess {
  const own = openSync(program, 'r')
  const streams = ownStreams ? 'pipe' : 'ignore'
  try {
    const descriptors = [...group.descriptors, own]
    const path = `/proc/self/fd/${socketDescriptor + descriptors.length}`
    const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`)
    const command =
      interpreter === undefined
        ? ['env', '-i', path]
        : // LD_BIND_NOW resolves functions once instead of in each fork. python.c removes both variables.
          ['env', '-i', ...variables, 'LD_BIND_NOW=1', `LD_PRELOAD=${path}`, ...interpreter]
    return spawn(
      '/bin/sh',
      [
        ['-c', script, 'sh', scores[group.version], ...group.entrances, '--'],
        hidden.length === 0 ? [] : showHidden(hidden),
        uid === null ? [] : dropTo(uid),
        command,
      ].flat(),
      {
        cwd: '/',
        // A group of its own, because Ctrl-C in a terminal signals the worker's, and the worker lets runs finish.
        detached: true,
        env: { PATH: '/usr/bin:/bin' },
        stdio: [streams, streams, 'pipe', 'pipe', ...descriptors],
      },
    )
  } finally {
    closeSync(own)
  }
}

function showHidden(directories: readonly string[]): string[] {
  const enter = ['unshare', '--mount', '--propagation=private', '--']
  return [...enter, 'sh', '-c', stageScript, 'sh', ...directories, '--']
}

/**
 * Becomes the slot's user for good. Only CAP_SYS_ADMIN is kept, because Debian and Ubuntu can be configured to require it for
 * making a user namespace. It has no effect on the host any more when the keeper has entered its user namespace.
 */
function dropTo(uid: number): string[] {
  const kept = mayAdminister() ? '-all,+sys_admin' : '-all'
  return [
    ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', '--no-new-privs'],
    [`--inh-caps=${kept}`, `--ambient-caps=${kept}`, `--bounding-set=${kept}`],
  ].flat()
}

/** Whether the worker has CAP_SYS_ADMIN, which root in a container may lack. */
function mayAdminister(): boolean {
  const effective = /^CapEff:\t(.+)$/mu.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]
  return ((BigInt(`0x${effective ?? '0'}`) >> 21n) & 1n) === 1n
}
