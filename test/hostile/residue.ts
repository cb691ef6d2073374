// Looks for what a run may have left on the host: processes, cgroups, mounts, files, descriptors, IPC, changed programs. It
// looks only at what belongs to the slots' uids or to this process, because other work goes on on the same machine.
import { createHash } from 'node:crypto'
import {
  existsSync,
  lstatSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  statSync,
} from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { isExiting } from '../helper/executor.ts'
import { listEntries } from './profile.ts'
import type { Arena } from './profile.ts'

/** The state of the host when nothing was running. */
export interface Baseline {
  readonly mounts: ReadonlySet<string>
  /** Returns false for mounts that other work makes beside some tests. */
  readonly mayBeOurs: (mount: string) => boolean
  readonly descriptors: number
  readonly children: number
  readonly slots: number
}

const list = (directory: string): string[] => {
  try {
    return readdirSync(directory)
  } catch {
    return []
  }
}

const readMounts = (): string[] =>
  readFileSync('/proc/self/mountinfo', 'utf8').trimEnd().split('\n')

const countDescriptors = (): number => readdirSync('/proc/self/fd').length

interface Process {
  readonly pid: string
  readonly name: string
  readonly parent: number
  readonly uid: number
  /** The letter of proc_pid_status(5). Z is a dead process whose parent has not waited for it yet. */
  readonly state: string
}

function readProcesses(): Process[] {
  return list('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const status = readFileSync(`/proc/${pid}/status`, 'latin1')
        const field = (name: string): string =>
          new RegExp(`^${name}:\\s*(\\S*)`, 'm').exec(status)?.[1] ?? ''
        return [
          {
            pid,
            name: field('Name'),
            parent: Number(field('PPid')),
            uid: Number(field('Uid')),
            state: field('State'),
          },
        ]
      } catch {
        return []
      }
    })
}

const countChildren = (processes: readonly Process[]): number =>
  processes.filter(({ parent }) => parent === process.pid).length

/** Records the present state as normal. Every arena must have run each language once before. */
export function takeBaseline(
  arenas: readonly Arena[],
  mayBeOurs: Baseline['mayBeOurs'] = () => true,
): Baseline {
  return {
    mounts: new Set(readMounts()),
    mayBeOurs,
    descriptors: countDescriptors(),
    children: countChildren(readProcesses()),
    slots: arenas.reduce((sum, { executor }) => sum + executor.slots, 0),
  }
}

/**
 * Returns the keepers and the boxes that wait in them. They are recognised by descent alone, which no program can forge. A
 * keeper is a child of the worker with a slot's uid. It has at most one child, the first process of a box in which nothing
 * runs yet; that process has at most one child, the program's process. Any other process with a slot's uid is left over.
 */
function findResidents(
  processes: readonly Process[],
  uids: ReadonlySet<number>,
  worker = process.pid,
): { readonly keepers: ReadonlySet<string>; readonly all: ReadonlySet<string> } {
  const children = (pid: string): Process[] =>
    processes.filter(({ parent, state }) => String(parent) === pid && state !== 'Z')
  const keepers = children(String(worker)).filter(({ uid }) => uids.has(uid))
  const all = new Set<string>()
  for (const { pid } of keepers) {
    all.add(pid)
    const [first, ...others] = children(pid)
    if (first === undefined || others.length > 0) continue
    all.add(first.pid)
    const [program, ...more] = children(first.pid)
    if (program === undefined || more.length > 0 || children(program.pid).length > 0) continue
    all.add(program.pid)
  }
  return { keepers: new Set(keepers.map(({ pid }) => pid)), all }
}

/**
 * Returns the processes with a slot's uid that are neither keepers nor wait in a keeper's box. The worker is a separate
 * process.
 */
export function findStrangers(worker: number, uids: ReadonlySet<number>): string[] {
  const processes = readProcesses()
  const residents = findResidents(processes, uids, worker)
  return processes
    .filter(({ pid, uid, state }) => uids.has(uid) && !residents.all.has(pid) && state !== 'Z')
    .map(({ pid, name, uid, state }) => `process ${pid} (${name}, ${state}) of uid ${uid}`)
}

/** Returns true when the group holds a keeper; with cgroup v2 the keeper is in a leaf group. */
function holdsOneOf(group: string, keepers: ReadonlySet<string>): boolean {
  return [`${group}/cgroup.procs`, `${group}/keeper/cgroup.procs`].some(
    (path) =>
      existsSync(path) &&
      readFileSync(path, 'utf8')
        .split('\n')
        .some((pid) => keepers.has(pid)),
  )
}

/**
 * Returns the leftover groups of phases below the arenas' parent groups. When nothing runs, only groups of keepers and of
 * resident compilers may exist.
 */
function findGroups(arenas: readonly Arena[], keepers: ReadonlySet<string>): string[] {
  const parents = arenas.flatMap(({ groupName }) => findParents(groupName))
  return parents.flatMap((parent) =>
    list(parent)
      .filter((name) => !name.startsWith('resident-'))
      .map((name) => `${parent}/${name}`)
      .filter((path) => existsSync(path) && statSync(path).isDirectory())
      .filter((path) => !holdsOneOf(path, keepers)),
  )
}

const known = new Map<string, string[]>()

function findParents(name: string): string[] {
  const before = known.get(name)
  if (before !== undefined) return before
  const found: string[] = []
  const descend = (directory: string, depth: number): void => {
    for (const entry of listEntries(directory)) {
      if (!entry.isDirectory()) continue
      if (entry.name === name) found.push(`${directory}/${entry.name}`)
      else if (depth > 0) descend(`${directory}/${entry.name}`, depth - 1)
    }
  }
  descend('/sys/fs/cgroup', 8)
  if (found.length === 0) throw new Error(`no cgroup is called ${name}`)
  known.set(name, found)
  return found
}

/** Directories that a process could write to if it saw the host's file system. */
const open = ['/', '/tmp', '/var/tmp', '/dev/shm', '/dev/mqueue', '/run', '/run/lock', '/root']

function findFiles(uids: ReadonlySet<number>, arenas: readonly Arena[]): string[] {
  const owned = open.flatMap((directory) =>
    list(directory)
      .map((name) => `${directory}/${name}`)
      .filter((path) => {
        const entry = lstatSync(path, { throwIfNoEntry: false })
        return entry !== undefined && uids.has(entry.uid)
      }),
  )
  const strange = arenas.flatMap(({ cacheDirectory, groupName }) => [
    ...list(cacheDirectory).filter(
      (name) =>
        ![groupName, 'artefact', 'class-archive', 'keeper', 'precompiled-header', 'trial'].includes(
          name,
        ),
    ),
    // The FIFOs belong to a directory of pipes made in advance; inputs are unlinked while they are in use.
    ...list(`${cacheDirectory}/${groupName}`).filter(
      (name) => !lstatSync(`${cacheDirectory}/${groupName}/${name}`).isFIFO(),
    ),
    ...['artefact', 'keeper'].flatMap((folder) =>
      list(`${cacheDirectory}/${folder}`).filter((name) => {
        const entry = lstatSync(`${cacheDirectory}/${folder}/${name}`)
        return !entry.isFile() || entry.uid !== process.getuid?.() || entry.nlink !== 1
      }),
    ),
  ])
  return [...owned, ...strange]
}

function findIpc(uids: ReadonlySet<number>): string[] {
  return ['shm', 'sem', 'msg'].flatMap((kind) =>
    readFileSync(`/proc/sysvipc/${kind}`, 'utf8')
      .trimEnd()
      .split('\n')
      .slice(1)
      .filter((line) =>
        line
          .trim()
          .split(/\s+/)
          .some((word) => uids.has(Number(word))),
      ),
  )
}

function inspect(baseline: Baseline, arenas: readonly Arena[]): string[] {
  const uids = new Set(arenas.flatMap((arena) => arena.uids))
  const processes = readProcesses()
  const residents = findResidents(processes, uids)
  const left: string[] = []
  for (const { pid, name, parent, uid, state } of processes) {
    // A zombie whose parent has died waits for the host's init, which is slow on some hosts.
    if (!uids.has(uid) || residents.all.has(pid) || (state === 'Z' && parent !== process.pid))
      continue
    left.push(
      `process ${pid} (${name}, ${isGoing(Number(pid)) ? going : state}, of ${parent}) of uid ${uid}`,
    )
  }
  const children = countChildren(processes)
  if (children > baseline.children)
    left.push(`${children - baseline.children} children of the worker`)
  left.push(...findGroups(arenas, residents.keepers).map((group) => `cgroup ${group}`))
  left.push(
    ...readMounts()
      .filter((line) => !baseline.mounts.has(line) && baseline.mayBeOurs(line))
      .map((line) => `mount ${line}`),
  )
  left.push(...findFiles(uids, arenas).map((file) => `file ${file}`))
  left.push(...findIpc(uids).map((line) => `IPC ${line}`))
  const descriptors = countDescriptors()
  if (descriptors > baseline.descriptors) {
    const links = list('/proc/self/fd').map((number) => {
      try {
        return readlinkSync(`/proc/self/fd/${number}`)
      } catch {
        return '?'
      }
    })
    left.push(`${descriptors - baseline.descriptors} descriptors of the worker: ${links.join(' ')}`)
  }
  const slots = arenas.reduce((sum, { executor }) => sum + executor.slots, 0)
  if (slots < baseline.slots) left.push(`${baseline.slots - slots} quarantined slots`)
  return left
}

/**
 * Returns what is left after every run has resolved. Files must be gone at once. A replaced keeper removes its idle box a
 * moment later. Descriptors get two seconds, because Node closes some of its own in a later turn of the loop.
 */
export async function findResidue(baseline: Baseline, arenas: readonly Arena[]): Promise<string[]> {
  await Promise.all(arenas.map(({ executor }) => executor.settled()))
  for (let waited = 0; ; waited += 20) {
    const left = inspect(baseline, arenas)
    const patient = left.every((line) => mayTakeLonger(line, waited))
    if (left.length === 0 || !patient) return left
    await delay(20)
  }
}

/** The state of a process that has run its last instruction; the kernel may take seconds to free its resources. */
const going = 'exiting'

function isGoing(pid: number): boolean {
  try {
    return isExiting(pid)
  } catch {
    return true
  }
}

function mayTakeLonger(line: string, waited: number): boolean {
  if (line.includes('of the worker')) return waited < 2000
  if (line.includes(`, ${going}, `)) return waited < 10_000
  return /^(?:process|cgroup) /.test(line) && waited < 5000
}

/** Returns a digest of the programs that boxes share, read through the page cache as boxes read them. */
export function hashToolchain(): string {
  const hash = createHash('sha256')
  for (const path of ['/usr/bin/python3', '/usr/bin/g++', '/bin/sh']) {
    hash.update(readFileSync(realpathSync(path)))
  }
  const libraries = list('/usr/lib').filter((name) => name.endsWith('-linux-gnu'))
  for (const name of libraries) {
    const libc = `/usr/lib/${name}/libc.so.6`
    if (existsSync(libc)) hash.update(readFileSync(libc))
  }
  return hash.digest('hex')
}
