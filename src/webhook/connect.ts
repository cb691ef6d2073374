// Opens a delivery's connection: resolves the name once, checks every address, connects to a checked address and verifies
// the certificate. This happens before HTTP, so that no HTTP library chooses the address.
import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'

import { untilAborted, withinSeconds } from '#abort'
import { readErrorCode } from '#error-text'
import { hostOf, isAllowedAddress, isSameAddress, portOf } from './address.ts'
import type { DeliverySettings } from './settings.ts'

/** How many addresses are tried before the receiver is unreachable. */
const maxAddresses = 4

/**
 * `forbidden`: the connection is not allowed; `unreachable`: it failed. The message begins with the step (`dns`, `address`,
 * `connect`, `tls`) and holds no address, because strangers must not learn internal DNS.
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
 * Runs a step with a time limit.
 * @throws {ConnectionError} `unreachable` when the time is up; it is also the reason of `work`'s signal.
 */
export function within<T>(
  step: string,
  seconds: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = (): Error =>
    new ConnectionError('unreachable', `${step}: no answer within ${seconds} s`)
  return withinSeconds(work, seconds, late, signal)
}

/**
 * Returns a connected, verified TLS socket.
 * @throws {ConnectionError} when the connection is forbidden, fails or takes too long; the signal's reason when it fires.
 */
export async function openConnection(
  url: URL,
  settings: DeliverySettings,
  signal: AbortSignal,
): Promise<TLSSocket> {
  const host = hostOf(url)
  const addresses = await resolveHost(host, settings, signal)
  // One forbidden address rejects the name: honest receivers have none, and attackers could influence a choice among several.
  const deniedRanges = settings.deniedRanges()
  if (
    !addresses.every((address) => isAllowedAddress(address, settings.allowedRanges, deniedRanges))
  ) {
    throw new ConnectionError('forbidden', 'address: the host is not a public address')
  }
  return within('connect', settings.connectSeconds, signal, async (limited) => {
    const tried = addresses.slice(0, maxAddresses)
    const socket = await connectToFirst(tried, portOf(url), settings, limited)
    return secure(socket, host, settings, limited)
  })
}

/** Resolves a name; an address literal is its own result. A `lookup` hook would not do: net.connect skips it for literals. */
async function resolveHost(
  host: string,
  settings: DeliverySettings,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (isIP(host) !== 0) return [host]
  return within('dns', settings.dnsSeconds, signal, async (limited) => {
    try {
      const addresses = await untilAborted(settings.resolve(host, limited), limited)
      if (addresses.length === 0) throw new ConnectionError('unreachable', 'dns: no address')
      return [...new Set(addresses)]
    } catch (error) {
      if (limited.aborted || error instanceof ConnectionError) throw error
      throw new ConnectionError('unreachable', `dns: ${codeOf(error)}`, error)
    }
  })
}

/** Tries the addresses one after the other, each with an equal share of the time. */
async function connectToFirst(
  addresses: readonly string[],
  port: number,
  settings: DeliverySettings,
  signal: AbortSignal,
): Promise<Socket> {
  const share = settings.connectSeconds / addresses.length
  let failure: unknown
  for (const address of addresses) {
    try {
      return await withinSeconds(
        (limited) => connectTo(address, port, limited),
        share,
        () => new ConnectionError('unreachable', 'connect: no answer'),
        signal,
      )
    } catch (error) {
      if (signal.aborted) throw signal.reason
      failure = error
    }
  }
  if (failure instanceof ConnectionError) throw failure
  throw new ConnectionError('unreachable', `connect: ${codeOf(failure)}`, failure)
}

async function connectTo(address: string, port: number, signal: AbortSignal): Promise<Socket> {
  const socket = connectTcp({ host: address, port, autoSelectFamily: false })
  await settle(socket, 'connect', signal)
  // A second check: the socket must be connected to the address that was checked.
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
    // Without a server name the certificate is compared with `host`. SNI takes names only (RFC 6066 §3).
    host,
    servername: isIP(host) === 0 ? host : '',
    secureContext: settings.trust,
    // Explicit, because NODE_TLS_REJECT_UNAUTHORIZED=0 would otherwise turn verification off.
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
 * Waits for a socket's event. The error listener remains afterwards, because a reset after the hand-over, when nothing else
 * listens yet, would end the process.
 */
async function settle(socket: Socket, event: string, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<undefined>()
  socket.once(event, () => resolve(undefined))
  socket.on('error', reject)
  // A peer that closes during the handshake does not always raise an error.
  socket.once('close', () => reject(Object.assign(new Error('closed'), { code: 'ECONNRESET' })))
  try {
    await untilAborted(promise, signal)
  } catch (error) {
    socket.destroy()
    throw error
  }
}

/** Returns an error's code, because messages of sockets and certificates can hold addresses and foreign text. */
export function codeOf(error: unknown): string {
  const code = readErrorCode(error)
  return typeof code === 'string' ? code : 'failed'
}
