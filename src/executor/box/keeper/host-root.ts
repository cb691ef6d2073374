// The paths of the host that a box shows, and the environment variables of every program.
import { existsSync, lstatSync, readlinkSync, realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { HostPath } from '#contract'

/** A host path that is shown read-only, or a link. */
interface RootEntry {
  readonly kind: 'bind' | 'link'
  /** The host path, or the link's text. */
  readonly source: string
  readonly target: string
}

/** The root file system of a keeper's boxes. */
export interface Layout {
  /** In the format of build_root (root.c). */
  readonly bytes: Buffer
  /**
   * Directories that a slot's user cannot reach, such as those below a home directory that others may not enter. The worker
   * mounts the n-th one for the keeper as `n` below `stage`.
   */
  readonly hidden: readonly string[]
}

/** Directory of the hidden directories' mounts, in the keeper's mount namespace. */
export const stage = '/mnt'

/** Uid and gid inside a box. */
export const boxUid = 1000

export const environment: Readonly<Record<string, string>> = {
  PATH: '/usr/bin:/bin',
  HOME: '/box',
  USER: 'runner',
  LOGNAME: 'runner',
  LANG: 'C.UTF-8',
  LC_ALL: 'C.UTF-8',
  PWD: '/box',
  // By default OpenBLAS starts a thread per core. On a large host these are more than a program may have.
  OPENBLAS_NUM_THREADS: '1',
}

/**
 * The devices of a box. There is no devpts: the host counts all pseudo-terminals together, so a box could use them up or signal
 * by the count.
 */
const devices = ['null', 'zero', 'full', 'random', 'urandom', 'tty'].map((name) => `/dev/${name}`)

/** Links, and the files in which programs look up users and hosts. They name one user, and none of the host's. */
const ownEntries = [
  ['link', '/proc/self/fd', '/dev/fd'],
  ['link', '/proc/self/fd/0', '/dev/stdin'],
  ['link', '/proc/self/fd/1', '/dev/stdout'],
  ['link', '/proc/self/fd/2', '/dev/stderr'],
  ['file', `runner:x:${boxUid}:${boxUid}:runner:/box:/bin/sh\n`, '/etc/passwd'],
  ['file', `runner:x:${boxUid}:\n`, '/etc/group'],
  ['file', 'passwd: files\ngroup: files\nhosts: files\n', '/etc/nsswitch.conf'],
  ['file', '127.0.0.1 localhost\n::1 localhost\n127.0.1.1 box\n', '/etc/hosts'],
] as const

/**
 * Lists the least that programs need of the host: executables, libraries, the linker's cache, time zones. /bin, /lib and the
 * like may be links or directories.
 */
function readHostRoot(): RootEntry[] {
  const shown = ['/usr/bin', '/usr/lib', '/usr/lib32', '/usr/lib64', '/usr/libx32']
  const optional = ['/usr/share/zoneinfo', '/etc/alternatives', '/etc/ld.so.cache']
  const top = ['/bin', '/lib', '/lib32', '/lib64', '/libx32']
  return [...shown, ...optional, ...top]
    .filter((path) => existsSync(path))
    .map((target): RootEntry =>
      lstatSync(target).isSymbolicLink()
        ? { kind: 'link', source: readlinkSync(target), target }
        : { kind: 'bind', source: target, target },
    )
}

/** @param paths that languages need in addition to `readHostRoot`. */
export function encodeLayout(paths: readonly HostPath[] = []): Layout {
  const root = readHostRoot()
  const hidden: string[] = []
  const reach = ({ kind, source, target }: RootEntry): string[] => {
    if (kind === 'link' || isReachable(source)) return [kind, source, target]
    const isDirectory = statSync(source).isDirectory()
    const directory = isDirectory ? source : dirname(source)
    if (!hidden.includes(directory)) hidden.push(directory)
    return [kind, `${stage}/${hidden.indexOf(directory)}${source.slice(directory.length)}`, target]
  }
  const entries = [
    ...[...root, ...listFurther(root, paths)].map(reach),
    ...devices.map((path) => ['bind', path, path]),
    ...ownEntries,
  ]
  const bytes = Buffer.from(entries.flatMap((entry) => entry.map((text) => `${text}\0`)).join(''))
  return { bytes, hidden }
}

/** True when every user may enter each directory above the path, or the keeper runs as the worker's own user. */
function isReachable(path: string): boolean {
  if (process.getuid?.() !== 0 || path === '/') return true
  const above = dirname(path)
  return (statSync(above).mode & 0o001) !== 0 && isReachable(above)
}

/** Lists the paths that no entry shows yet, because the same path cannot be mounted twice. */
function listFurther(root: readonly RootEntry[], paths: readonly HostPath[]): RootEntry[] {
  const found: RootEntry[] = []
  const isShown = (path: string): boolean =>
    [...root, ...found].some(
      ({ kind, target }) => kind === 'bind' && (path === target || path.startsWith(`${target}/`)),
    )
  for (const { source, target } of paths) {
    if (!isShown(target)) found.push({ kind: 'bind', source: realpathSync(source), target })
  }
  return found
}
