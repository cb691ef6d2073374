// What our connections to PostgreSQL know of the server together. The driver waits for ever, and the kernel for a quarter
// of an hour, when a server or a network vanishes without a word (failover, lost route), and neither notices at once that
// it is back. So every connection is watched, and one that is dead is destroyed: its driver then makes a new one.
//
// - One that was written to and stays silent for longer than any statement may take is dead, and so are the idle ones.
// - One that is not answered for a second is left its time, as a slow server must not be asked faster and faster. But the
//   server is asked each second whether it is there (probe.ts). When it is, those that it did not greet before
//   are forgotten on the way, and begin anew; when it was not and is again, so are those that wait for an answer.
import type { Socket } from 'node:net'
import { probeServer } from './probe.ts'
import type { ServerAddress } from './probe.ts'

const lookMilliseconds = 100
// A process that was stopped or busy for long has not read yet what came meanwhile: it is not the server's silence.
const longestLookMilliseconds = 2 * lookMilliseconds
// Somebody was not answered for so long: the server is asked, and again after as long.
const probeMilliseconds = 1000
// What was held back meanwhile arrives first.
const graceMilliseconds = 2 * lookMilliseconds

/** What is watched for. */
export interface WatchOptions {
  /** How long a server may take to answer anything. */
  readonly silenceSeconds: number
  /** What the session holds (a lock) is worth more than finding out early: only its own silence ends the connection. */
  readonly holdsSession?: boolean
}

interface Watched extends WatchOptions {
  silentSince: number
  read: number
  /** Bytes that were written when something was last read: those may be answered, what follows is not. */
  written: number
  silentMilliseconds: number
  /** Something was read of late, and said so at once. Below TLS nothing does: there only looking shows it. */
  isHeard: boolean
}

const destinations = new Map<string, (socket: Socket, options: WatchOptions) => void>()

/** Watches a socket that is, or is about to be, connecting to the address, until it closes. */
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

  // Counters, not events: they count below TLS too, and looking costs nothing a query.
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
        // Without an error: the driver (postgres 3.4.9) forgets a query that is issued between a socket's error and its
        // end. Its statements fail with CONNECTION_CLOSED.
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
  // What made one connection silent has mostly made all so: statements to come should not find that out one by one. Nor
  // does a connection that only listens, and is never written to, find it out by itself.
  const destroyIdle = (): void => {
    for (const [socket, { holdsSession, written }] of sockets) {
      const isIdle = socket.bytesRead > 0 && socket.bytesWritten === written
      if (isIdle && holdsSession !== true) socket.destroy()
    }
  }
  const destroySilent = (since: number, wasAway: boolean): void => {
    for (const [socket, { read, silentMilliseconds, silentSince }] of sockets) {
      const isSilent = silentMilliseconds > 0 && socket.bytesRead === read && silentSince < since
      // A statement may be slow while the server is there; a greeting is not.
      if (isSilent && (wasAway || read === 0)) socket.destroy()
    }
  }
  const timer = setInterval(look, lookMilliseconds).unref()

  return (socket, options) => {
    const silentSince = performance.now()
    const watched: Watched = { ...options, silentSince, read: 0, written: 0, silentMilliseconds: 0, isHeard: false } // prettier-ignore
    sockets.set(socket, watched)
    // Between two looks an answer may come and the next question be lost: then the order tells.
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
