// Sockets to PostgreSQL, watched (watch.ts) and opened at a bounded pace: to a server that accepts and closes, the
// driver reconnects a thousand times a second (postgres 3.4.9, issue 1179).
import { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ServerAddress } from './probe.ts'
import { watchSocket } from './watch.ts'
import type { WatchOptions } from './watch.ts'

// A pool may open its size and a few retries per second, up to the larger figure. So may all pools of the process
// together, ours and graphile-worker's: fifty jobs that lose their connections ask for fifty more at once.
const connectionsPerSecond = 15
const triesPerSecond = 4
const takeSharedTurn = createPace(connectionsPerSecond)
const defaultPort = 5432

/** The driver tries the hosts in turn. */
interface Destination {
  readonly host: readonly string[]
  readonly port: readonly number[]
  readonly path?: string | false
}

/** Creates the `socket` option of postgres.js, which starts connecting. */
export function createWatchedSockets(
  options: WatchOptions,
  poolConnections: number,
): (to: Destination) => Promise<Socket> {
  let connections = 0
  const takeTurn = createPace(Math.min(poolConnections + triesPerSecond, connectionsPerSecond))
  return async ({ host: hosts, port: ports, path }) => {
    await takeTurn()
    // A single one has its own pace only: it listens or sweeps, and must not stand behind a pool.
    if (poolConnections > 1) await takeSharedTurn()
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

/** Creates the `stream` option of pg, which connects the socket itself: it is held back until its turn. */
export function createWatchedStream(url: string, options: WatchOptions): () => Socket {
  const { hostname, port } = new URL(url)
  const address: ServerAddress = {
    // As pg does, without an IPv6 address's brackets.
    host: hostname === '' ? 'localhost' : hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? defaultPort : Number(port),
  }
  return () => {
    const socket = new Socket()
    const connect = socket.connect.bind(socket) as (...to: unknown[]) => Socket
    const connectInTurn = async (to: readonly unknown[]): Promise<void> => {
      await takeSharedTurn()
      // pg may have given it up.
      if (socket.destroyed) return
      watchSocket(socket, address, options)
      connect(...to)
    }
    socket.connect = (...to: unknown[]) => {
      void connectInTurn(to)
      return socket
    }
    return socket
  }
}

/** A rate limiter: waits where it would resolve more than `perSecond` times in any second. */
function createPace(perSecond: number): () => Promise<void> {
  const turns: number[] = []
  return async () => {
    const now = performance.now()
    const earliest = turns.length < perSecond ? now : (turns.shift() ?? 0) + 1000
    const turn = Math.max(now, earliest)
    turns.push(turn)
    if (turn > now) await sleep(turn - now)
  }
}
