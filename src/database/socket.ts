// The sockets of our PostgreSQL connections, each watched (watch.ts) and begun at a bounded pace: a connection
// that is accepted and closed without a word is asked for again by the driver at once, more than a thousand times a
// second (postgres 3.4.9, issue 1179).
import { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ServerAddress } from './probe.ts'
import { watchSocket } from './watch.ts'
import type { WatchOptions } from './watch.ts'

// New connections of a pool in any second, at most: all of a large one, and a few tries of a small one.
const connectionsPerSecond = 15
const triesPerSecond = 4
const defaultPort = 5432

/** What the driver knows of where to connect; it tries the hosts in turn. */
interface Destination {
  readonly host: readonly string[]
  readonly port: readonly number[]
  readonly path?: string | false
}

/**
 * Creates the `socket` option of postgres.js: a function that starts connecting and returns the socket.
 * @param poolConnections how many the pool may have.
 */
export function createWatchedSockets(
  options: WatchOptions,
  poolConnections: number,
): (to: Destination) => Promise<Socket> {
  let connections = 0
  const takeTurn = createPace(Math.min(poolConnections + triesPerSecond, connectionsPerSecond))
  return async ({ host: hosts, port: ports, path }) => {
    await takeTurn()
    const socket = new Socket()
    if (typeof path === 'string' && path !== '') {
      watchSocket(socket, { path }, options)
      return socket.connect(path)
    }
    const index = connections % hosts.length
    connections += 1
    const host = hosts[index] ?? 'localhost'
    const port = ports[index] ?? defaultPort
    watchSocket(socket, { host, port }, options)
    // The driver reads these for TLS and for its messages.
    return Object.assign(socket, { host, port }).connect(port, host)
  }
}

/** Creates the `stream` option of pg, which connects the socket itself. @param url where the pool connects to. */
export function createWatchedStream(url: string, options: WatchOptions): () => Socket {
  const { hostname, port } = new URL(url)
  const address: ServerAddress = {
    // pg takes the brackets off an IPv6 address too.
    host: hostname === '' ? 'localhost' : hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? defaultPort : Number(port),
  }
  return () => {
    const socket = new Socket()
    watchSocket(socket, address, options)
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
