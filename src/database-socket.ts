// The sockets of our PostgreSQL connections, watched: one that was written to and stays silent for longer than any
// statement may take is dead, and is destroyed, so that the driver makes a new one. The driver itself waits for ever, and
// the kernel for a quarter of an hour, when a server or a network vanishes without a word (failover, lost route).
//
// And paced: a connection that is accepted and closed without a word is asked for again by the driver at once, more than a
// thousand times a second (postgres 3.4.9, issue 1179).
import { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

// A write this soon after the last answer looks answered; the next write on the connection is then what shows its death.
const lookMilliseconds = 100
// New connections of one pool in any second.
const connectionsPerSecond = 15

/** What the driver knows of where to connect; it tries the hosts in turn. */
interface Destination {
  readonly host: readonly string[]
  readonly port: readonly number[]
  readonly path?: string | false
}

/**
 * Creates the driver's `socket` option: a function that starts connecting and returns the socket.
 * @param silenceSeconds how long a server may take to answer anything.
 */
export function createWatchedSockets(silenceSeconds: number): (to: Destination) => Promise<Socket> {
  let connections = 0
  const takeTurn = createPace(connectionsPerSecond)
  const watched = new Map<Socket, () => boolean>()
  // What made one connection silent has mostly made all so: statements to come should not find that out one by one. Nor
  // does a connection that only listens, and is never written to, find it out by itself.
  const endIdle = (): void => {
    for (const [socket, isIdle] of watched) if (isIdle()) socket.destroy()
  }
  return async ({ host, port, path }) => {
    await takeTurn()
    const socket = new Socket()
    if (typeof path === 'string' && path !== '') {
      socket.connect(path)
    } else {
      const index = connections % host.length
      connections += 1
      // The driver reads these for TLS and for its messages.
      Object.assign(socket, { host: host[index], port: port[index] })
      socket.connect(port[index] ?? 5432, host[index] ?? 'localhost')
    }
    watched.set(socket, watch(socket, silenceSeconds, endIdle))
    socket.once('close', () => watched.delete(socket))
    return socket
  }
}

/** Creates a function that resolves at once, or later where it would resolve more often in any second than this. */
export function createPace(perSecond: number): () => Promise<void> {
  const turns: number[] = []
  return async () => {
    const now = performance.now()
    const earliest = turns.length < perSecond ? now : (turns.shift() ?? 0) + 1000
    const turn = Math.max(now, earliest)
    turns.push(turn)
    if (turn > now) await sleep(turn - now)
  }
}

// Counters, not events: they count below TLS too, and looking costs nothing a query.
function watch(socket: Socket, silenceSeconds: number, onSilence: () => void): () => boolean {
  let read = 0
  let written = 0
  let silentSince = performance.now()
  const look = (): void => {
    const now = performance.now()
    if (socket.bytesRead !== read || socket.bytesWritten === written) {
      read = socket.bytesRead
      written = socket.bytesWritten
      silentSince = now
    } else if (now - silentSince > silenceSeconds * 1000) {
      // Without an error: the driver (postgres 3.4.9) forgets a query that is issued between a socket's error and its
      // end. Its statements fail with CONNECTION_CLOSED.
      socket.destroy()
      onSilence()
    }
  }
  const timer = setInterval(look, lookMilliseconds).unref()
  socket.once('close', () => clearInterval(timer))
  return () => !socket.connecting && socket.bytesWritten === written
}
