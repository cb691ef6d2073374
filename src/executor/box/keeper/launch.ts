// A keeper's command line and start; apart so that tests can talk to a keeper directly.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import type { KeeperGroup } from '#cgroup'
import type { Network, PrestartedRuntime } from '#contract'
import { environment, stage } from './host-root.ts'
import type { Layout } from './host-root.ts'

/** What one keeper is started with. */
export interface KeeperLaunch {
  readonly group: KeeperGroup
  /** Host uid of the slot; null: the worker's own. */
  readonly uid: number | null
  /** The keeper's program; with `interpreter`, the preloaded library. */
  readonly program: string
  /** The boxes'. */
  readonly filter: Buffer
  readonly keeperFilter: Buffer
  readonly layout: Layout
  /** Command line of what programs are forked from; without it they start by exec. */
  readonly interpreter?: readonly string[]
  /** Started before each program; without it programs start by themselves. */
  readonly runtime?: PrestartedRuntime
  /** Its program's stdin and stdout are the keeper's own, for a program that is spoken with; false unless said. */
  readonly ownStreams?: boolean
  /** `loopback`: each box has one of its own; none unless said. */
  readonly network?: Network
}

// Enters the cgroup first: moved later, a box would show its host path in /proc/self/cgroup. A keeper must outlive a program that
// eats all memory: a program's process raises its score to 500. Where the worker may lower scores a keeper on v1 is never killed,
// as a dead box's files may still be charged to its group; on v2 it is when it alone fills its own.
const script = `
umask 022
unset PWD OLDPWD
ulimit -s unlimited 2>/dev/null || ulimit -s "$(ulimit -H -s)" || exit 125
{ echo "$1" >/proc/self/oom_score_adj; } 2>/dev/null || :
shift
while [ "$1" != -- ]; do echo 0 >"$1" || exit 125; shift; done
shift
exec "$@"`

// As root, in a mount namespace of the keeper's own: what its user could not reach.
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

/** For the out-of-memory killer: the last, or none. */
const scores = { v1: '-1000', v2: '-999' } as const

export const socketDescriptor = 3

/** The caller watches the process. */
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
        : // What the interpreter calls is looked for once, and not in each fork (python.c forgets both).
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
 * Becomes the slot's user for good. What may be kept until the keeper enters its user namespace, where it counts no more, is
 * CAP_SYS_ADMIN: Debian and Ubuntu can be told to let no process without it make one.
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
