// Sockets to PostgreSQL, with two bounds that neither driver has.
//
// - A deadline for each statement: when a server or a route vanishes silently, a driver waits forever and the kernel a quarter
//   of an hour. A socket whose question is unanswered for longer than any statement takes is destroyed, and with it the idle
//   sockets of its pool, so that statements need not find out one by one. In a pool that nobody uses, TCP keepalive finds dead
//   connections.
// - A pace: to a server that accepts and closes, postgres.js connects a thousand times a second (3.4.9, its issue 1179).
import { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Host } from './hosts.ts'

// Shared by all pools with several connections, because fifty jobs that lose their connections ask for fifty more at once.
const connectionsPerSecond = 15
// A pool of one connection listens or sweeps, and must not wait behind the other pools.
const singlePerSecond = 5
const takeSharedTurn = createPace(connectionsPerSecond)
// Time for the server's work around a statement.
const silenceMarginSeconds = 0.4
const lookMilliseconds = 100
const defaultPort = 5432
let answeredAt = Number.NEGATIVE_INFINITY

/** Returns when any server last sent something to this process, by performance.now(). */
export function lastAnswerAt(): number {
  return answeredAt
}

/** A destination as the driver has read it. */
interface Destination {
  readonly host: readonly string[]
  readonly port: readonly number[]
  readonly path?: string | false
}

/**
 * Creates the `socket` option of postgres.js, which starts connecting.
 * @param statementSeconds the longest that a statement takes.
 * @param findHost chooses one of several hosts; null when there is one.
 */
export function createSockets(
  statementSeconds: number,
  poolConnections: number,
  findHost: (() => Promise<Host>) | null,
): (to: Destination) => Promise<Socket> {
  const watch = createWatch(statementSeconds)
  const takeTurn = poolConnections > 1 ? takeSharedTurn : createPace(singlePerSecond)
  return async ({ host: [onlyHost = 'localhost'], port: [onlyPort = defaultPort], path }) => {
    await takeTurn()
    const socket = watch(new Socket())
    if (typeof path === 'string' && path !== '') return socket.connect(path)
    try {
      const { host, port } = (await findHost?.()) ?? { host: onlyHost, port: onlyPort }
      // The driver reads these for TLS and for its messages.
      return Object.assign(socket, { host, port }).connect(port, host)
    } catch (error) {
      // If this threw, the driver would never use the connection again. The driver attaches its
      // listeners before the error comes.
      setImmediate(() => socket.destroy(error as Error))
      return socket
    }
  }
}

/** Creates the `stream` option of pg. pg connects the socket itself, so the socket delays connecting until its turn. */
export function createWatchedStream(statementSeconds: number): () => Socket {
  const watch = createWatch(statementSeconds)
  return () => {
    const socket = watch(new Socket())
    const connect = socket.connect.bind(socket) as (...to: unknown[]) => Socket
    const connectInTurn = async (to: readonly unknown[]): Promise<void> => {
      await takeSharedTurn()
      // pg may have destroyed it meanwhile.
      if (!socket.destroyed) connect(...to)
    }
    socket.connect = (...to: unknown[]) => {
      void connectInTurn(to)
      return socket
    }
    return socket
  }
}

interface Watched {
  /** Bytes read so far, by the socket's counters, which also count below TLS. */
  read: number
  /** Bytes written when something was last read. Later bytes are unanswered. */
  written: number
  silentMilliseconds: number
}

/** Watches the sockets of one pool. Until a socket's first answer, the driver's own time limit applies. */
function createWatch(statementSeconds: number): (socket: Socket) => Socket {
  const mostMilliseconds = (statementSeconds + silenceMarginSeconds) * 1000
  const sockets = new Map<Socket, Watched>()
  let timer: NodeJS.Timeout | undefined

  /** Destroys sockets that are silent for too long. Their queries fail with CONNECTION_CLOSED. */
  function look(): void {
    for (const [socket, watched] of sockets) {
      if (socket.destroyed) sockets.delete(socket)
      else if (isIdle(socket, watched) || socket.bytesRead !== watched.read)
        noteAnswer(socket, watched)
      // Counts looks, not time, because after a pause of this process there may be answers that it has not read.
      else watched.silentMilliseconds += lookMilliseconds
    }
    const dead = find(({ silentMilliseconds }) => silentMilliseconds > mostMilliseconds)
    if (dead.length > 0) {
      const idle = find((watched, socket) => socket.bytesRead > 0 && isIdle(socket, watched))
      for (const socket of idle) socket.destroy()
      // Later than the idle sockets, because a caller whose statement fails may ask again at once,
      // and must not get a closing one.
      setTimeout(() => dead.forEach((socket) => socket.destroy()))
    }
    if (sockets.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  const find = (is: (watched: Watched, socket: Socket) => boolean): Socket[] =>
    [...sockets].filter(([socket, watched]) => is(watched, socket)).map(([socket]) => socket)

  return (socket) => {
    const watched: Watched = { read: 0, written: 0, silentMilliseconds: 0 }
    sockets.set(socket, watched)
    // The counters alone do not show whether a question came before or after an answer.
    socket.on('data', () => {
      answeredAt = performance.now()
      noteAnswer(socket, watched)
    })
    timer ??= setInterval(look, lookMilliseconds).unref()
    return socket
  }
}

function isIdle({ bytesRead, bytesWritten }: Socket, { written }: Watched): boolean {
  return bytesRead === 0 || bytesWritten === written
}

function noteAnswer(socket: Socket, watched: Watched): void {
  watched.read = socket.bytesRead
  watched.written = socket.bytesWritten
  watched.silentMilliseconds = 0
}

/** Creates a rate limiter, which resolves at most `perSecond` times in any second. */
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
