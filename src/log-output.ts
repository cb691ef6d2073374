// Where a process's log lines go: they are written together, and never waited for by who logs.
//
// Own code because sonic-boom's flush at the end of a process repeats a write to a pipe that nobody reads any more for
// ever (4.2.1): a process whose log reader had died could not end.
import { write, writeSync } from 'node:fs'
import type { DestinationStream } from 'pino'

/** A destination for pino, which flushes it before a process ends of a fatal error. */
export interface LogOutput extends DestinationStream {
  /** Writes at once what waits, or gives it up where that cannot be done. */
  flushSync(): void
}

// A write for each line costs a worker as much as a statement does. A process that is killed takes so much of its last
// lines with it; one that ends in any other way writes them.
const flushMilliseconds = 100
const bufferedCharacters = 4096
// A reader that has stopped reading must not take the process's memory: then lines are dropped.
const waitingCharactersMost = 8 << 20
const againMilliseconds = 10
const lastTries = 100

/** Creates the output to a file descriptor. */
export function createLogOutput(descriptor: number): LogOutput {
  let waiting = ''
  let isWriting = false
  let isClosed = false
  let timer: NodeJS.Timeout | undefined

  const close = (): void => {
    isClosed = true
    waiting = ''
  }

  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    if (isWriting || waiting === '') return
    isWriting = true
    const bytes = Buffer.from(waiting)
    waiting = ''
    writeRest(bytes)
  }

  function writeRest(bytes: Buffer): void {
    write(descriptor, bytes, (error, written) => {
      if (error?.code === 'EAGAIN') {
        setTimeout(writeRest, againMilliseconds, bytes).unref()
      } else if (error !== null) {
        close()
      } else if (written < bytes.length) {
        writeRest(bytes.subarray(written))
      } else {
        isWriting = false
        if (waiting !== '') flush()
      }
    })
  }

  function flushSync(): void {
    let bytes = Buffer.from(waiting)
    waiting = ''
    for (let tries = 0; bytes.length > 0 && !isClosed && tries < lastTries; tries += 1) {
      try {
        bytes = bytes.subarray(writeSync(descriptor, bytes))
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') close()
        else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, againMilliseconds)
      }
    }
  }

  process.once('exit', flushSync)
  return {
    write(line) {
      if (isClosed || waiting.length > waitingCharactersMost) return
      waiting += line
      if (waiting.length >= bufferedCharacters) flush()
      else timer ??= setTimeout(flush, flushMilliseconds).unref()
    },
    flushSync,
  }
}
