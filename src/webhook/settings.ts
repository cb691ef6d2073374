// The operator's settings for sending webhooks.
import { X509Certificate } from 'node:crypto'
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls'

import { ownAddresses, type AddressRange } from './address.ts'
import { createResolver, type Resolve } from './resolve.ts'

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
