// The operator's settings for sending webhooks, and the resolver of receivers' names, which settings can replace. It asks name
// servers directly (c-ares), because dns.lookup would occupy one of four blocking threads, read /etc/hosts, and try search
// domains.
import { X509Certificate } from 'node:crypto'
import { Resolver } from 'node:dns/promises'
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls'

import { withinSeconds } from '#abort'
import { ownAddresses, type AddressRange } from './address.ts'

/** Settings that are the same for all deliveries. */
export interface DeliverySettings {
  readonly version: string
  /** Non-public ranges that may be reached. */
  readonly allowedRanges: readonly AddressRange[]
  /** Public ranges that may not be reached, unless in `allowedRanges`; default: `ownAddresses`. */
  readonly deniedRanges: () => readonly AddressRange[]
  readonly allowedPorts: readonly number[]
  readonly trust: SecureContext
  /** Called once per attempt. Its addresses are checked and then used unchanged. */
  readonly resolve: Resolve
  readonly totalSeconds: number
  readonly dnsSeconds: number
  /** TLS included. */
  readonly connectSeconds: number
  /** How much of an answer's body is kept. */
  readonly snippetBytes: number
}

export function createDeliverySettings(
  settings: Partial<DeliverySettings> & Pick<DeliverySettings, 'version'>,
): DeliverySettings {
  return {
    allowedRanges: [],
    deniedRanges: ownAddresses,
    allowedPorts: [443],
    trust: settings.trust ?? trustAuthorities(''),
    resolve: settings.resolve ?? createResolver(),
    totalSeconds: 15,
    dnsSeconds: 5,
    connectSeconds: 5,
    snippetBytes: 4096,
    ...settings,
  }
}

/**
 * Trusts Node's authorities and those in `pem`. Call it once, because reading the root list takes tens of milliseconds.
 * @throws {TypeError} when `pem` holds text but no certificate, or one that cannot be read.
 */
export function trustAuthorities(pem: string): SecureContext {
  const extra = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? []
  if (pem.trim() !== '' && extra.length === 0) throw new TypeError('no PEM certificate in the text')
  for (const [index, certificate] of extra.entries()) {
    try {
      // createSecureContext silently skips certificates that it cannot read.
      void new X509Certificate(certificate)
    } catch (cause) {
      throw new TypeError(`PEM certificate ${index + 1} cannot be read`, { cause })
    }
  }
  const ca = extra.length === 0 ? {} : { ca: [...getCACertificates('default'), ...extra] }
  return createSecureContext({ ...ca, minVersion: 'TLSv1.2' })
}

/** Returns every address, in the order in which to try them. Rejects when there is none. */
type Resolve = (name: string, signal: AbortSignal) => Promise<readonly string[]>

interface ResolverOptions {
  /** `address` or `address:port`; the system's name servers when left out. */
  readonly servers?: readonly string[]
  /** The time for the slower of the two queries; 4 when left out, less than the DNS limit. */
  readonly patienceSeconds?: number
}

/**
 * Queries A and AAAA at once. IPv4 comes first, because hosts without IPv6 are commoner. One answer is enough, because many
 * name servers do not answer AAAA.
 */
export function createResolver({ servers, patienceSeconds = 4 }: ResolverOptions = {}): Resolve {
  const lookUp = async (name: string, signal: AbortSignal): ReturnType<Resolve> => {
    // A new resolver each time has no cache, and its cancel() ends this look-up only.
    const resolver = new Resolver({ timeout: 1500, tries: 2 })
    if (servers !== undefined) resolver.setServers(servers)
    signal.addEventListener('abort', () => resolver.cancel(), { once: true })
    const [ipv4, ipv6] = await Promise.allSettled([
      resolver.resolve4(name),
      resolver.resolve6(name),
    ])
    const addresses = [ipv4, ipv6].flatMap((answer) =>
      answer.status === 'fulfilled' ? answer.value : [],
    )
    if (addresses.length === 0 && ipv4.status === 'rejected') throw ipv4.reason
    return addresses
  }
  const late = (): Error => new Error('the name servers do not answer')
  return (name, signal) =>
    withinSeconds((limited) => lookUp(name, limited), patienceSeconds, late, signal)
}
