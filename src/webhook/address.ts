// Decides which addresses a webhook may reach. An address that cannot be parsed or is not plainly public is refused. ipaddr.js
// has the IANA special-purpose address registries (RFC 6890, RFC 8190); the test names each of their ranges.
import { isIPv4, isIPv6 } from 'node:net'
import { networkInterfaces } from 'node:os'
import ipaddr from 'ipaddr.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6

/** A CIDR range. */
export type AddressRange = readonly [network: Address, prefixBits: number]

/** `issues`: one sentence for each bad entry. */
interface ParsedRanges {
  readonly ranges: readonly AddressRange[]
  readonly issues: readonly string[]
}

/** Ranges that are not public although ipaddr.js calls them unicast. */
const furtherNonPublic = tableOf(
  '168.63.129.16/32', // Azure's host agent: a public number answered by the machine's own host
  '3ffe::/16', // 6bone, returned
)

/** The only part of IPv6 with public unicast. */
const globalUnicastIPv6 = tableOf('2000::/3')

function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast' || isWithin(address, furtherNonPublic)) return false
  return address.kind() === 'ipv4' || isWithin(address, globalUnicastIPv6)
}

/** True for an address in a range that the operator allowed, and for a public address in no denied range. */
export function isAllowedAddress(
  address: string,
  allowedRanges: readonly AddressRange[],
  deniedRanges: readonly AddressRange[] = [],
): boolean {
  const parsed = parseAddress(address)
  if (parsed === null) return false
  return isWithin(parsed, allowedRanges) || (isPublic(parsed) && !isWithin(parsed, deniedRanges))
}

export function isSameAddress(one: string, other: string): boolean {
  const text = parseAddress(one)?.toNormalizedString()
  return text !== undefined && text === parseAddress(other)?.toNormalizedString()
}

/** Returns this machine's present addresses: its services may rely on a firewall, and this process is behind it. */
export function ownAddresses(): readonly AddressRange[] {
  const interfaces = Object.values(networkInterfaces()).flatMap((entries) => entries ?? [])
  return parseRanges(interfaces.map(({ address }) => address).join(' ')).ranges
}

/**
 * True for a name, whose addresses are checked once it is resolved, and for an allowed address. False for schemes whose
 * hosts the URL parser does not normalize (hexadecimal, octal, short, full-width).
 */
export function hasPublicHost(url: URL, allowedRanges: readonly AddressRange[]): boolean {
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return false
  const host = hostOf(url)
  return parseAddress(host) === null ? isName(host) : isAllowedAddress(host, allowedRanges)
}

/** Returns the host without an IPv6 literal's brackets or a name's final dot. */
export function hostOf(url: URL): string {
  const { hostname } = url
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname.replace(/\.$/, '')
}

/** Returns the port of an https: URL. */
export function portOf({ port }: URL): number {
  return port === '' ? 443 : Number(port)
}

/** Parses ranges separated by commas or white space. An IPv4 range never covers an IPv6 spelling of the same address. */
export function parseRanges(text: string): ParsedRanges {
  const ranges: AddressRange[] = []
  const issues: string[] = []
  for (const entry of text.split(/[\s,]+/)) {
    if (entry === '') continue
    const range = parseRange(entry)
    if (typeof range === 'string') issues.push(`${JSON.stringify(entry)} ${range}`)
    else ranges.push(range)
  }
  return { ranges, issues }
}

/** Null unless the text is one address. IPv6 zones are refused, because a zone selects an interface of this machine. */
function parseAddress(text: string): Address | null {
  if (isIPv4(text)) return ipaddr.IPv4.parse(text)
  if (!isIPv6(text) || text.includes('%')) return null
  // ipaddr.js 2.5.0 takes ::1.2.3.4, the deprecated spelling, for ::ffff:1.2.3.4.
  return ipaddr.IPv6.parse(text.replace(/^::(?=\d+\.)/, '0::'))
}

function parseRange(entry: string): AddressRange | string {
  const [text = '', prefix, ...rest] = entry.split('/')
  const address = parseAddress(text)
  if (address === null || rest.length > 0) return 'is not an address or a CIDR range'
  const [family, most] = address.kind() === 'ipv4' ? [ipaddr.IPv4, 32] : [ipaddr.IPv6, 128]
  if (prefix === undefined) return [address, most]
  const prefixBits = Number(prefix)
  if (!/^\d{1,3}$/.test(prefix) || prefixBits > most)
    return `has a prefix length that is not 0 to ${most}`
  // 10.1.2.3/8 may mean one address or sixteen million.
  const spelled = address.toNormalizedString()
  const first = family.networkAddressFromCIDR(`${spelled}/${prefixBits}`)
  if (first.toNormalizedString() !== spelled) return `has bits set after the first ${prefixBits}`
  return [address, prefixBits]
}

function isWithin(address: Address, ranges: readonly AddressRange[]): boolean {
  // The library throws when the two addresses are of different families.
  return ranges.some(
    ([network, prefixBits]) =>
      network.kind() === address.kind() && address.match(network, prefixBits),
  )
}

/** True for a host without empty labels, without characters of address literals, and without a number as last label. */
function isName(host: string): boolean {
  const labels = host.split('.')
  return (
    !labels.includes('') &&
    !/[[\]:%]/.test(host) &&
    !/^(\d+|0x[\da-f]*)$/i.test(labels.at(-1) ?? '')
  )
}

function tableOf(...rows: string[]): readonly AddressRange[] {
  const { ranges, issues } = parseRanges(rows.join(' '))
  if (issues.length > 0) throw new Error(`address table: ${issues.join('; ')}`)
  return ranges
}
