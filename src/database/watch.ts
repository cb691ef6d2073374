// Watches our PostgreSQL connections together and destroys dead ones; drivers then reconnect. When a server or a route
// vanishes silently, the driver waits for ever and the kernel a quarter of an hour, and neither notices its return.
//
// - Silence longer than any statement: the connection is dead, and idle ones go with it.
// - Silence for a second: the server is probed each second (probe.ts); reconnecting would burden a slow one. If it
//   answers, connections not yet greeted begin anew; if it was away, so do all that wait.
import type { Socket } from 'node:net'
import { probeServer } from './probe.ts'
import type { ServerAddress } from './probe.ts'

const lookMilliseconds = 100
// After a longer pause the process itself was stopped or busy.
const longestLookMilliseconds = 2 * lookMilliseconds
const probeMilliseconds = 1000
// For answers that were held back.
const graceMilliseconds = 2 * lookMilliseconds

export interface WatchOptions {
  readonly silenceSeconds: number
  /** The lock is worth more than early detection: only its own silence ends it. */
  readonly holdsSession?: boolean
}

interface Watched extends WatchOptions {
  silentSince: number
  read: number
  /** Written when something was last read: later bytes are unanswered. */
  written: number
  silentMilliseconds: number
  /** A data event came since the last look; below TLS there are none. */
  isHeard: boolean
}

const destinations = new Map<string, (socket: Socket, options: WatchOptions) => void>()

/** Watches a connecting socket until it closes. */
export function watchSocket(socket: Socket, address: ServerAddress, options: WatchOptions): void {
  const name = JSON.stringify(address)
  let watch = destinations.get(name)
  if (watch === undefined) {
    watch = createDestination(address, () => destinations.delete(name))
    destinations.set(name, watch)
  }
  watch(socket, options)
}

function createDestination(
  address: ServerAddress,
  onUnused: () => void,
): (socket: Socket, options: WatchOptions) => void {
  const sockets = new Map<Socket, Watched>()
  let lookedAt = performance.now()
  let probedAt = Number.NEGATIVE_INFINITY
  let unansweredProbes = 0

  // Counters also count below TLS, and cost queries nothing.
  const look = (): void => {
    const now = performance.now()
    const elapsed = Math.min(now - lookedAt, longestLookMilliseconds)
    lookedAt = now
    let longestMilliseconds = 0
    let isOneDead = false
    for (const [socket, watched] of sockets) {
      const isGreeted = socket.bytesRead > 0
      const isAsked = !isGreeted || socket.bytesWritten !== watched.written
      if (socket.bytesRead !== watched.read || !isAsked) {
        watched.read = socket.bytesRead
        if (!watched.isHeard) watched.written = socket.bytesWritten
        watched.isHeard = false
        watched.silentSince = now
        watched.silentMilliseconds = 0
        continue
      }
      watched.silentMilliseconds += elapsed
      longestMilliseconds = Math.max(longestMilliseconds, watched.silentMilliseconds)
      if (isGreeted && watched.silentMilliseconds > watched.silenceSeconds * 1000) {
        // Without an error: postgres 3.4.9 forgets queries issued between a socket's error and its end. They fail with
        // CONNECTION_CLOSED.
        socket.destroy()
        isOneDead = true
      }
    }
    if (isOneDead) destroyIdle()
    if (longestMilliseconds >= probeMilliseconds && now - probedAt >= probeMilliseconds) {
      probedAt = now
      unansweredProbes += 1
      probeServer(address, () => {
        const wasAway = unansweredProbes > 1
        unansweredProbes = 0
        setTimeout(destroySilent, graceMilliseconds, now, wasAway).unref()
      })
    }
  }
  // Mostly all are silent together: statements should not find out one by one, and a connection that only listens
  // cannot.
  const destroyIdle = (): void => {
    for (const [socket, { holdsSession, written }] of sockets) {
      const isIdle = socket.bytesRead > 0 && socket.bytesWritten === written
      if (isIdle && holdsSession !== true) socket.destroy()
    }
  }
  const destroySilent = (since: number, wasAway: boolean): void => {
    for (const [socket, { read, silentMilliseconds, silentSince }] of sockets) {
      const isSilent = silentMilliseconds > 0 && socket.bytesRead === read && silentSince < since
      // A statement may be slow on a healthy server; a greeting is not.
      if (isSilent && (wasAway || read === 0)) socket.destroy()
    }
  }
  const timer = setInterval(look, lookMilliseconds).unref()

  return (socket, options) => {
    const silentSince = performance.now()
    const watched: Watched = { ...options, silentSince, read: 0, written: 0, silentMilliseconds: 0, isHeard: false } // prettier-ignore
    sockets.set(socket, watched)
    // Counters cannot show the order of an answer and the question after it.
    socket.on('data', () => {
      watched.isHeard = true
      watched.written = socket.bytesWritten
    })
    socket.once('close', () => {
      sockets.delete(socket)
      if (sockets.size > 0) return
      clearInterval(timer)
      onUnused()
    })
  }
}
