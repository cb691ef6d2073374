// Builds bubblewrap's arguments. Pure, for tests. Names every namespace: `--unshare-all` silently skips some.
import { existsSync, lstatSync, readlinkSync, statSync } from 'node:fs'
import type { HostPath } from '#contract'

/** A host path shown read-only, a link, or a path in /proc that is covered. */
export interface RootEntry {
  readonly kind: 'bind' | 'link' | 'cover'
  /** The host path; a link's text; for a cover, `file` or `directory`. */
  readonly source: string
  readonly target: string
}

export interface Box {
  readonly root: readonly RootEntry[]
  /** Further host paths, read-only. */
  readonly paths: readonly HostPath[]
  /** Our files, with the descriptors that bubblewrap reads them from. */
  readonly files: readonly {
    readonly descriptor: number
    readonly path: string
    readonly executable: boolean
  }[]
  /** Variables beside `environment`. */
  readonly environment?: Readonly<Record<string, string>>
  /** Bytes of /box, /tmp and /dev/shm each. */
  readonly diskBytes: number
  readonly filterDescriptor: number
  readonly statusDescriptor: number
  readonly blockDescriptor: number
}

/** Uid and gid inside. */
export const boxUid = 1000

export const environment: Readonly<Record<string, string>> = {
  PATH: '/usr/bin:/bin',
  HOME: '/box',
  LANG: 'C.UTF-8',
  LC_ALL: 'C.UTF-8',
  PWD: '/box',
  // By default a thread per core: on a large host more than a program may have.
  OPENBLAS_NUM_THREADS: '1',
}

/**
 * The box's first process, with the program's uid. Through its memory a program could forge its exit status; through
 * bubblewrap's pipes, perhaps still open, hide that it began. Programs may not trace (seccomp/policy.ts) and reach no
 * other proc file system.
 */
const hidden = '/proc/1'

/**
 * Files in /proc that tell which host this is, or by which programs in two boxes could talk. bubblewrap covers each by
 * name, for 0.15 ms. Constants stay, and kernel modules' files, which might go meanwhile. A keeper's /proc has none of
 * it (keeper/box.c).
 */
const hostRecords = [
  ['buddyinfo', 'cgroups', 'cpuinfo', 'diskstats', 'fs', 'interrupts', 'irq', 'key-users'],
  ['latency_stats', 'loadavg', 'locks', 'meminfo', 'pressure', 'sched_debug', 'schedstat'],
  ['softirqs', 'stat', 'swaps', 'sys', 'sysvipc', 'uptime', 'vmstat', 'zoneinfo'],
]
  .flat()
  .map((name) => `/proc/${name}`)

/**
 * `--dev` without devpts: the host counts all pseudo-terminals together, so a box could use them up or signal by the
 * count.
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

/** The options for `--args`, without the program's command line. */
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
    // bubblewrap leaves it writable in a user namespace; no program needs that.
    ['--remount-ro', '/proc', '--remount-ro', '/dev', '--remount-ro', '/', '--chdir', '/box'],
    ['--seccomp', String(box.filterDescriptor)],
    ['--json-status-fd', String(box.statusDescriptor)],
    ['--block-fd', String(box.blockDescriptor)],
  ].flat()
}

/**
 * The least that programs need: executables, libraries, the linker's cache, time zones. /bin and its like may be links
 * or directories.
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

/** Files that only root may read need no cover. */
function coverRecord(target: string): RootEntry[] {
  const status = statSync(target)
  if ((status.mode & 0o004) === 0) return []
  return [{ kind: 'cover', source: status.isDirectory() ? 'directory' : 'file', target }]
}
