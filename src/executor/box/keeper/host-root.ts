// What of the host a box shows, and what every program finds in its environment.
import { existsSync, lstatSync, readlinkSync, realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { HostPath } from '#contract'

/** A host path shown read-only, or a link. */
interface RootEntry {
  readonly kind: 'bind' | 'link'
  /** The host path; a link's text. */
  readonly source: string
  readonly target: string
}

/** What of the host a keeper shows. */
export interface Layout {
  /** In the format of build_root (root.c). */
  readonly bytes: Buffer
  /**
   * Directories that a slot's user cannot reach, as below a home that others may not enter: the worker, which may, shows the n-th
   * to the keeper as n below `stage`.
   */
  readonly hidden: readonly string[]
}

/** Where a keeper finds the n-th hidden directory, in a mount namespace of its own. */
export const stage = '/mnt'

/** Uid and gid inside. */
export const boxUid = 1000

export const environment: Readonly<Record<string, string>> = {
  PATH: '/usr/bin:/bin',
  HOME: '/box',
  USER: 'runner',
  LOGNAME: 'runner',
  LANG: 'C.UTF-8',
  LC_ALL: 'C.UTF-8',
  PWD: '/box',
  // By default a thread per core: on a large host more than a program may have.
  OPENBLAS_NUM_THREADS: '1',
}

/** Programs look up who they are: one user of a name, and nobody of the host. */
const accounts: Readonly<Record<string, string>> = {
  '/etc/passwd': `runner:x:${boxUid}:${boxUid}:runner:/box:/bin/sh\n`,
  '/etc/group': `runner:x:${boxUid}:\n`,
  '/etc/nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files\n',
  '/etc/hosts': '127.0.0.1 localhost\n::1 localhost\n127.0.1.1 box\n',
}

/** No devpts: the host counts all pseudo-terminals together, so a box could use them up or signal by the count. */
const devices = ['null', 'zero', 'full', 'random', 'urandom', 'tty'].map((name) => `/dev/${name}`)

/** Links in /dev: path and text. */
const deviceLinks = [
  ['/dev/fd', '/proc/self/fd'],
  ['/dev/stdin', '/proc/self/fd/0'],
  ['/dev/stdout', '/proc/self/fd/1'],
  ['/dev/stderr', '/proc/self/fd/2'],
] as const

/**
 * The least that programs need: executables, libraries, the linker's cache, time zones. /bin and its like may be links
 * or directories.
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

/** @param paths what languages need beyond the host's root. */
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
    ...devices.map((path) => ['device', path, path]),
    ...deviceLinks.map(([path, text]) => ['link', text, path]),
    ...Object.entries(accounts).map(([path, text]) => ['file', text, path]),
  ]
  const bytes = Buffer.from(entries.flatMap((entry) => entry.map((text) => `${text}\0`)).join(''))
  return { bytes, hidden }
}

/** Everybody may enter each directory above it. Without root the keeper is of the worker's own user. */
function isReachable(path: string): boolean {
  if (process.getuid?.() !== 0 || path === '/') return true
  const above = dirname(path)
  return (statSync(above).mode & 0o001) !== 0 && isReachable(above)
}

/** Paths that no entry shows yet: the same path cannot be mounted twice. */
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
