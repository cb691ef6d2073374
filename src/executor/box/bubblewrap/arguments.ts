// Turns what a box needs into bubblewrap's arguments. Pure, so that a test can prove what reaches the command line.
// Every namespace is named: `--unshare-all` silently does without those it cannot have.
import { existsSync, lstatSync, readlinkSync, statSync } from 'node:fs'
import type { HostPath } from '#contract'

/** A host path that boxes show read-only, a link of theirs, or a path in /proc that is to be empty. */
export interface RootEntry {
  readonly kind: 'bind' | 'link' | 'cover'
  /** The host path; of a link, its text; of a cover, what it is: a `file` or a `directory`. */
  readonly source: string
  /** Where it is in the box. */
  readonly target: string
}

/** One box. */
export interface Box {
  /** Top of the file system: what every box shows. */
  readonly root: readonly RootEntry[]
  /** Further host paths to show read-only. */
  readonly paths: readonly HostPath[]
  /** Files of ours, by the descriptor bubblewrap reads them from. */
  readonly files: readonly {
    readonly descriptor: number
    readonly path: string
    readonly executable: boolean
  }[]
  /** Variables beside those that every program finds. */
  readonly environment?: Readonly<Record<string, string>>
  /** Size of /box, /tmp and /dev/shm each, in bytes. */
  readonly diskBytes: number
  readonly filterDescriptor: number
  readonly statusDescriptor: number
  readonly blockDescriptor: number
}

/** Uid and gid that a program sees as its own. */
export const boxUid = 1000

/** What a program finds as its environment. */
export const environment: Readonly<Record<string, string>> = {
  PATH: '/usr/bin:/bin',
  HOME: '/box',
  LANG: 'C.UTF-8',
  LC_ALL: 'C.UTF-8',
  PWD: '/box',
  // It would start a thread a core, more than a program may have on a large host.
  OPENBLAS_NUM_THREADS: '1',
}

/**
 * The box's first process, which has the program's uid. A program that reached its memory could make it lie about the
 * program's end; one that reached bubblewrap's pipes, which may still be open there, could hide that it has begun. A
 * program may not trace (seccomp/policy.ts), and this is the only proc file system that it can reach.
 */
const hidden = '/proc/1'

/**
 * What in /proc tells which host it is and how it is doing. One program could move such a figure and another read it, and so
 * they would talk across boxes. bubblewrap can only cover these by name, each for 0.15 ms. What never changes is left, and
 * what a kernel's module has put there, as it might go while the worker runs. A keeper's /proc has none of it (keeper/box.c).
 */
const hostRecords = [
  ['buddyinfo', 'cgroups', 'cpuinfo', 'diskstats', 'fs', 'interrupts', 'irq', 'key-users'],
  ['latency_stats', 'loadavg', 'locks', 'meminfo', 'pressure', 'sched_debug', 'schedstat'],
  ['softirqs', 'stat', 'swaps', 'sys', 'sysvipc', 'uptime', 'vmstat', 'zoneinfo'],
]
  .flat()
  .map((name) => `/proc/${name}`)

/**
 * What `--dev` would give, less devpts: the host counts all pseudo-terminals together, so that one box could use them up for
 * the others, or signal by the count.
 */
export const devices = [
  '/dev/null',
  '/dev/zero',
  '/dev/full',
  '/dev/random',
  '/dev/urandom',
  '/dev/tty',
] as const

/** Links in /dev: path and text. */
export const deviceLinks = [
  ['/dev/fd', '/proc/self/fd'],
  ['/dev/stdin', '/proc/self/fd/0'],
  ['/dev/stdout', '/proc/self/fd/1'],
  ['/dev/stderr', '/proc/self/fd/2'],
] as const

/** The options, to be passed by `--args`; the program's own command line is not among them. */
export function buildArguments(box: Box): string[] {
  const disk = String(box.diskBytes)
  return [
    ['--unshare-user', '--unshare-ipc', '--unshare-pid', '--unshare-net', '--unshare-uts'],
    ['--unshare-cgroup', '--disable-userns'],
    ['--die-with-parent', '--new-session', '--cap-drop', 'ALL'],
    ['--uid', String(boxUid), '--gid', String(boxUid), '--hostname', 'box', '--clearenv'],
    ...Object.entries({ ...environment, ...box.environment }).map(([name, value]) => [
      '--setenv',
      name,
      value,
    ]),
    ...box.root
      .filter(({ kind }) => kind !== 'cover')
      .map(({ kind, source, target }) => [
        kind === 'link' ? '--symlink' : '--ro-bind',
        source,
        target,
      ]),
    ...box.paths.map(({ source, target }) => ['--ro-bind', source, target]),
    ['--proc', '/proc', '--tmpfs', hidden, '--remount-ro', hidden],
    ...box.root
      .filter(({ kind }) => kind === 'cover')
      .map(({ source, target }) =>
        source === 'file'
          ? ['--ro-bind', '/dev/null', target]
          : ['--tmpfs', target, '--remount-ro', target],
      ),
    ['--tmpfs', '/dev', ...devices.flatMap((path) => ['--dev-bind', path, path])],
    ...deviceLinks.map(([path, target]) => ['--symlink', target, path]),
    ['--size', disk, '--perms', '1777', '--tmpfs', '/dev/shm'],
    ['--size', disk, '--perms', '1777', '--tmpfs', '/tmp'],
    ['--size', disk, '--perms', '0700', '--tmpfs', '/box'],
    ...box.files.flatMap(({ descriptor, path, executable }) => [
      ['--perms', executable ? '0555' : '0444'],
      ['--ro-bind-data', String(descriptor), path],
    ]),
    // A program needs nothing of what can be written in /proc; in a user namespace bubblewrap itself leaves it open.
    ['--remount-ro', '/proc', '--remount-ro', '/dev', '--remount-ro', '/', '--chdir', '/box'],
    ['--seccomp', String(box.filterDescriptor)],
    ['--json-status-fd', String(box.statusDescriptor)],
    ['--block-fd', String(box.blockDescriptor)],
  ].flat()
}

/**
 * The least of the host's file system in which programs start: executables, libraries, the linker's cache and the time
 * zones. /bin and its like are links on most systems and directories on a few.
 */
export function readHostRoot(): RootEntry[] {
  const shown = ['/usr/bin', '/usr/lib', '/usr/lib32', '/usr/lib64', '/usr/libx32']
  const optional = ['/usr/share/zoneinfo', '/etc/alternatives', '/etc/ld.so.cache']
  const top = ['/bin', '/lib', '/lib32', '/lib64', '/libx32']
  return [...shown, ...optional, ...top, ...hostRecords]
    .filter((path) => existsSync(path))
    .flatMap((target): RootEntry[] => {
      if (target.startsWith('/proc/')) return coverRecord(target)
      if (lstatSync(target).isSymbolicLink())
        return [{ kind: 'link', source: readlinkSync(target), target }]
      return [{ kind: 'bind', source: target, target }]
    })
}

/** What only root may read on the host nobody may in a box. */
function coverRecord(target: string): RootEntry[] {
  const status = statSync(target)
  if ((status.mode & 0o004) === 0) return []
  return [{ kind: 'cover', source: status.isDirectory() ? 'directory' : 'file', target }]
}
