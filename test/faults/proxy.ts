// A TCP proxy between one process and PostgreSQL that fails in the ways networks and servers fail. It follows the
// protocol just far enough to know which statement a connection is about to execute.
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'

/**
 * What it does with connections:
 * `pass`; `refuse` (nobody listens); `hold` (packets are lost, and sent again when it is over); `hang_up` (accepted and
 * closed at once, as by a balancer without a server behind it).
 */
export type ProxyMode = 'pass' | 'refuse' | 'hold' | 'hang_up'

export interface FaultProxy {
  readonly url: string
  /** Connections that were asked for so far. */
  readonly attempts: number
  /** Times that a fault was worked on a connection. */
  readonly struck: number
  set(mode: ProxyMode): Promise<void>
  /** Each answer comes so many milliseconds later. */
  delay(milliseconds: number): void
  /**
   * The present connections with this application_name go silent for good; their ends are never told.
   * @param only.listening those alone that have executed LISTEN.
   */
  silence(name: RegExp, only?: { readonly listening: boolean }): void
  /** The next statements that match are executed; then the connection breaks before the answer comes back. */
  loseAnswers(statement: RegExp, count: number): void
  /** Each present connection breaks after it has sent so many more bytes. */
  cutAfter(bytes: () => number): void
  close(): Promise<void>
}

interface Link {
  readonly client: Socket
  readonly upstream: Socket
  name: string
  listening: boolean
  silent: boolean
  /** Bytes the client may still send; null is any number. */
  allowance: number | null
  /** The answer to come will not arrive. */
  doomed: boolean
  /** Answers that are held, and until when. */
  readonly late: Buffer[]
  dueAt: number
}

/** Starts a proxy in front of the server that `target` names. */
export async function startFaultProxy(target: string): Promise<FaultProxy> {
  const to = new URL(target)
  const links = new Set<Link>()
  let mode: ProxyMode = 'pass'
  let milliseconds = 0
  let attempts = 0
  let struck = 0
  let losing: { readonly statement: RegExp; left: number } | null = null

  const server = createServer((client) => {
    attempts += 1
    client.on('error', () => {})
    if (mode === 'hang_up') {
      struck += 1
      client.end()
      client.resume() // unread, it would never be closed
      return
    }
    const upstream = connect(Number(to.port), to.hostname)
    const link: Link = {
      client,
      upstream,
      name: '',
      listening: false,
      silent: false,
      allowance: null,
      doomed: false,
      late: [],
      dueAt: 0,
    }
    links.add(link)
    const read = createStatementReader((name) => (link.name = name))
    const end = (): void => {
      links.delete(link)
      client.destroy()
      upstream.destroy()
    }
    upstream.on('error', () => {})
    client.on('close', end)
    upstream.on('close', () => {
      if (!link.silent) end()
    })
    client.on('data', (chunk: Buffer) => {
      if (link.silent) return
      for (const statement of read(chunk)) {
        link.listening ||= /^\s*listen\s/i.test(statement)
        if (losing === null || losing.left === 0 || !losing.statement.test(statement)) continue
        losing.left -= 1
        link.doomed = true
      }
      if (link.allowance !== null && chunk.byteLength > link.allowance) {
        struck += 1
        upstream.end(chunk.subarray(0, link.allowance))
        client.destroy()
        return
      }
      if (link.allowance !== null) link.allowance -= chunk.byteLength
      upstream.write(chunk)
    })
    upstream.on('data', (chunk: Buffer) => {
      if (link.silent) return
      if (link.doomed) {
        struck += 1
        end()
      } else if (milliseconds === 0 && link.late.length === 0) {
        client.write(chunk)
      } else {
        // Late, but in order: what comes at once must not overtake what is held.
        link.late.push(chunk)
        const now = performance.now()
        link.dueAt = Math.max(link.dueAt, now + milliseconds)
        setTimeout(() => client.write(link.late.shift() ?? ''), link.dueAt - now)
      }
    })
    if (mode === 'hold') for (const socket of [client, upstream]) socket.pause()
  })
  const listen = async (port: number): Promise<number> => {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    return (server.address() as AddressInfo).port
  }
  const port = await listen(0)
  const url = new URL(target)
  url.port = String(port)
  const stop = async (): Promise<void> => {
    if (!server.listening) return
    const closed = once(server, 'close')
    server.close()
    struck += links.size
    for (const { client, upstream } of links) {
      client.destroy()
      upstream.destroy()
    }
    await closed
  }

  return {
    url: url.href,
    get attempts() {
      return attempts
    },
    get struck() {
      return struck
    },
    async set(next) {
      mode = next
      if (mode === 'refuse') await stop()
      else if (!server.listening) await listen(port)
      if (mode === 'hold') struck += links.size
      if (mode === 'hang_up') for (const { client } of links) client.destroy()
      for (const { client, upstream } of links) {
        for (const socket of [client, upstream]) {
          if (mode === 'hold') socket.pause()
          else socket.resume()
        }
      }
    },
    delay(given) {
      milliseconds = given
    },
    silence(name, { listening } = { listening: false }) {
      for (const link of links) {
        if (!name.test(link.name) || (listening && !link.listening)) continue
        struck += 1
        link.silent = true
      }
    },
    loseAnswers(statement, count) {
      losing = { statement, left: count }
    },
    cutAfter(bytes) {
      for (const link of links) link.allowance = bytes()
    },
    close: stop,
  }
}

/** Reads what a client sends, and returns the text of the statements that it executes with each chunk. */
function createStatementReader(onName: (name: string) => void): (chunk: Buffer) => string[] {
  const prepared = new Map<string, string>()
  let buffer = Buffer.alloc(0)
  let started = false

  const readMessage = (type: string, body: Buffer): string | null => {
    const [first = '', second = ''] = body.toString('utf8').split('\0', 2)
    if (type === 'Q') return first
    if (type === 'P') prepared.set(first, second)
    return type === 'B' ? (prepared.get(second) ?? null) : null
  }
  return (chunk) => {
    buffer = Buffer.concat([buffer, chunk])
    const executed: string[] = []
    for (;;) {
      const head = started ? 1 : 0
      if (buffer.byteLength < head + 4) return executed
      const length = buffer.readUInt32BE(head)
      if (buffer.byteLength < head + length) return executed
      const body = buffer.subarray(head + 4, head + length)
      if (started) {
        const statement = readMessage(String.fromCharCode(buffer[0] ?? 0), body)
        if (statement !== null) executed.push(statement)
      } else {
        started = true
        const parameters = body.subarray(4).toString('utf8').split('\0')
        onName(parameters[parameters.indexOf('application_name') + 1] ?? '')
      }
      buffer = buffer.subarray(head + length)
    }
  }
}
