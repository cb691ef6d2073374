// Asks whether a PostgreSQL is there, without a session: the question whether it speaks TLS is answered with one byte
// before anything else, by every server and whoever asks.
// https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-SSL
import { connect } from 'node:net'
import type { NetConnectOpts } from 'node:net'

/** Where a server listens. */
export type ServerAddress =
  { readonly path: string } | { readonly host: string; readonly port: number }

// Length 8, then the number that stands for SSLRequest in the place of a protocol version.
const sslRequest = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])
const patienceMilliseconds = 5000

/** Asks once; `onAnswer` is called if there is an answer, and nothing otherwise. */
export function probeServer(address: ServerAddress, onAnswer: () => void): void {
  const socket = connect(address as NetConnectOpts).unref()
  socket.on('error', () => {})
  socket.setTimeout(patienceMilliseconds, () => socket.destroy())
  socket.once('data', () => {
    socket.destroy()
    onAnswer()
  })
  socket.write(sslRequest)
}
