// Plays the load balancer between a client and the web processes of a hosting platform: one address, the web processes in
// turn, and connections that break at a bad moment.
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import type { Random } from './random.ts'

export interface Balancer {
  /** The URL that clients call. */
  readonly url: string
  /** Connections broken so far. */
  readonly cuts: number
  close(): Promise<void>
}

/** The share of pieces at which a connection breaks. A piece from either side is mostly a whole request or answer. */
const cutShare = 1 / 50

/** Starts a balancer on a free port. @param ports of the web processes. */
export async function startBalancer(ports: readonly number[], random: Random): Promise<Balancer> {
  const open = new Set<Socket>()
  let asked = 0
  let cuts = 0
  const server = createServer((client) => {
    asked += 1
    const web = connect(ports[asked % ports.length] ?? 0, '127.0.0.1')
    const end = (): void => {
      for (const socket of [client, web]) {
        open.delete(socket)
        socket.destroy()
      }
    }
    /** Passes a piece on. At a cut it passes the whole piece, half of it or nothing, and closes both connections. */
    const relay = (to: Socket, piece: Buffer): void => {
      if (random.number() >= cutShare) {
        to.write(piece)
        return
      }
      cuts += 1
      const part = random.pick([0, 0.5, 1])
      if (part === 0) end()
      else to.write(piece.subarray(0, Math.floor(piece.byteLength * part)), end)
    }
    client.on('data', (piece: Buffer) => relay(web, piece))
    web.on('data', (piece: Buffer) => relay(client, piece))
    for (const socket of [client, web]) {
      open.add(socket)
      socket.on('error', () => {})
      socket.on('close', end)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get cuts() {
      return cuts
    },
    async close() {
      const closed = once(server, 'close')
      server.close()
      for (const socket of open) socket.destroy()
      await closed
    },
  }
}
