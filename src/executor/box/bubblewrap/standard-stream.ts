// A program's stdin (an unlinked file), stdout and stderr (pipes), and the pipe that lets it start. Node's `stdio:
// 'pipe'` is a socket pair: /dev/stdout fails on it with ENXIO, and descriptors sent over it stay with us. So outputs
// are named pipes, unlinked once open. Input is a file: it can be mapped, and a reopened pipe would wait for a writer.
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
  open(): void
  /** Closes our end; the gate stays shut. */
  close(): void
}

export interface StandardStreams {
  /** A read-only descriptor of an unlinked file: give it to the child, then close it. */
  openInput(bytes: Uint8Array): number
  /** An input that may go on as long as the child lives. */
  openFeed(): Promise<InputPipe>
  openOutput(): Promise<OutputPipe>
  openGate(): Promise<Gate>
  /** Removes the directory and its record. */
  close(): void
}

/** Pipes per mkfifo(1), as each call costs a process. */
const batch = 48

/**
 * Makes a directory, mode 0700, with the first stream: a worker whose boxes need none leaves nothing. Programs read their
 * streams' paths in /proc/self/fd, so names are random, in /tmp.
 * @param record a link to make to the directory, by which a later worker finds it (`removeStandardStreams`).
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
      // 0666: programs reopen /dev/stdout with their own rights; the directory keeps others out. The sticky bit stops
      // systemd-tmpfiles from removing them.
      for (const name of names) chmodSync(name, 0o1666)
    } catch (cause) {
      throw new SandboxError('pipe.create', `mkfifo failed in ${directory}`, cause)
    }
    ready.push(...names)
  }

  async function takePipe(): Promise<string> {
    for (;;) {
      // systemd-tmpfiles would remove an empty directory.
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
        // The slot's user may reopen it, for reading only.
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

function openFeed(name: string): InputPipe {
  try {
    // Opened for both, a FIFO does not wait.
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
        // The child can write too, so the pipe never ends: bubblewrap would take that for the byte, and start a dead
        // worker's program.
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

/** Removes a record, and its directory if that is this user's. */
export function removeStandardStreams(record: string): void {
  if (lstatSync(record, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return
  const directory = readlinkSync(record)
  const found = lstatSync(directory, { throwIfNoEntry: false })
  if (found?.isDirectory() === true && found.uid === process.getuid?.())
    rmSync(directory, { recursive: true, force: true })
  unlinkSync(record)
}
