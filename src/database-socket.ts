// The sockets of our PostgreSQL connections, watched: one that was written to and stays silent for longer than any
// statement may take is dead, and is destroyed, so that the driver makes a new one. The driver itself waits for ever, and
// the kernel for a quarter of an hour, when a server or a network vanishes without a word (failover, lost route).
import { Socket } from 'node:net'

// A write this soon after the last answer looks answered; the next write on the connection is then what shows its death.
const lookMilliseconds = 100

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
export function createWatchedSockets(silenceSeconds: number): (to: Destination) => Socket {
  let connections = 0
  return ({ host, port, path }) => {
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
    watch(socket, silenceSeconds)
    return socket
  }
}

// Counters, not events: they count below TLS too, and looking costs nothing a query.
function watch(socket: Socket, silenceSeconds: number): void {
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
    }
  }
  const timer = setInterval(look, lookMilliseconds).unref()
  socket.once('close', () => clearInterval(timer))
}
