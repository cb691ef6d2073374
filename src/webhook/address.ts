// Which addresses a webhook may reach. Decided on parsed addresses and by default no: what cannot be parsed or is not
// plainly public is refused. Separate because the submit validator, the connector and the tests ask the same question.
// Sources: the IANA special-purpose address registries (RFC 6890, RFC 8190) for IPv4 and IPv6, 2025.
import { isIPv4, isIPv6 } from 'node:net'
import { networkInterfaces } from 'node:os'
import ipaddr from 'ipaddr.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6

/** A CIDR range: the network's first address and how many leading bits count. */
export interface AddressRange {
  readonly network: Address
  readonly prefixBits: number
}

/** What `parseRanges` found: the good ranges, and one sentence for each entry that is none. */
export interface ParsedRanges {
  readonly ranges: readonly AddressRange[]
  readonly issues: readonly string[]
}

/** Every IPv4 range where no public receiver can be. The rest of IPv4 is unicast and public. */
const nonPublicIPv4 = tableOf(
  '0.0.0.0/8', // this network; Linux connects 0.0.0.0 to loopback
  '10.0.0.0/8', // private
  '100.64.0.0/10', // carrier-grade NAT; holds Alibaba's metadata address
  '127.0.0.0/8', // loopback
  '168.63.129.16/32', // Azure's host agent: a public number that is answered inside the machine's own host
  '169.254.0.0/16', // link-local; holds the metadata addresses of most clouds
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments; holds Oracle's metadata address
  '192.0.2.0/24', // documentation
  '192.31.196.0/24', // AS112
  '192.52.193.0/24', // AMT
  '192.88.99.0/24', // 6to4 relays, deprecated
  '192.168.0.0/16', // private
  '192.175.48.0/24', // AS112
  '198.18.0.0/15', // benchmarking
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, and broadcast at its end
)

/**
 * The only part of IPv6 with public unicast addresses. Outside it, so refused without a row: unspecified, loopback,
 * IPv4-compatible, mapped and translated (::/8), NAT64 (64:ff9b::/96, 64:ff9b:1::/48), discard-only (100::/64), segment
 * routing (5f00::/16), unique local (fc00::/7), link-local (fe80::/10), site-local (fec0::/10), multicast (ff00::/8).
 */
const globalUnicastIPv6 = tableOf('2000::/3')

/** What is not public inside `globalUnicastIPv6`. */
const nonPublicIPv6 = tableOf(
  '2001::/23', // protocol assignments: Teredo, benchmarking, AMT, AS112, ORCHID, drone identifiers
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4: the next 32 bits are an IPv4 address, private ones too
  '2620:4f:8000::/48', // AS112
  '3ffe::/16', // 6bone, returned
  '3fff::/20', // documentation
)

/**
 * True for a public unicast address, false for every other address and for what is no address.
 * @param address dotted decimal IPv4 or IPv6 text, without brackets, port or zone.
 */
export function isPublicAddress(address: string): boolean {
  const parsed = parseAddress(address)
  return parsed !== null && isPublic(parsed)
}

function isPublic(address: Address): boolean {
  if (address.kind() === 'ipv4') return !isWithin(address, nonPublicIPv4)
  return isWithin(address, globalUnicastIPv6) && !isWithin(address, nonPublicIPv6)
}

/**
 * True for an address in a range that the operator allowed by name, and for a public one that is in no denied range.
 */
export function isAllowedAddress(
  address: string,
  allowedRanges: readonly AddressRange[],
  deniedRanges: readonly AddressRange[] = [],
): boolean {
  const parsed = parseAddress(address)
  if (parsed === null) return false
  return isWithin(parsed, allowedRanges) || (isPublic(parsed) && !isWithin(parsed, deniedRanges))
}

/** True when both texts spell one address. */
export function isSameAddress(one: string, other: string): boolean {
  const [parsed, otherParsed] = [parseAddress(one), parseAddress(other)]
  return parsed !== null && otherParsed !== null && isWithin(parsed, [singleOf(otherParsed)])
}

/** This machine's own addresses, as they are now: what listens on them may count on a firewall that we stand behind. */
export function ownAddresses(): readonly AddressRange[] {
  const interfaces = Object.values(networkInterfaces()).flatMap((entries) => entries ?? [])
  return parseRanges(interfaces.map(({ address }) => address).join(' ')).ranges
}

/**
 * False when the URL's host is the literal of an address that may not be reached, in whatever spelling (the URL parser has
 * folded hexadecimal, octal, short and full-width forms by then). A name is true: it is judged when it has been resolved.
 * Only `http:` and `https:` hosts are folded by the parser, so any other scheme is false.
 */
export function hasPublicHost(url: URL, allowedRanges: readonly AddressRange[]): boolean {
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return false
  const host = hostOf(url)
  return parseAddress(host) === null ? isName(host) : isAllowedAddress(host, allowedRanges)
}

/** The URL's host without the brackets of an IPv6 literal and without the final dot of a name. */
export function hostOf(url: URL): string {
  const { hostname } = url
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname.replace(/\.$/, '')
}

/**
 * Reads a list of CIDR ranges and single addresses, separated by commas or white space, such as `10.0.0.0/8, fd00::/8`.
 * An IPv4 range never covers an IPv6 spelling of the same address. Bad entries are named and left out.
 */
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

/** Null for anything that is not exactly one address, an IPv6 zone included: that picks an interface of ours. */
function parseAddress(text: string): Address | null {
  if (isIPv4(text)) return ipaddr.IPv4.parse(text)
  if (!isIPv6(text) || text.includes('%')) return null
  // The library takes ::1.2.3.4, the deprecated spelling, for ::ffff:1.2.3.4 (ipaddr.js 2.5.0).
  return ipaddr.IPv6.parse(text.replace(/^::(?=\d+\.)/, '0::'))
}

/** A range, or what is wrong with it. */
function parseRange(entry: string): AddressRange | string {
  const [text = '', prefix, ...rest] = entry.split('/')
  const address = parseAddress(text)
  if (address === null || rest.length > 0) return 'is not an address or a CIDR range'
  const single = singleOf(address)
  if (prefix === undefined) return single
  const prefixBits = Number(prefix)
  if (!/^\d{1,3}$/.test(prefix) || prefixBits > single.prefixBits) {
    return `has a prefix length that is not 0 to ${single.prefixBits}`
  }
  // 10.1.2.3/8 may be meant as one address or as sixteen million: ask rather than guess.
  if (!isWithin(findFirst(address, prefixBits), [single]))
    return `has bits set after the first ${prefixBits}`
  return { network: address, prefixBits }
}

function singleOf(address: Address): AddressRange {
  return { network: address, prefixBits: address.toByteArray().length * 8 }
}

/** The first address of the network that this one lies in. */
function findFirst(address: Address, prefixBits: number): Address {
  const family = address.kind() === 'ipv4' ? ipaddr.IPv4 : ipaddr.IPv6
  return family.networkAddressFromCIDR(`${address.toNormalizedString()}/${prefixBits}`)
}

function isWithin(address: Address, ranges: readonly AddressRange[]): boolean {
  // The library throws at two families.
  return ranges.some(
    ({ network, prefixBits }) =>
      network.kind() === address.kind() && address.match(network, prefixBits),
  )
}

/** A host that is no address: no empty label, none of an address's signs, and no number at its end. */
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
