// What the operator may set about sending, with the defaults that are safe. Read once at start and handed to every call.
import { X509Certificate } from 'node:crypto'
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls'

import { ownAddresses, type AddressRange } from './address.ts'
import { createResolver, type Resolve } from './resolve.ts'

/** Everything about sending that is the same for all deliveries. */
export interface DeliverySettings {
  /** Our version, for the user agent. */
  readonly version: string
  /** Non-public ranges that may be reached all the same, from `parseRanges`. */
  readonly allowedRanges: readonly AddressRange[]
  /** Public ranges that may not be reached, asked for at each attempt; `ownAddresses` when left out. `allowedRanges` wins. */
  readonly deniedRanges: () => readonly AddressRange[]
  /** Ports that may be reached. */
  readonly allowedPorts: readonly number[]
  /** The certificate authorities to trust, from `trustAuthorities`. */
  readonly trust: SecureContext
  /** How names become addresses. Called once a delivery; its answer is judged and then used as it is. */
  readonly resolve: Resolve
  /** Limit of the whole attempt. */
  readonly totalSeconds: number
  /** Limit of resolving the name. */
  readonly dnsSeconds: number
  /** Limit of connecting, TLS included, over all addresses that are tried. */
  readonly connectSeconds: number
  /** How much of an answer's body is read before the connection is dropped. */
  readonly snippetBytes: number
}

/**
 * Fills in the defaults: port 443, public addresses that are not our own, the system's authorities and name servers, 15 s in all, 5 s for
 * DNS, 5 s to connect, 4 KiB of answer.
 */
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
 * Trusts the authorities that Node trusts, and those in `pem` besides (any number of certificates; `''` for none). Made once:
 * reading the whole root list takes tens of milliseconds.
 * @throws {TypeError} when `pem` holds text but no certificate, or one that cannot be read.
 */
export function trustAuthorities(pem: string): SecureContext {
  const extra = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? []
  if (pem.trim() !== '' && extra.length === 0) throw new TypeError('no PEM certificate in the text')
  for (const [index, certificate] of extra.entries()) {
    try {
      // createSecureContext skips what it cannot read without a word.
      void new X509Certificate(certificate)
    } catch (cause) {
      throw new TypeError(`PEM certificate ${index + 1} cannot be read`, { cause })
    }
  }
  const ca = extra.length === 0 ? {} : { ca: [...getCACertificates('default'), ...extra] }
  return createSecureContext({ ...ca, minVersion: 'TLSv1.2' })
}
