// Counts the statements that processes send to PostgreSQL by reading the protocol between them, so that every library and
// every prepared statement is counted. https://www.postgresql.org/docs/18/protocol-message-formats.html
import { startTcpProxy } from './tcp-proxy.ts'
import type { TcpProxy } from './tcp-proxy.ts'

/** A proxy that counts statements. */
export interface StatementCounter extends Pick<TcpProxy, 'url' | 'close'> {
  /** Returns how often each text was executed since the last call. White space in a text becomes one blank. */
  take(): ReadonlyMap<string, number>
  /** Returns how often a SQL function was called since the last call, and forgets all counts. */
  takeCalls(name: string): number
}

/** Starts a proxy in front of the server that `target` names. */
export async function startStatementCounter(target: string): Promise<StatementCounter> {
  let counts = new Map<string, number>()
  const readers = new WeakMap<object, (bytes: Buffer) => void>()
  const onStatement = (text: string): void => {
    const name = text.replaceAll(/\s+/g, ' ').trim()
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  const proxy = await startTcpProxy(target, (connection, bytes) => {
    const read = readers.get(connection) ?? createReader(onStatement)
    readers.set(connection, read)
    read(bytes)
  })
  const take = (): ReadonlyMap<string, number> => {
    const taken = counts
    counts = new Map()
    return taken
  }
  return {
    url: proxy.url,
    close: proxy.close,
    take,
    takeCalls(name) {
      const calls = [...take()].filter(([text]) => text.includes(`.${name}(`))
      return calls.reduce((sum, [, count]) => sum + count, 0)
    },
  }
}

/** Reads one client's bytes: the start-up packet, then messages of a type, a length and a body. */
function createReader(onStatement: (text: string) => void): (bytes: Buffer) => void {
  const prepared = new Map<string, string>()
  const portals = new Map<string, string>()
  let rest: Buffer = Buffer.alloc(0)
  let typeBytes = 0
  return (bytes) => {
    rest = Buffer.concat([rest, bytes])
    while (rest.length >= typeBytes + 4) {
      const end = typeBytes + rest.readUInt32BE(typeBytes)
      if (rest.length < end) return
      const [first = '', second = ''] = rest.toString('utf8', typeBytes + 4, end).split('\0', 2)
      const type = typeBytes === 0 ? 'start-up' : String.fromCharCode(rest[0] ?? 0)
      if (type === 'P') prepared.set(first, second)
      if (type === 'B') portals.set(first, prepared.get(second) ?? '')
      if (type === 'E') onStatement(portals.get(first) ?? '')
      if (type === 'Q') onStatement(first)
      rest = rest.subarray(end)
      typeBytes = 1
    }
  }
}
