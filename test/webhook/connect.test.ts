// Forbidden receivers: over two hundred ways to ask for an inside address, each tried for real. Listeners on the inside
// addresses count connections, and Node's diagnostics channel counts every socket of the process: both must stay at 0.
import type { ServerResponse } from 'node:http'
import { subscribe } from 'node:diagnostics_channel'

import t from 'tap'

import { createDeliverySettings, parseRanges, sendDelivery, trustAuthorities } from '#webhook'
import type { DeliveryOutcome, DeliverySettings } from '#webhook'

import { createAuthority } from './certificate.ts'
import { createListener, createReceiver, type Listener } from './receiver.ts'

const authority = createAuthority()
const identity = authority.issue(['DNS:receiver.test', 'IP:127.0.0.2'])
// 127.0.0.2 stands for the public internet, by an allowed range of one address. The rest of the machine is inside.
const { receiver, inside } = await listen()
const { port } = receiver
// A machine may have no IPv6.
const ipv6 = await createListener(() => {}, '::1', port).catch(() => null)
if (ipv6 !== null) inside.push(ipv6)

/** Listens at one port of several addresses, of which another process may have one already. */
async function listen(): Promise<{
  readonly receiver: Awaited<ReturnType<typeof createReceiver>>
  readonly inside: Listener[]
}> {
  const receiver = await createReceiver(identity, (response) => response.end('ok'), '127.0.0.2')
  const inside: Listener[] = []
  try {
    const secret = (response: ServerResponse): unknown => response.end('secret')
    inside.push(await createReceiver(identity, secret, '127.0.0.1', receiver.port))
    inside.push(await createListener(() => {}, '127.0.0.3', receiver.port))
    return { receiver, inside }
  } catch (error) {
    await Promise.all([receiver, ...inside].map((listener) => listener.close()))
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    return listen()
  }
}

const hits = (): number => inside.reduce((sum, listener) => sum + listener.connections(), 0)

let socketsMade = 0
subscribe('net.client.socket', () => (socketsMade += 1))

t.teardown(async () => {
  await Promise.all([receiver, ...inside].map((listener) => listener.close()))
  authority.remove()
})

let asked: string[] = []
const shared = createDeliverySettings({
  version: '0',
  trust: trustAuthorities(authority.pem),
  allowedRanges: parseRanges('127.0.0.2').ranges,
  allowedPorts: [port],
})

/** Sends to the URL with a name server that gives these answers, one after the other; the last one repeats. */
async function send(
  url: string,
  answers: readonly (readonly string[])[] = [],
  change: Partial<DeliverySettings> = {},
): Promise<DeliveryOutcome> {
  asked = []
  const resolve = async (name: string): Promise<readonly string[]> => {
    asked.push(name)
    return answers[Math.min(asked.length, answers.length) - 1] ?? []
  }
  const settings = { ...shared, resolve, ...change }
  return sendDelivery({ id: 'msg_1', url, body: Buffer.from('{}'), secret: 's' }, settings)
}

const literals = [
  // Loopback in every spelling that the URL parser or a C library reads.
  '127.0.0.1', '127.0.0.1.', '127.1', '127.0.1', '127.000.000.001', '0177.0.0.1', '0177.0.0.01', '00000177.1', '017700000001', '0x7f.0.0.1', '0x7f.1',
  '0x7F.0x0.0x0.0x1', '0x7f000001', '0X7F000001', '2130706433', '127.0.0.0x1', '127.0x1', '127.0.0.3', '127.0.0.53', '127.1.2.3', '127.127.127.127', '127.255.255.255',
  '①②⑦.⓪.⓪.①', '１２７.０.０.１', '127。0。0。1', '127．0．0．1', '127｡0｡0｡1', '%31%32%37.0.0.1', '127%2e0%2e0%2e1', '127.0.0.%31', '0x7f。1', '１２７.1',
  '0', '0.0.0.0', '0.0.0.1', '0.1.2.3', '0x0', '00', '0x', '0.0', '0.255.255.255', '%30',
  '[::1]', '[0:0:0:0:0:0:0:1]', '[0000:0000:0000:0000:0000:0000:0000:0001]', '[::]', '[0::0]', '[::0.0.0.1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::FFFF:7F00:0001]',
  '[0:0:0:0:0:ffff:127.0.0.1]', '[::127.0.0.1]', '[::7f00:1]', '[::ffff:0:127.0.0.1]', '[::ffff:0.0.0.0]', '[64:ff9b::127.0.0.1]', '[64:ff9b::7f00:1]', '[64:ff9b:1::7f00:1]',
  '[64:ff9b:1:ffff::127.0.0.1]', '[2002:7f00:1::]', '[2002:7f00:0001::1]', '[2001:0:7f00:1::]', '[2001::80ff:fffe]', '[::2]', '[::ffff:127.0.0.3]',
  // Metadata services and platform agents.
  '169.254.169.254', '169.254.169.254.', '2852039166', '0xa9fea9fe', '0xa9.0xfe.0xa9.0xfe', '0251.0376.0251.0376', '169.254.43518', '169.16689662', '0251.254.169.254', '169。254。169。254',
  '①⑥⑨.②⑤④.①⑥⑨.②⑤④', '[::ffff:169.254.169.254]', '[::ffff:a9fe:a9fe]', '[::169.254.169.254]', '[64:ff9b::169.254.169.254]', '[64:ff9b::a9fe:a9fe]', '[2002:a9fe:a9fe::]',
  '[fd00:ec2::254]', '[fd20:ce::254]', '[fe80::a9fe:a9fe]', '100.100.100.200', '192.0.0.192', '168.63.129.16', '169.254.170.2', '169.254.0.23', '[::ffff:168.63.129.16]',
  // Private and special IPv4.
  '10.0.0.1', '10.1', '10.255.255.255', '012.0.0.1', '0xa.1', '167772161', '172.16.0.1', '172.31.255.254', '172.1048577', '192.168.0.1', '192.168.1', '192.168.257', '0xc0a80001', '3232235521',
  '100.64.0.1', '100.127.255.255', '192.0.0.1', '192.0.0.170', '192.0.2.1', '192.31.196.1', '192.52.193.1', '192.88.99.1', '192.175.48.1', '198.18.0.1', '198.19.255.255', '198.51.100.1', '203.0.113.1',
  '224.0.0.1', '224.0.0.251', '239.255.255.250', '240.0.0.1', '250.1.2.3', '255.255.255.254', '255.255.255.255', '4294967295', '0xffffffff', '037777777777',
  // Special IPv6.
  '[fe80::1]', '[febf::1]', '[fec0::1]', '[feff::1]', '[fc00::1]', '[fd12:3456:789a::1]', '[fdff:ffff::1]', '[ff02::1]', '[ff05::2]', '[ff0e::1]', '[100::1]', '[100:0:0:1::1]', '[5f00::1]',
  '[2001:db8::1]', '[2001:2::1]', '[2001:3::1]', '[2001:4:112::1]', '[2001:10::1]', '[2001:20::1]', '[2001:30::1]', '[2001:1::1]', '[2620:4f:8000::1]', '[3ffe::1]', '[3fff::1]', '[4000::1]', '[8000::1]', '[200::1]', '[1::1]',
  '[::ffff:10.0.0.1]', '[::ffff:192.168.0.1]', '[64:ff9b::10.0.0.1]', '[2002:a00:1::1]', '[2002:c0a8:1::]', '[::ffff:8.8.8.8]', '[::ffff:127.0.0.2]', '[::127.0.0.2]', '[64:ff9b::7f00:2]',
  // No host, or a host that the parser refuses. A sender that repaired these would be vulnerable.
  '', '[::1', '::1', '[::1%25lo]', '[fe80::1%eth0]', '1.2.3.4.5', '256.0.0.1', '127.0.0.1.1', '4294967296', '0x7f.0.0.0.1', '127.0.0.08', '[127.0.0.1]', '[::1]x', '127.0.0.1 ', 'a b', '127.0.0.1\\@receiver.test', '%00', 'receiver.test%2f',
] // prettier-ignore

const answers: readonly (readonly string[])[] = [
  // One answer.
  ['127.0.0.1'], ['127.0.0.3'], ['127.8.8.8'], ['0.0.0.0'], ['::1'], ['::'], ['::ffff:127.0.0.1'], ['::ffff:7f00:1'], ['::127.0.0.1'], ['::ffff:0:127.0.0.1'], ['64:ff9b::7f00:1'], ['64:ff9b:1::7f00:1'], ['2002:7f00:1::'],
  ['10.0.0.1'], ['172.16.0.1'], ['192.168.0.1'], ['100.64.0.1'], ['169.254.169.254'], ['::ffff:169.254.169.254'], ['fe80::1'], ['fd00:ec2::254'], ['fec0::1'], ['ff02::1'], ['100::1'], ['5f00::1'], ['2001:db8::1'], ['2001::1'],
  ['192.0.2.1'], ['198.18.0.1'], ['198.51.100.1'], ['203.0.113.1'], ['224.0.0.1'], ['240.0.0.1'], ['255.255.255.255'], ['168.63.129.16'], ['192.0.0.192'], ['3fff::1'], ['::ffff:127.0.0.2'],
  // Mixed: the allowed receiver and a forbidden address, in any position and family.
  ['127.0.0.2', '127.0.0.1'], ['127.0.0.1', '127.0.0.2'], ['127.0.0.2', '::1'], ['::1', '127.0.0.2'], ['127.0.0.2', '10.0.0.1'], ['127.0.0.2', '8.8.8.8', '169.254.169.254'], ['127.0.0.2', '127.0.0.2', '127.0.0.3'],
  ['127.0.0.2', '::ffff:127.0.0.1'], ['127.0.0.2', 'fd00::1'], ['127.0.0.2', '0.0.0.0'], ['127.0.0.2', '127.0.0.2', '127.0.0.2', '127.0.0.2', '127.0.0.1'], ['127.0.0.2', '8.8.8.8', '1.1.1.1', '9.9.9.9', '8.8.4.4', '::1'],
  // No addresses at all, from a resolver that is broken or lies.
  ['localhost'], [''], ['127.0.0.2', ''], ['127.0.0.2 '], ['127.2'], ['2130706434'], ['0x7f.2'], ['[::1]'], ['127.0.0.2:80'], ['127.0.0.2%lo'], ['::1%lo'], ['fe80::1%eth0'], ['127.0.0.2/32'], ['inside.test'], ['127.0.0.2\0'], ['/run/socket'],
] // prettier-ignore

t.test('an address inside is refused in every spelling before a socket is made', async (t) => {
  const before = socketsMade
  for (const host of literals) {
    const outcome = await send(`https://${host}:${port}/hook`, [['127.0.0.2']])
    if (outcome.kind !== 'forbidden') t.fail(`${JSON.stringify(host)} is ${outcome.kind}`)
    if (asked.length > 0) t.fail(`${JSON.stringify(host)} was asked of DNS as ${asked[0]}`)
  }
  t.equal(hits(), 0)
  t.equal(socketsMade, before, 'no socket')
  t.equal(receiver.connections(), 0)
})

t.test('a name with any address inside is refused before a socket is made', async (t) => {
  const before = socketsMade
  for (const answer of answers) {
    const outcome = await send(`https://receiver.test:${port}/hook`, [answer])
    t.match(outcome, { kind: 'forbidden', status: null, snippet: null }, answer.join(' '))
    t.equal(asked.length, 1)
    for (const address of answer) {
      if (address.length > 1)
        t.notOk(outcome.error?.includes(address), 'the error tells no address')
    }
  }
  t.equal(hits(), 0)
  t.equal(socketsMade, before, 'no socket')
  t.equal(receiver.connections(), 0)
})

t.test('more than two hundred different cases were tried', async (t) => {
  t.equal(new Set(literals).size, literals.length, 'no literal counts twice')
  t.equal(
    new Set(answers.map((answer) => JSON.stringify(answer))).size,
    answers.length,
    'no answer either',
  )
  t.ok(literals.length + answers.length >= 200, `${literals.length} + ${answers.length}`)
})

t.test('the same literals reach their listener once the operator allows them', async (t) => {
  // This shows that the tables above can fail: without the check, these spellings do connect.
  const allowedRanges = parseRanges('0.0.0.0/0 ::/0').ranges
  const before = hits()
  for (const host of ['127.0.0.1', '2130706433', '0x7f.1', '[::ffff:127.0.0.1]']) {
    const outcome = await send(`https://${host}:${port}/`, [], { allowedRanges })
    t.equal(outcome.kind, 'unreachable', `${host}: the certificate is for another address`)
  }
  t.equal(hits(), before + 4)
})

t.test('a socket that ends up elsewhere than at the judged address is dropped', async (t) => {
  // Linux connects 0.0.0.0 to 127.0.0.1.
  const allowedRanges = parseRanges('0.0.0.0').ranges
  const outcome = await send(`https://receiver.test:${port}/`, [['0.0.0.0']], { allowedRanges })
  t.match(outcome, { kind: 'forbidden', error: 'address: connected elsewhere' })
})

t.test('a name is resolved once, so rebinding it changes nothing', async (t) => {
  const before = { hits: hits(), connections: receiver.connections() }
  const rebinding = [['127.0.0.2'], ['127.0.0.1'], ['127.0.0.1']]
  for (let attempt = 1; attempt <= 3; attempt += 1) {
    const outcome = await send(`https://receiver.test:${port}/`, rebinding)
    t.equal(outcome.kind, 'delivered')
    t.same(asked, ['receiver.test'])
  }
  t.equal(receiver.connections(), before.connections + 3, 'the address that was judged')
  t.equal(hits(), before.hits)
})

t.test('a name that turns inward between attempts is refused at the next one', async (t) => {
  const before = hits()
  t.equal((await send(`https://receiver.test:${port}/`, [['127.0.0.2']])).kind, 'delivered')
  t.equal((await send(`https://receiver.test:${port}/`, [['127.0.0.1']])).kind, 'forbidden')
  t.equal(hits(), before)
})

t.test('a redirect inward is a refusal by the receiver and is not followed', async (t) => {
  const targets = [
    `https://127.0.0.1:${port}/`,
    `https://receiver.test:${port}/again`,
    '//127.0.0.1/',
    '/again',
  ]
  const before = hits()
  for (const status of [300, 301, 302, 303, 305, 307, 308]) {
    for (const location of targets) {
      const redirecting = await createReceiver(identity, (response) =>
        response.writeHead(status, { location }).end(),
      )
      const url = `https://receiver.test:${redirecting.port}/`
      const outcome = await send(url, [['127.0.0.2']], { allowedPorts: [port, redirecting.port] })
      t.match(outcome, { kind: 'refused', status }, `${status} to ${location}`)
      t.equal(redirecting.connections(), 1)
      await redirecting.close()
    }
  }
  t.equal(hits(), before)
})

t.test('other schemes, credentials and ports are refused before a socket is made', async (t) => {
  const before = socketsMade
  const urls = [
    `http://receiver.test:${port}/`, `ftp://receiver.test:${port}/`, `ws://receiver.test:${port}/`, `foo://receiver.test:${port}/`, 'file:///etc/passwd', 'data:,x', 'javascript:1', 'unix:/run/x',
    `https://user@receiver.test:${port}/`, `https://user:pass@receiver.test:${port}/`, `https://:pass@receiver.test:${port}/`, `https://127.0.0.1@receiver.test:${port}/`, 'https://receiver.test/', 'https://receiver.test:443/', `https://receiver.test:${port + 1}/`,
    'https://receiver.test:22/', 'https://receiver.test:0/', 'https://receiver.test:99999/', '', 'receiver.test', '//receiver.test/', 'https:', 'https://',
  ] // prettier-ignore
  for (const url of urls) {
    const outcome = await send(url, [['127.0.0.2']])
    t.match(outcome, { kind: 'forbidden', error: /^(url|address): / }, url)
    t.equal(asked.length, 0)
  }
  t.equal(socketsMade, before)
})

const { ranges: denied } = parseRanges('93.184.216.34')
const deniedRanges = (): typeof denied => denied

t.test('a denied public address is refused before a socket is made, even in company', async (t) => {
  const before = socketsMade
  const url = `https://receiver.test:${port}/`
  t.equal((await send(url, [['93.184.216.34']], { deniedRanges })).kind, 'forbidden')
  t.equal((await send(url, [['127.0.0.2', '93.184.216.34']], { deniedRanges })).kind, 'forbidden')
  t.equal((await send(`https://93.184.216.34:${port}/`, [], { deniedRanges })).kind, 'forbidden')
  t.equal(socketsMade, before)
})

t.test('localhost is refused with the real resolver, whatever it answers', async (t) => {
  const { resolve } = createDeliverySettings({ version: '0' })
  const before = hits()
  for (const name of ['localhost', 'localhost.', 'LOCALHOST', 'a.localhost']) {
    const outcome = await send(`https://${name}:${port}/`, [], { resolve, dnsSeconds: 1 })
    t.match(outcome.kind, /^(forbidden|unreachable)$/, name)
  }
  t.equal(hits(), before)
})

t.test('proxies named in the environment are not used', async (t) => {
  const before = hits()
  const names = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'ALL_PROXY', 'all_proxy', 'NODE_USE_ENV_PROXY'] // prettier-ignore
  for (const name of names) process.env[name] = `http://127.0.0.1:${port}`
  const outcome = await send(`https://receiver.test:${port}/`, [['127.0.0.2']])
  for (const name of names) delete process.env[name]
  t.equal(outcome.kind, 'delivered')
  t.equal(hits(), before)
})

t.test('the next address is tried when one does not answer', async (t) => {
  const { ranges } = parseRanges('127.0.0.2 127.0.0.4')
  const outcome = await send(`https://receiver.test:${port}/`, [['127.0.0.4', '127.0.0.2']], {
    allowedRanges: ranges,
  })
  t.equal(outcome.kind, 'delivered')
  const none = await send(`https://receiver.test:${port}/`, [['127.0.0.4']], {
    allowedRanges: ranges,
  })
  t.match(none, { kind: 'unreachable', error: 'connect: ECONNREFUSED' })
})
