// The command line of a keeper and what it is started with. Apart from keeper-process.ts, so that a test can start a keeper
// and speak with it in its own way.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { dropTo, environment } from '#bubblewrap'
import type { KeeperGroup } from '#cgroup'
import type { Hello } from './message.ts'

/** What a keeper is started with. */
export interface KeeperLaunch extends Hello {
  readonly group: KeeperGroup
  /** Host uid of the slot; null: the worker's own. */
  readonly uid: number | null
  /** The keeper's program; or, with `interpreter`, the library that makes that one a keeper. */
  readonly program: string
  /** The interpreter's command line; null for a keeper that starts programs with exec. */
  readonly interpreter: readonly string[] | null
}

// As in child.ts, the process enters the cgroup before it becomes the keeper. The keeper must outlive a program that eats all
// memory. Its boxes raise their own score to 500; where the worker may lower one the keeper is never killed, as a dead box's
// files may still be charged.
const script = `
umask 022
unset PWD OLDPWD
ulimit -s unlimited 2>/dev/null || ulimit -s "$(ulimit -H -s)" || exit 125
{ echo -1000 >/proc/self/oom_score_adj; } 2>/dev/null || :
while [ "$1" != -- ]; do echo 0 >"$1" || exit 125; shift; done
shift
exec "$@"`

/** The keeper's end of the socket. */
export const socketDescriptor = 3

/** Starts the process; what it says, and how it ends, is the caller's to see to. */
export function spawnKeeper({ group, uid, program, interpreter }: KeeperLaunch): ChildProcess {
  const own = openSync(program, 'r')
  try {
    const descriptors = [...group.descriptors, own]
    const path = `/proc/self/fd/${socketDescriptor + descriptors.length}`
    const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`)
    const command =
      interpreter === null
        ? ['env', '-i', path]
        : ['env', '-i', ...variables, `LD_PRELOAD=${path}`, ...interpreter]
    return spawn(
      '/bin/sh',
      [
        ['-c', script, 'sh', ...group.entrances, '--'],
        uid === null ? [] : dropTo(uid),
        command,
      ].flat(),
      {
        cwd: '/',
        env: { PATH: '/usr/bin:/bin' },
        stdio: ['ignore', 'ignore', 'pipe', 'pipe', ...descriptors],
      },
    )
  } finally {
    closeSync(own)
  }
}
