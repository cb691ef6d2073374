// Asks whether a PostgreSQL is there, without a session: it answers an SSLRequest with one byte, whoever asks.
// https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-SSL
import { connect } from 'node:net'
import type { NetConnectOpts } from 'node:net'

export type ServerAddress =
  { readonly path: string } | { readonly host: string; readonly port: number }

// Length 8, then SSLRequest's code in place of a protocol version.
const sslRequest = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])
const patienceMilliseconds = 5000

/** Calls `onAnswer` if there is an answer; failures are silent. */
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
