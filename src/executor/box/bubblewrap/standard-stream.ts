// A program's stdin (an unlinked file), stdout and stderr (pipes), and the pipe that lets it start. Node's `stdio:
// 'pipe'` is a socket pair: opening /dev/stdout fails on it with ENXIO, and descriptors sent over it would stay with
// us. So outputs are named pipes, opened at both ends and unlinked first. Input is a file: it can be mapped, and a pipe
// reopened by /dev/stdin would wait for a writer.
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
  /** Give it to the child, then close it. */
  readonly childDescriptor: number
  readonly stream: Socket
}

/** A pipe whose reading end a child gets. */
export interface InputPipe {
  /** Give it to the child, then close it. */
  readonly childDescriptor: number
  readonly stream: Socket
}

/** A pipe where a child waits for one byte. */
export interface Gate {
  /** Give it to the child, then close it. */
  readonly childDescriptor: number
  /** Writes the byte. */
  open(): void
  /** Closes our end, which does not open the gate. */
  close(): void
}

export interface StandardStreams {
  /** A read-only descriptor of an unlinked file with these bytes. Give it to the child, then close it. */
  openInput(bytes: Uint8Array): number
  /** An input that may go on as long as the child lives. */
  openFeed(): Promise<InputPipe>
  openOutput(): Promise<OutputPipe>
  openGate(): Promise<Gate>
  /** Removes the directory and its record. */
  close(): void
}

/** Pipes per call of mkfifo(1), as each call costs a process. */
const batch = 48

/**
 * Makes a directory for the streams, mode 0700. A program reads its streams' paths in /proc/self/fd, so names are
 * random and in /tmp.
 * @param record a symbolic link to make to the directory. If this worker dies, a later one finds the directory by it
 * (`removeStandardStreams`).
 */
export function createStandardStreams(record: string): StandardStreams {
  const directory = `/tmp/${randomUUID()}`
  symlinkSync(directory, record)
  mkdirSync(directory, { mode: 0o700 })
  const ready: string[] = []
  let making: Promise<void> | null = null
  const nextName = (): string => `${directory}/${randomUUID()}`

  async function makePipes(): Promise<void> {
    const names = Array.from({ length: batch }, nextName)
    try {
      await promisify(execFile)('/usr/bin/mkfifo', names, { env: {} })
      // 0666, as a program opens /dev/stdout anew with its own rights; the directory keeps others out. The sticky bit
      // stops systemd-tmpfiles from removing them as forgotten.
      for (const name of names) chmodSync(name, 0o1666)
    } catch (cause) {
      throw new SandboxError('pipe.create', `mkfifo failed in ${directory}`, cause)
    }
    ready.push(...names)
  }

  async function takePipe(): Promise<string> {
    for (;;) {
      // One stays: systemd-tmpfiles would remove an empty directory.
      const name = ready.length > 1 ? ready.pop() : undefined
      if (name !== undefined) return name
      making ??= makePipes().finally(() => (making = null))
      await making
    }
  }

  return {
    openInput(bytes) {
      const name = nextName()
      const writer = openSync(name, 'wx', 0o400)
      try {
        for (let written = 0; written < bytes.length;) {
          written += writeSync(writer, bytes, written)
        }
        // The slot's user opens /dev/stdin anew, for reading only.
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

/** Opens a named pipe at both ends and unlinks it. */
function openFeed(name: string): InputPipe {
  try {
    // Opened for both, a FIFO does not wait for its other end.
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
        // The child can write too, so the pipe never ends: bubblewrap takes an end of file for the byte, and would
        // start the program of a worker that just died.
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

/** Removes a record and the directory it links to, if that is this user's. */
export function removeStandardStreams(record: string): void {
  if (lstatSync(record, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return
  const directory = readlinkSync(record)
  const found = lstatSync(directory, { throwIfNoEntry: false })
  if (found?.isDirectory() === true && found.uid === process.getuid?.())
    rmSync(directory, { recursive: true, force: true })
  unlinkSync(record)
}
