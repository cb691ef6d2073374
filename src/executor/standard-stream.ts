// What a program gets as stdin, stdout and stderr: an unlinked file and two real pipes.
// Node's own `stdio: 'pipe'` is a socket pair: a program that opens /dev/stdin or /dev/stdout then fails with ENXIO, and
// one that sends descriptors over it leaves them with us. A named pipe, opened at both ends and unlinked before the
// program starts, is a pipe; opened anew through /dev/stdin it would wait for a writer, so input is a file, which can
// also be mapped and needs no feeding. Each has an inode of its own, so no run leaves anything on it for the next.
import { execFile } from 'node:child_process'
import {
  closeSync,
  constants,
  fchmodSync,
  mkdirSync,
  openSync,
  rmSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { Socket } from 'node:net'
import { promisify } from 'node:util'
import { SandboxError } from './outcome.ts'

/** A pipe whose writing end a child gets. */
export interface OutputPipe {
  /** To be given to the child and then closed. */
  readonly childDescriptor: number
  readonly stream: Socket
}

export interface StandardStreams {
  /** A read-only descriptor of a nameless file with these bytes, to be given to the child and then closed. */
  openInput(bytes: Uint8Array): number
  openOutput(): Promise<OutputPipe>
  /** Removes the directory. */
  close(): void
}

/** mkfifo(1) costs a process, so it makes this many at a time. */
const batch = 48

/** @param directory made for this purpose, mode 0700, removed by `close`. */
export function createStandardStreams(directory: string): StandardStreams {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const ready: string[] = []
  let named = 0
  let making: Promise<void> | null = null
  const nextName = (): string => `${directory}/${(named += 1)}`

  async function makePipes(): Promise<void> {
    const names = Array.from({ length: batch }, nextName)
    try {
      // Mode 0666: /dev/stdout is opened anew with the program's rights. The directory keeps others out.
      await promisify(execFile)('/usr/bin/mkfifo', ['-m', '0666', ...names], { env: {} })
    } catch (cause) {
      throw new SandboxError('pipe.create', `mkfifo failed in ${directory}`, cause)
    }
    ready.push(...names)
  }

  async function takePipe(): Promise<string> {
    for (;;) {
      const name = ready.pop()
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
        // Readable for the slot's user, who opens /dev/stdin anew; writable for nobody.
        fchmodSync(writer, 0o444)
        return openSync(name, 'r')
      } finally {
        closeSync(writer)
        unlinkSync(name)
      }
    },
    async openOutput() {
      const name = await takePipe()
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
    },
    close: () => rmSync(directory, { recursive: true, force: true }),
  }
}
