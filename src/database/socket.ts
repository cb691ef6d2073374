// Sockets to PostgreSQL, which bound two things that neither driver bounds.
//
// - A deadline for each statement: when a server or a route vanishes without a word, a driver waits for ever and the kernel
//   for a quarter of an hour. A socket whose question stands unanswered for longer than any statement is destroyed, and the
//   idle ones of its pool with it, so that statements need not find out one by one. Of a pool that nobody uses, TCP's own
//   keepalive finds the dead.
// - A pace: to a server that accepts and closes, postgres.js connects a thousand times a second (3.4.9, its issue 1179).
import { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Host } from './hosts.ts'

// Of all pools of the process together: fifty jobs that lose their connections ask for fifty more at once.
const connectionsPerSecond = 15
// A single one listens or sweeps, and must not stand behind a pool.
const singlePerSecond = 5
const takeSharedTurn = createPace(connectionsPerSecond)
const lookMilliseconds = 100
const defaultPort = 5432
let answeredAt = Number.NEGATIVE_INFINITY

/** When any server last sent something to this process, by performance.now(). */
export function lastAnswerAt(): number {
  return answeredAt
}

/** As the driver has read it. */
interface Destination {
  readonly host: readonly string[]
  readonly port: readonly number[]
  readonly path?: string | false
}

/**
 * Creates the `socket` option of postgres.js, which starts connecting.
 * @param silenceSeconds longer than any statement takes.
 * @param findHost of several; null: there is one.
 */
export function createSockets(
  silenceSeconds: number,
  poolConnections: number,
  findHost: (() => Promise<Host>) | null,
): (to: Destination) => Promise<Socket> {
  const watch = createWatch(silenceSeconds)
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
      // Thrown, the driver would never use this connection again. It listens to the socket first.
      setImmediate(() => socket.destroy(error as Error))
      return socket
    }
  }
}

/** Creates the `stream` option of pg, which connects the socket itself: it is held back until its turn. */
export function createWatchedStream(silenceSeconds: number): () => Socket {
  const watch = createWatch(silenceSeconds)
  return () => {
    const socket = watch(new Socket())
    const connect = socket.connect.bind(socket) as (...to: unknown[]) => Socket
    const connectInTurn = async (to: readonly unknown[]): Promise<void> => {
      await takeSharedTurn()
      // pg may have given it up.
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
  /** Bytes so far, by the socket's counters: those also count below TLS. */
  read: number
  /** Written when something was last read: later bytes are unanswered. */
  written: number
  silentMilliseconds: number
}

/** Watches the sockets of one pool. Until its first answer the driver's own time limit holds for each. */
function createWatch(silenceSeconds: number): (socket: Socket) => Socket {
  const sockets = new Map<Socket, Watched>()
  let timer: NodeJS.Timeout | undefined

  /**
   * Sockets are destroyed without an error: postgres 3.4.9 forgets queries issued between a socket's error and its end.
   * They fail with CONNECTION_CLOSED.
   */
  function look(): void {
    for (const [socket, watched] of sockets) {
      if (socket.destroyed) sockets.delete(socket)
      else if (isIdle(socket, watched) || socket.bytesRead !== watched.read)
        noteAnswer(socket, watched)
      // Looks are counted, not time: after a pause of this process there may be answers that it has not read.
      else watched.silentMilliseconds += lookMilliseconds
    }
    const dead = find(({ silentMilliseconds }) => silentMilliseconds > silenceSeconds * 1000)
    if (dead.length > 0) {
      const idle = find((watched, socket) => socket.bytesRead > 0 && isIdle(socket, watched))
      for (const socket of idle) socket.destroy()
      // Later: whose statement fails now may ask again at once, and must not be given an idle one that closes.
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
    // Counters cannot show the order of an answer and the question after it.
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
