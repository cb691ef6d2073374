// A TCP proxy that can be stopped, frozen or made a black hole, to simulate each way in which a database is unreachable.
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'

export interface TcpProxy {
  /** The target's address with the proxy's port. */
  readonly url: string
  /** How many connections clients have opened so far. */
  readonly attempts: number
  /** Ends all connections and refuses new ones, as if the server had stopped. */
  stop(): Promise<void>
  /** Keeps connections, accepts new ones and passes nothing on, like a network that loses packets for a while. */
  freeze(): void
  /** Lets the present connections hang for ever, as if their other end had vanished. New connections work. */
  abandon(): void
  /**
   * Silently loses every byte of the present connections and of those made until `restore`. These connections stay dead even
   * afterwards, like those of a network that drops all packets behind a router that forgets its connections.
   */
  blackHole(): void
  /** Listens again, and passes on the bytes that were held back. */
  restore(): Promise<void>
  close(): Promise<void>
}

/**
 * Starts a proxy in front of the server that `target` names.
 * @param onSent called with each client's bytes in order; the object identifies the connection.
 */
export async function startTcpProxy(
  target: string,
  onSent: (connection: object, bytes: Buffer) => void = () => {},
): Promise<TcpProxy> {
  const to = new URL(target)
  const sockets = new Set<Socket>()
  const abandoned = new WeakSet<Socket>()
  let frozen = false
  let losing = false
  let attempts = 0
  const server = createServer((client) => {
    attempts += 1
    if (losing) {
      sockets.add(client)
      client.on('error', () => {}).on('close', () => sockets.delete(client))
      client.resume()
      return
    }
    const upstream = connect(Number(to.port), to.hostname)
    client.on('data', (chunk: Buffer) => onSent(client, chunk))
    for (const [from, into] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from)
      if (frozen) from.pause()
      from.on('data', (chunk: Buffer) => into.write(chunk))
      from.on('error', () => {})
      from.on('close', () => {
        sockets.delete(from)
        if (!abandoned.has(from)) into.destroy()
      })
    }
  })
  const listen = async (port: number): Promise<number> => {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    return (server.address() as AddressInfo).port
  }
  const port = await claimPort(listen)
  const url = new URL(target)
  url.port = String(port)
  const stop = async (): Promise<void> => {
    if (!server.listening) return
    const closed = once(server, 'close')
    server.close()
    for (const socket of sockets) socket.destroy()
    await closed
  }
  const abandon = (): void => {
    for (const socket of sockets) {
      socket.removeAllListeners('data').pause()
      socket.on('data', () => {})
      abandoned.add(socket)
    }
  }
  return {
    url: url.href,
    get attempts() {
      return attempts
    },
    stop,
    freeze() {
      frozen = true
      for (const socket of sockets) socket.pause()
    },
    abandon,
    blackHole() {
      losing = true
      abandon()
    },
    async restore() {
      frozen = false
      losing = false
      for (const socket of sockets) socket.resume()
      if (!server.listening) await listen(port)
    },
    close: stop,
  }
}

/** Listens on a port outside the kernel's range for clients, so that it is still free when the proxy listens again. */
async function claimPort(listen: (port: number) => Promise<number>): Promise<number> {
  for (;;) {
    try {
      return await listen(randomInt(20_000, 32_000))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    }
  }
}
