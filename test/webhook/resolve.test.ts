// The resolver against a real name server on loopback that answers what the test says.
import { createSocket } from 'node:dgram'
import { isIPv4 } from 'node:net'

import t from 'tap'

import { createResolver } from '../../src/webhook/settings.ts'

type Records = Readonly<Record<string, readonly string[] | 'silence' | 'failure'>>

const questionTypes: Readonly<Record<number, string>> = { 1: 'A', 28: 'AAAA' }

/** Starts a name server that answers `A name` and `AAAA name` from the records; others do not exist. Returns `address:port`. */
async function createNameServer(records: Records): Promise<{ server: string; close: () => void }> {
  const socket = createSocket('udp4')
  socket.on('message', (query, { port, address }) => {
    const labels: string[] = []
    let offset = 12
    for (let length = query[offset]!; length > 0; length = query[offset]!) {
      labels.push(query.toString('latin1', offset + 1, offset + 1 + length))
      offset += length + 1
    }
    const question = query.subarray(12, offset + 5)
    const type = query.readUInt16BE(offset + 1)
    const found = records[`${questionTypes[type]} ${labels.join('.')}`]
    if (found === 'silence') return
    const addresses = typeof found === 'object' ? found : []
    const header = Buffer.alloc(12)
    query.copy(header, 0, 0, 2)
    header.writeUInt16BE(0x8180 | (found === 'failure' ? 2 : found === undefined ? 3 : 0), 2)
    header.writeUInt16BE(1, 4)
    header.writeUInt16BE(addresses.length, 6)
    const answers = addresses.map((text) => {
      const data = isIPv4(text)
        ? Buffer.from(text.split('.').map(Number))
        : Buffer.from(text.split(':').map((group) => group.padStart(4, '0')).join(''), 'hex') // prettier-ignore
      const answer = Buffer.alloc(12)
      answer.writeUInt16BE(0xc00c, 0) // the name, by reference to the question
      answer.writeUInt16BE(type, 2)
      answer.writeUInt16BE(1, 4)
      answer.writeUInt32BE(3600, 6)
      answer.writeUInt16BE(data.length, 10)
      return Buffer.concat([answer, data])
    })
    socket.send(Buffer.concat([header, question, ...answers]), port, address)
  })
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  return { server: `127.0.0.1:${socket.address().port}`, close: () => socket.close() }
}

const records: Record<string, readonly string[] | 'silence' | 'failure'> = {
  'A both.test': ['192.0.2.1', '127.0.0.1'],
  'AAAA both.test': ['2606:4700:0:0:0:0:0:1111', '0:0:0:0:0:0:0:1'],
  'A four.test': ['192.0.2.4'],
  'AAAA four.test': [],
  'A six.test': [],
  'AAAA six.test': ['2606:4700:0:0:0:0:0:6'],
  'A half.test': ['192.0.2.5'],
  'AAAA half.test': 'failure',
  'A slow.test': ['192.0.2.6'],
  'AAAA slow.test': 'silence',
  'A empty.test': [],
  'AAAA empty.test': [],
  'A silent.test': 'silence',
  'AAAA silent.test': 'silence',
  'A changing.test': ['192.0.2.7'],
}
const nameServer = await createNameServer(records)
t.teardown(() => nameServer.close())
const never = new AbortController().signal
const resolve = createResolver({ servers: [nameServer.server], patienceSeconds: 60 })
const hasty = createResolver({ servers: [nameServer.server], patienceSeconds: 3 })

t.test('both families are asked for, IPv4 first, and nothing is left out', async (t) => {
  const addresses = await resolve('both.test', never)
  t.same(addresses.slice(0, 2).toSorted(), ['127.0.0.1', '192.0.2.1'])
  t.same(addresses.slice(2).toSorted(), ['2606:4700::1111', '::1'])
})

t.test('one family is enough, whatever becomes of the other', async (t) => {
  t.same(await resolve('four.test', never), ['192.0.2.4'])
  t.same(await resolve('six.test', never), ['2606:4700::6'])
  t.same(await resolve('half.test', never), ['192.0.2.5'])
  t.same(await hasty('slow.test', never), ['192.0.2.6'])
})

t.test('a name without addresses rejects with the code of DNS', async (t) => {
  await t.rejects(resolve('missing.test', never), { code: 'ENOTFOUND' })
  await t.rejects(resolve('empty.test', never), { code: 'ENODATA' })
})

t.test('silence ends when the patience does, or when the caller has had enough', async (t) => {
  await t.rejects(hasty('silent.test', never), { code: /ECANCELLED|ETIMEOUT/ })
  const controller = new AbortController()
  setTimeout(() => controller.abort(), 50)
  await t.rejects(resolve('silent.test', controller.signal), { code: /ECANCELLED|ETIMEOUT/ })
})

t.test('an answer is not remembered', async (t) => {
  t.same(await resolve('changing.test', never), ['192.0.2.7'])
  records['A changing.test'] = ['127.0.0.1']
  t.same(await resolve('changing.test', never), ['127.0.0.1'])
})
