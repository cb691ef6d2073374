// Writes log lines in batches, without making callers wait. It replaces sonic-boom, because version 4.2.1 retries writing to
// a closed pipe for ever at exit.
import { write, writeSync } from 'node:fs'
import type { DestinationStream } from 'pino'

/** The log's destination. pino flushes it before a fatal error ends the process. */
interface LogOutput extends DestinationStream {
  /** Writes the waiting lines, or drops them if they cannot be written. */
  flushSync(): void
}

// Lines are collected, because a write for each line costs as much as a statement. A killed process loses the waiting lines.
const flushMilliseconds = 100
const bufferedCharacters = 4096
// If the reader is stuck, further lines are dropped and not kept in memory.
const maxWaitingCharacters = 8 << 20
const retryMilliseconds = 10
const triesAtExit = 100
const stalledMilliseconds = 1000

export function createLogOutput(descriptor: number): LogOutput {
  let waiting = ''
  /** The bytes that are being written, or that wait because the pipe is full. */
  let underWay: Buffer | null = null
  let isCalling = false
  let startedAt = 0
  let isClosed = false
  let timer: NodeJS.Timeout | undefined

  /** Stops writing when there is no reader. After other errors the next lines are tried. */
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
        setTimeout(writeRest, retryMilliseconds).unref()
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
    // A write that has started is finished by Node's thread, so its bytes are not written again.
    if (!isCalling && underWay !== null) {
      bytes = Buffer.concat([underWay, bytes])
      underWay = null
    }
    for (let tries = 0; bytes.length > 0 && !isClosed && tries < triesAtExit; tries += 1) {
      try {
        bytes = bytes.subarray(writeSync(descriptor, bytes))
      } catch (error) {
        fail(error as NodeJS.ErrnoException)
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, retryMilliseconds)
      }
    }
  }

  const isStalled = (): boolean => isCalling && performance.now() - startedAt > stalledMilliseconds

  process.once('exit', () => {
    // At exit Node waits for its threads, even for one that is stuck in a write.
    if (isStalled()) process.kill(process.pid, 'SIGKILL')
    flushSync()
  })
  return {
    write(line) {
      if (isClosed || waiting.length > maxWaitingCharacters) return
      waiting += line
      if (waiting.length >= bufferedCharacters) flush()
      else timer ??= setTimeout(flush, flushMilliseconds).unref()
    },
    flushSync,
  }
}
