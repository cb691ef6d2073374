// Opens the one connection of a delivery: resolve once, judge every address, connect to an address that was judged, verify
// the certificate against the name. Done before HTTP starts, so that no HTTP library takes part in the choice of address.
import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'

import { readErrorCode } from '#error-text'
import { hostOf, isAllowedAddress, isSameAddress } from './address.ts'
import { createDeadline, DeadlineError, untilAborted } from './deadline.ts'
import type { DeliverySettings } from './settings.ts'

/** How many of a name's addresses are tried before the receiver counts as unreachable. */
const maxAddresses = 4

/**
 * Why there is no connection. `forbidden`: we would not make one; `unreachable`: it could not be made. The message starts
 * with the step (`dns`, `address`, `connect`, `tls`) and never holds an address: a name that only our own name servers know
 * must not tell a stranger where it points.
 */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
  readonly kind: 'forbidden' | 'unreachable'

  constructor(kind: 'forbidden' | 'unreachable', message: string, cause?: unknown) {
    super(message, { cause })
    this.kind = kind
  }
}

/**
 * Returns a connected, verified TLS socket to the URL's host.
 * @throws {ConnectionError} when it may not or cannot be made.
 * @throws {DeadlineError} when the DNS or connect limit is passed; the signal's reason when the signal fires.
 */
export async function openConnection(
  url: URL,
  settings: DeliverySettings,
  signal: AbortSignal,
): Promise<TLSSocket> {
  const host = hostOf(url)
  const port = url.port === '' ? 443 : Number(url.port)
  const addresses = await resolveHost(host, settings, signal)
  // One bad address condemns the name: an honest receiver has none, and a choice would be the attacker's to steer.
  const deniedRanges = settings.deniedRanges()
  if (
    !addresses.every((address) => isAllowedAddress(address, settings.allowedRanges, deniedRanges))
  ) {
    throw new ConnectionError('forbidden', 'address: the host is not a public address')
  }
  const deadline = createDeadline('connect', settings.connectSeconds, signal)
  try {
    const socket = await connectToFirst(
      addresses.slice(0, maxAddresses),
      port,
      settings,
      deadline.signal,
    )
    return await secure(socket, host, settings, deadline.signal)
  } finally {
    deadline.clear()
  }
}

/** A literal stands for itself: net.connect never calls a `lookup` for one, so no such hook could judge it. */
async function resolveHost(
  host: string,
  settings: DeliverySettings,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (isIP(host) !== 0) return [host]
  const deadline = createDeadline('dns', settings.dnsSeconds, signal)
  try {
    const addresses = await untilAborted(settings.resolve(host, deadline.signal), deadline.signal)
    if (addresses.length === 0) throw new ConnectionError('unreachable', 'dns: no address')
    return [...new Set(addresses)]
  } catch (error) {
    if (deadline.signal.aborted || error instanceof ConnectionError) throw error
    throw new ConnectionError('unreachable', `dns: ${codeOf(error)}`, error)
  } finally {
    deadline.clear()
  }
}

/** Tries one address after the other, each with its share of the time that is left. */
async function connectToFirst(
  addresses: readonly string[],
  port: number,
  settings: DeliverySettings,
  signal: AbortSignal,
): Promise<Socket> {
  const endsAt = performance.now() + settings.connectSeconds * 1000
  let failure: unknown
  for (const [index, address] of addresses.entries()) {
    const remainingSeconds = Math.max(0, endsAt - performance.now()) / 1000
    const share = createDeadline('connect', remainingSeconds / (addresses.length - index), signal)
    try {
      return await connectTo(address, port, share.signal)
    } catch (error) {
      if (signal.aborted) throw signal.reason
      failure = error
    } finally {
      share.clear()
    }
  }
  if (failure instanceof ConnectionError) throw failure
  const reason = failure instanceof DeadlineError ? 'no answer' : codeOf(failure)
  throw new ConnectionError('unreachable', `connect: ${reason}`, failure)
}

async function connectTo(address: string, port: number, signal: AbortSignal): Promise<Socket> {
  const socket = connectTcp({ host: address, port, autoSelectFamily: false })
  await settle(socket, 'connect', signal)
  // Belt and braces: what we are connected to is what was judged.
  if (!isSameAddress(socket.remoteAddress ?? '', address)) {
    socket.destroy()
    throw new ConnectionError('forbidden', 'address: connected elsewhere')
  }
  return socket
}

async function secure(
  socket: Socket,
  host: string,
  settings: DeliverySettings,
  signal: AbortSignal,
): Promise<TLSSocket> {
  const secured = connectTls({
    socket,
    // `host` is what the certificate is held against when there is no server name; SNI takes names only (RFC 6066 §3).
    host,
    servername: isIP(host) === 0 ? host : '',
    secureContext: settings.trust,
    // Said outright, or NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment would turn verification off.
    rejectUnauthorized: true,
    ALPNProtocols: ['http/1.1'],
  })
  try {
    await settle(secured, 'secureConnect', signal)
    return secured
  } catch (error) {
    socket.destroy()
    if (signal.aborted) throw error
    throw new ConnectionError('unreachable', `tls: ${codeOf(error)}`, error)
  }
}

/**
 * Waits for the socket's event. On failure the socket is destroyed. The error listener stays on purpose: a reset after the
 * hand-over, when nobody listens yet, would otherwise end the process.
 */
async function settle(socket: Socket, event: string, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<undefined>()
  socket.once(event, () => resolve(undefined))
  socket.on('error', reject)
  // A peer that closes politely in the middle of the handshake raises no error of its own on every path.
  socket.once('close', () => reject(Object.assign(new Error('closed'), { code: 'ECONNRESET' })))
  try {
    await untilAborted(promise, signal)
  } catch (error) {
    socket.destroy()
    throw error
  }
}

/** The machine-readable part of an error: messages of sockets and certificates can hold addresses and foreign text. */
export function codeOf(error: unknown): string {
  const code = readErrorCode(error)
  return typeof code === 'string' ? code : 'failed'
}
