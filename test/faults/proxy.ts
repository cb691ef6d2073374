// A TCP proxy between one process and PostgreSQL that fails in the ways networks and servers fail. It parses the protocol
// only to know which statement a connection will execute next.
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'

/**
 * How the proxy treats connections: `pass`; `refuse` (nothing listens); `hold` (no packet passes until the mode ends);
 * `hang_up` (accepts and closes at once, as a balancer without a server behind it does).
 */
export type ProxyMode = 'pass' | 'refuse' | 'hold' | 'hang_up'

export interface FaultProxy {
  readonly url: string
  /** Connections requested so far. */
  readonly attempts: number
  /** How often a fault affected a connection. */
  readonly struck: number
  set(mode: ProxyMode): Promise<void>
  /** Delays each answer by so many milliseconds. */
  delay(milliseconds: number): void
  /**
   * Makes the present connections with this application_name silent for good, without closing either end.
   * @param only.listening only connections that have executed LISTEN.
   */
  silence(name: RegExp, only?: { readonly listening: boolean }): void
  /** Lets the next matching statements execute, then breaks their connection before the answer arrives. */
  loseAnswers(statement: RegExp, count: number): void
  /** Breaks each present connection after it has sent so many more bytes. */
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
  /** True when the next answer will not arrive. */
  doomed: boolean
  /** Held answers, and the time until which they are held. */
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
      client.resume() // An unread socket would never be closed.
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
        // Delayed, but in order: a chunk without delay must not overtake a held one.
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

/** Reads the bytes that a client sends, and returns the text of the statements that each chunk executes. */
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
