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
/** A write that takes so long has nobody who reads. */
const stalledMilliseconds = 1000

/** Creates the output to a file descriptor. */
export function createLogOutput(descriptor: number): LogOutput {
  let waiting = ''
  /** What is being written, or waits for a full pipe. */
  let underWay: Buffer | null = null
  let isCalling = false
  let startedAt = 0
  let isClosed = false
  let timer: NodeJS.Timeout | undefined

  /** Without a reader nothing is ever written again; of another error the next lines may not know. */
  const fail = (error: NodeJS.ErrnoException): void => {
    if (error.code === 'EPIPE' || error.code === 'EBADF') isClosed = true
    if (isClosed) waiting = ''
  }

  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    if (underWay !== null || waiting === '') return
    underWay = Buffer.from(waiting)
    waiting = ''
    startedAt = performance.now()
    writeRest()
  }

  function writeRest(): void {
    if (underWay === null) return
    isCalling = true
    write(descriptor, underWay, (error, written) => {
      isCalling = false
      if (error?.code === 'EAGAIN') {
        setTimeout(writeRest, againMilliseconds).unref()
        return
      }
      if (error !== null) fail(error)
      underWay = error === null ? (underWay?.subarray(written) ?? null) : null
      if (underWay !== null && underWay.length > 0) writeRest()
      else {
        underWay = null
        flush()
      }
    })
  }

  function flushSync(): void {
    if (isStalled()) return
    let bytes = Buffer.from(waiting)
    waiting = ''
    // What a thread of Node's is writing in this instant it writes to the end.
    if (!isCalling && underWay !== null) {
      bytes = Buffer.concat([underWay, bytes])
      underWay = null
    }
    for (let tries = 0; bytes.length > 0 && !isClosed && tries < lastTries; tries += 1) {
      try {
        bytes = bytes.subarray(writeSync(descriptor, bytes))
      } catch (error) {
        fail(error as NodeJS.ErrnoException)
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, againMilliseconds)
      }
    }
  }

  const isStalled = (): boolean => isCalling && performance.now() - startedAt > stalledMilliseconds

  process.once('exit', () => {
    // Node waits for its threads, and the one that writes to a reader that lives and does not read never comes back.
    if (isStalled()) process.kill(process.pid, 'SIGKILL')
    flushSync()
  })
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
