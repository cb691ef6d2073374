// Files that a program has left in its box, read when every process of it is dead. The box's own directory is opened before
// the program begins, which keeps it; below it no link is followed, as each part of a name is opened by itself.
import { chmodSync, closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { describe, outputFilesBytesMost, readCode, SandboxError } from '#contract'
import type { OutputFile } from '#contract'

// Looks at whatever it is without opening it: a pipe would wait, a device would do something. The same number on x86-64 and
// arm64.
const onlyLook = 0o10000000 | constants.O_NOFOLLOW

/**
 * Opens /box of a box whose program has not begun.
 * @param boxPid of its first process.
 * @throws {SandboxError} step `bubblewrap.output`: this host does not show a box to its worker.
 */
export function openWorkDirectory(boxPid: number): number {
  let directory: number | undefined
  try {
    directory = openSync(`/proc/${boxPid}/root/box`, onlyLook | constants.O_DIRECTORY)
    const found = fstatSync(directory)
    const ours = statSync('/box', { throwIfNoEntry: false })
    if (found.dev === ours?.dev && found.ino === ours.ino) throw new Error('this is the host’s own')
    return directory
  } catch (cause) {
    if (directory !== undefined) closeSync(directory)
    throw new SandboxError('bubblewrap.output', describe(cause), cause)
  }
}

/**
 * To be called when nothing of the box runs any more.
 * @param names relative paths. Those under which there is no file are left out.
 */
export function readOutputFiles(directory: number, names: readonly string[]): OutputFile[] {
  let room = outputFilesBytesMost
  openUp(directory)
  return names.flatMap((name): OutputFile[] => {
    const file = openBelow(directory, name.split('/'))
    if (file === null) return []
    try {
      const status = fstatSync(file)
      if (!status.isFile()) return []
      const { size } = status
      if (size > room) return [{ name, size, content: null }]
      room -= size
      return [{ name, size, content: readWhole(file, size) }]
    } catch (error) {
      if (isAbsence(error)) return []
      throw new SandboxError('bubblewrap.output', describe(error), error)
    } finally {
      closeSync(file)
    }
  })
}

/** @returns a descriptor to look at it; null when there is no such file, or it is of another file system. */
function openBelow(directory: number, parts: readonly string[]): number | null {
  const device = fstatSync(directory).dev
  let at = directory
  for (const [index, part] of parts.entries()) {
    const isLast = index === parts.length - 1
    let below: number | null
    try {
      below = lookAt(`${nameOf(at)}/${part}`, isLast ? 0 : constants.O_DIRECTORY)
    } finally {
      if (at !== directory) closeSync(at)
    }
    if (below === null) return null
    at = below
    if (fstatSync(at).dev !== device) {
      closeSync(at)
      return null
    }
    if (!isLast) openUp(at)
  }
  return at
}

function lookAt(path: string, kind: number): number | null {
  try {
    return openSync(path, onlyLook | kind)
  } catch (error) {
    if (isAbsence(error)) return null
    throw new SandboxError('bubblewrap.output', describe(error), error)
  }
}

function readWhole(file: number, size: number): Buffer {
  openUp(file)
  // By another descriptor, as this one only looks.
  const readable = openSync(nameOf(file), constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const content = Buffer.alloc(size)
    let taken = 0
    while (taken < size) {
      const more = readSync(readable, content, taken, size - taken, taken)
      if (more === 0) throw new Error('a file that nobody writes has become shorter')
      taken += more
    }
    return content
  } finally {
    closeSync(readable)
  }
}

/** What the program has closed to itself a worker of its uid could not read. */
function openUp(descriptor: number): void {
  try {
    chmodSync(nameOf(descriptor), 0o700)
  } catch {
    // Whether it can be read all the same is found out next.
  }
}

function nameOf(descriptor: number): string {
  return `/proc/self/fd/${descriptor}`
}

const absences = new Set<unknown>(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO', 'EACCES', 'ENAMETOOLONG'])

function isAbsence(error: unknown): boolean {
  return absences.has(readCode(error))
}
