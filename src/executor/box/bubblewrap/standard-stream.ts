// What a program gets as stdin, stdout and stderr: an unlinked file and two real pipes; and the pipe that lets it start.
// Node's own `stdio: 'pipe'` is a socket pair: a program that opens /dev/stdin or /dev/stdout fails with ENXIO, and one that
// sends descriptors over it leaves them with us. So outputs are named pipes, opened at both ends and unlinked before the
// program starts. Input is a file: a pipe, opened anew by /dev/stdin, would wait for a writer, and a file can be mapped.
import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { Socket } from 'node:net'
import { promisify } from 'node:util'
import { SandboxError } from '#contract'

/** A pipe whose writing end a child gets. */
export interface OutputPipe {
  /** To be given to the child and then closed. */
  readonly childDescriptor: number
  readonly stream: Socket
}

/** A pipe whose reading end a child gets. */
export interface InputPipe {
  /** To be given to the child and then closed. */
  readonly childDescriptor: number
  readonly stream: Socket
}

/** A pipe on which a child waits for the one byte that lets it go. */
export interface Gate {
  /** To be given to the child and then closed. */
  readonly childDescriptor: number
  /** Writes the byte. */
  open(): void
  /** Closes our end. Without the byte the child waits on: closing is not opening. */
  close(): void
}

export interface StandardStreams {
  /** A read-only descriptor of a nameless file with these bytes, to be given to the child and then closed. */
  openInput(bytes: Uint8Array): number
  /** An input that can go on for as long as the child lives; a program's own is a file (`openInput`). */
  openFeed(): Promise<InputPipe>
  openOutput(): Promise<OutputPipe>
  openGate(): Promise<Gate>
  /** Removes the directory and its record. */
  close(): void
}

/** mkfifo(1) costs a process, so it makes this many at a time. */
const batch = 48

/**
 * Makes a directory for the streams, mode 0700, with the first of them: a worker whose boxes need none leaves nothing,
 * however it ends. A program can read where its streams were in /proc/self/fd, so the name says nothing: it is random, in
 * /tmp, and so is each stream's.
 * @param record a symbolic link to be made to that directory, in a directory of the worker's own: what a later worker
 * finds it by (`removeStandardStreams`), should this one die.
 */
export function createStandardStreams(record: string): StandardStreams {
  const directory = `/tmp/${randomUUID()}`
  let isMade = false
  const ready: string[] = []
  let making: Promise<void> | null = null
  const nextName = (): string => `${directory}/${randomUUID()}`

  function makeDirectory(): void {
    if (isMade) return
    rmSync(record, { force: true })
    symlinkSync(directory, record)
    mkdirSync(directory, { mode: 0o700 })
    isMade = true
  }

  async function makePipes(): Promise<void> {
    const names = Array.from({ length: batch }, nextName)
    try {
      makeDirectory()
      await promisify(execFile)('/usr/bin/mkfifo', names, { env: {} })
      // 0666: /dev/stdout is opened anew with the program's rights. The directory keeps others out. The sticky bit tells
      // systemd-tmpfiles, which clears forgotten files from /tmp, to leave them.
      for (const name of names) chmodSync(name, 0o1666)
    } catch (cause) {
      throw new SandboxError('pipe.create', `mkfifo failed in ${directory}`, cause)
    }
    ready.push(...names)
  }

  async function takePipe(): Promise<string> {
    for (;;) {
      // One stays, so that the directory is never empty: then it would be cleared away itself.
      const name = ready.length > 1 ? ready.pop() : undefined
      if (name !== undefined) return name
      making ??= makePipes().finally(() => (making = null))
      await making
    }
  }

  return {
    openInput(bytes) {
      makeDirectory()
      const name = nextName()
      const writer = openSync(name, 'wx', 0o400)
      try {
        for (let written = 0; written < bytes.length;) {
          written += writeSync(writer, bytes, written)
        }
        // Readable for the slot's user, who opens /dev/stdin anew; writable for nobody.
        fchmodSync(writer, 0o444)
        return openSync(name, 'r')
      } finally {
        closeSync(writer)
        unlinkSync(name)
      }
    },
    openFeed: async () => openFeed(await takePipe()),
    openOutput: async () => openOutput(await takePipe()),
    openGate: async () => openGate(await takePipe()),
    close() {
      rmSync(directory, { recursive: true, force: true })
      rmSync(record, { force: true })
    },
  }
}

/** Opens a named pipe at both ends and unlinks it, as the next two do. */
function openFeed(name: string): InputPipe {
  try {
    // Neither end can be opened without the other unless both are one.
    const both = openSync(name, constants.O_RDWR)
    try {
      const childDescriptor = openSync(name, 'r')
      try {
        const writer = openSync(name, constants.O_WRONLY | constants.O_NONBLOCK)
        const stream = new Socket({ fd: writer, readable: false, writable: true })
        return { childDescriptor, stream }
      } catch (error) {
        closeSync(childDescriptor)
        throw error
      }
    } finally {
      closeSync(both)
    }
  } finally {
    unlinkSync(name)
  }
}

function openOutput(name: string): OutputPipe {
  try {
    const reader = openSync(name, constants.O_RDONLY | constants.O_NONBLOCK)
    const stream = new Socket({ fd: reader, readable: true, writable: false })
    try {
      return { childDescriptor: openSync(name, 'w'), stream }
    } catch (error) {
      stream.destroy()
      throw error
    }
  } finally {
    unlinkSync(name)
  }
}

function openGate(name: string): Gate {
  try {
    const own = openSync(name, constants.O_RDWR)
    try {
      return {
        // Whoever reads can write here too, so that there is no end of file: bubblewrap takes one for the byte, and
        // would let a program go whose worker has just died.
        childDescriptor: openSync(name, constants.O_RDWR),
        open: () => void writeSync(own, '1'),
        close: () => closeSync(own),
      }
    } catch (error) {
      closeSync(own)
      throw error
    }
  } finally {
    unlinkSync(name)
  }
}

/** Removes the directory that a record leads to, if it is this user's, and the record. */
export function removeStandardStreams(record: string): void {
  if (lstatSync(record, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return
  const directory = readlinkSync(record)
  const found = lstatSync(directory, { throwIfNoEntry: false })
  if (found?.isDirectory() === true && found.uid === process.getuid?.())
    rmSync(directory, { recursive: true, force: true })
  unlinkSync(record)
}
