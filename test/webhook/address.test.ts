// Which addresses are public: both ends of every special range, their neighbours, and text that is no address.
import { networkInterfaces } from 'node:os'

import t from 'tap'

import { hasPublicHost, isAllowedAddress, ownAddresses, parseRanges } from '#webhook-address'

/** [first, last, the public neighbour below, the public neighbour above]; null where the neighbour is special too. */
const ranges: readonly (readonly [string, string, string | null, string | null])[] = [
  ['0.0.0.0', '0.255.255.255', null, '1.0.0.0'],
  ['10.0.0.0', '10.255.255.255', '9.255.255.255', '11.0.0.0'],
  ['100.64.0.0', '100.127.255.255', '100.63.255.255', '100.128.0.0'],
  ['127.0.0.0', '127.255.255.255', '126.255.255.255', '128.0.0.0'],
  ['168.63.129.16', '168.63.129.16', '168.63.129.15', '168.63.129.17'],
  ['169.254.0.0', '169.254.255.255', '169.253.255.255', '169.255.0.0'],
  ['172.16.0.0', '172.31.255.255', '172.15.255.255', '172.32.0.0'],
  ['192.0.0.0', '192.0.0.255', '191.255.255.255', '192.0.1.0'],
  ['192.0.2.0', '192.0.2.255', '192.0.1.255', '192.0.3.0'],
  ['192.31.196.0', '192.31.196.255', '192.31.195.255', '192.31.197.0'],
  ['192.52.193.0', '192.52.193.255', '192.52.192.255', '192.52.194.0'],
  ['192.88.99.0', '192.88.99.255', '192.88.98.255', '192.88.100.0'],
  ['192.168.0.0', '192.168.255.255', '192.167.255.255', '192.169.0.0'],
  ['192.175.48.0', '192.175.48.255', '192.175.47.255', '192.175.49.0'],
  ['198.18.0.0', '198.19.255.255', '198.17.255.255', '198.20.0.0'],
  ['198.51.100.0', '198.51.100.255', '198.51.99.255', '198.51.101.0'],
  ['203.0.113.0', '203.0.113.255', '203.0.112.255', '203.0.114.0'],
  ['224.0.0.0', '239.255.255.255', '223.255.255.255', null],
  ['240.0.0.0', '255.255.255.255', null, null],
  ['::', '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', null, '2000::'],
  ['2001::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff', '2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2001:200::'],
  ['2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff', '2001:db7:ffff:ffff:ffff:ffff:ffff:ffff', '2001:db9::'],
  ['2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2003::'],
  ['2620:4f:8000::', '2620:4f:8000:ffff:ffff:ffff:ffff:ffff', '2620:4f:7fff:ffff:ffff:ffff:ffff:ffff', '2620:4f:8001::'],
  ['3ffe::', '3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '3ffd:ffff:ffff:ffff:ffff:ffff:ffff:ffff', null],
  ['3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff', null, '3fff:1000::'],
  ['4000::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', null],
] // prettier-ignore

const isPublicAddress = (text: string): boolean => isAllowedAddress(text, [])

t.test('each special range is refused from first to last address, no further', async (t) => {
  for (const [first, last, below, above] of ranges) {
    t.equal(isPublicAddress(first), false, `${first} (first)`)
    t.equal(isPublicAddress(last), false, `${last} (last)`)
    if (below !== null) t.equal(isPublicAddress(below), true, `${below} (below ${first})`)
    if (above !== null) t.equal(isPublicAddress(above), true, `${above} (above ${last})`)
  }
})

t.test('public addresses are public', async (t) => {
  for (const address of [
    '1.1.1.1',
    '8.8.8.8',
    '93.184.216.34',
    '2606:4700:4700::1111',
    '2A00:1450:4001:81b::200e',
    '2620:4f:8001::1.2.3.4',
    '2001:4860:4860:0:0:0:0:8888',
  ]) {
    // prettier-ignore
    t.equal(isPublicAddress(address), true, address)
  }
})

t.test('an IPv6 spelling of an IPv4 address is refused, private or public', async (t) => {
  for (const inner of ['127.0.0.1', '10.0.0.1', '169.254.169.254', '8.8.8.8']) {
    for (const prefix of [
      '::',
      '::ffff:',
      '::ffff:0:',
      '64:ff9b::',
      '64:ff9b:1::',
      '2001:0:4136:e378:8000:63bf:',
      '0:0:0:0:0:FFFF:',
    ]) {
      // prettier-ignore
      t.equal(isPublicAddress(`${prefix}${inner}`), false, `${prefix}${inner}`)
    }
  }
  for (const address of [
    '::ffff:7f00:1',
    '64:ff9b::7f00:1',
    '2002:7f00:1::',
    '2002:a9fe:a9fe::1',
  ]) {
    t.equal(isPublicAddress(address), false, address)
  }
})

t.test('what is not exactly one address is refused', async (t) => {
  for (const text of [
    '',
    ' ',
    'localhost',
    'example.com',
    '8.8.8.8 ',
    ' 8.8.8.8',
    '8.8.8',
    '8.8.8.8.8',
    '08.8.8.8',
    '010.8.8.8',
    '0x8.8.8.8',
    '134744072',
    '8.8.8.256',
    '8.8.8.-1',
    '８.8.8.8',
    '8.8.8.8/32',
    '8.8.8.8:443',
    '8.8.8.8\0',
    '8.8.8.8\n',
    '[2606:4700::1]',
    '2606:4700::1%eth0',
    '2606:4700::1%',
    '2606:4700::1/64',
    '2606::4700::1',
    '2606:4700',
    '1:2:3:4:5:6:7:8:9',
    '2606:47000::1',
    ':::',
    ':',
  ]) {
    // prettier-ignore
    t.equal(isPublicAddress(text), false, JSON.stringify(text))
    t.equal(
      isAllowedAddress(text, parseRanges('0.0.0.0/0 ::/0').ranges),
      false,
      JSON.stringify(text),
    )
  }
})

t.test('ranges are read as CIDR or as single addresses, in one family each', async (t) => {
  const { ranges, issues } = parseRanges(' 10.1.0.0/16, 127.0.0.1\tfd00::/8,::1 ,192.168.128.0/17')
  t.same(issues, [])
  const allowed = ['10.1.0.0', '10.1.255.255', '127.0.0.1', 'fd00::', 'fdff::1', '::1', '192.168.128.0', '8.8.8.8'] // prettier-ignore
  for (const address of allowed) t.equal(isAllowedAddress(address, ranges), true, address)
  const refused = ['10.0.255.255', '10.2.0.0', '127.0.0.2', 'fc00::1', '::2', '192.168.127.255', '::ffff:127.0.0.1', '::10.1.0.0'] // prettier-ignore
  for (const address of refused) t.equal(isAllowedAddress(address, ranges), false, address)
  t.same(parseRanges(''), { ranges: [], issues: [] })
  const [compatible, mapped] = ['::/96', '::ffff:0:0/96'].map((text) => parseRanges(text).ranges)
  t.equal(isAllowedAddress('::10.1.0.0', compatible!), true, 'IPv4-compatible')
  t.equal(isAllowedAddress('::10.1.0.0', mapped!), false, 'IPv4-compatible is not mapped')
  t.equal(isAllowedAddress('::ffff:10.1.0.0', mapped!), true, 'IPv4-mapped')
  t.equal(isAllowedAddress('::ffff:10.1.0.0', compatible!), false, 'IPv4-mapped is not compatible')
})

t.test('every bad range is named and left out', async (t) => {
  const bad = ['10.0.0.0/33', '10.0.0.1/8', 'fd00::/129', 'fd00::1/8', '10.0.0.0/', '10.0.0.0/8/8', '10.0.0.0/-1', '10.0.0.0/+8', '10/8', 'localhost', '10.0.0.0/0x8'] // prettier-ignore
  const { ranges, issues } = parseRanges(`${bad.join(',')},10.0.0.0/8`)
  t.equal(ranges.length, 1)
  t.equal(issues.length, bad.length)
  for (const [index, entry] of bad.entries()) t.match(issues[index], JSON.stringify(entry))
})

t.test('a URL whose host is a literal in any spelling is judged as its address', async (t) => {
  const hosts = ['127.0.0.1', '127.1', '0x7f.1', '0177.0.0.1', '2130706433', '0', '127.0.0.1.', '①②⑦.0.0.1', '127。0。0。1', '[::1]', '[::ffff:10.0.0.1]', '%31%32%37.1', '10.0.0.1', '169.254.169.254', '0xa9fea9fe', '[fd00:ec2::254]'] // prettier-ignore
  for (const host of hosts) t.equal(hasPublicHost(new URL(`https://${host}/`), []), false, host)
  const names = ['example.com', 'example.com.', 'localhost', '127.0.0.1.nip.io', '8.8.8.8', '134744072', '[2606:4700:4700::1111]', 'münchen.example', 'a_b.example'] // prettier-ignore
  for (const host of names)
    t.equal(hasPublicHost(new URL(`https://${host}:8443/a?b`), []), true, host)
  const { ranges } = parseRanges('127.0.0.0/8')
  t.equal(hasPublicHost(new URL('https://127.1/'), ranges), true)
  t.equal(hasPublicHost(new URL('https://10.1/'), ranges), false)
  t.equal(hasPublicHost(new URL('https://example..com/'), []), false, 'an empty label')
  t.equal(hasPublicHost(new URL('https://127.0.0.1../'), []), false, 'dots after a literal')
  t.equal(
    hasPublicHost(new URL('foo://2130706433/'), []),
    false,
    'a scheme whose hosts are not folded',
  )
  t.equal(hasPublicHost(new URL('file:///etc/passwd'), []), false, 'no host')
})

t.test('a denied range takes away public addresses and gives way to an allowed one', async (t) => {
  const denied = parseRanges('8.8.8.0/24 2606:4700::/32').ranges
  t.equal(isAllowedAddress('8.8.8.8', [], denied), false)
  t.equal(isAllowedAddress('2606:4700::1', [], denied), false)
  t.equal(isAllowedAddress('8.8.4.4', [], denied), true)
  t.equal(isAllowedAddress('10.0.0.1', [], denied), false)
  t.equal(isAllowedAddress('8.8.8.8', parseRanges('8.8.8.8').ranges, denied), true)
})

t.test("the machine's own addresses are all of its interfaces'", async (t) => {
  const addresses = Object.values(networkInterfaces()).flatMap((entries) => entries ?? [])
  t.ok(addresses.length > 0)
  const own = ownAddresses()
  t.equal(own.length, addresses.length)
  for (const { address } of addresses) t.equal(isAllowedAddress(address, own), true, address)
})
