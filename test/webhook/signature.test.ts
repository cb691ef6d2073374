// Signatures against our client's verifier and against the published standardwebhooks package.
import { Webhook } from 'standardwebhooks'
import t from 'tap'

import { verifyWebhook } from '#client'
import { signDelivery } from '../../src/webhook/signature.ts'

const isGenuine = async (received: Parameters<typeof verifyWebhook>[0]): Promise<boolean> =>
  (await verifyWebhook(received)) !== null

const id = 'msg_0198c2d4'
const body = Buffer.from('{"type":"submission.completed","data":{"stdout":"é\\u0000😀"}}')
const timestamp = Math.floor(Date.now() / 1000)
const encodedSecret = `whsec_${Buffer.from('0123456789abcdef01234567').toString('base64')}`

t.test('the specification example signs to the published signature', async (t) => {
  const headers = signDelivery({
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    timestamp: 1_614_265_330,
    body: Buffer.from('{"test": 2432232314}'),
    secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  })
  t.equal(headers['webhook-signature'], 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
  t.equal(headers['webhook-timestamp'], '1614265330')
})

const secrets: readonly [what: string, secret: string, published: Webhook][] = [
  ['a whsec_ secret', encodedSecret, new Webhook(encodedSecret)],
  ['a whsec_ secret without padding', 'whsec_YWJjZGU', new Webhook('whsec_YWJjZGU')],
  ['a text secret', 'correct horse', new Webhook('correct horse', { format: 'raw' })],
  [
    'a text secret beyond ASCII',
    'pässwörd 密',
    new Webhook(Buffer.from('pässwörd 密'), { format: 'raw' }),
  ],
  [
    'whsec_ before what is not base64',
    'whsec_no-base64!',
    new Webhook('whsec_no-base64!', { format: 'raw' }),
  ],
  ['whsec_ alone', 'whsec_', new Webhook('whsec_', { format: 'raw' })],
]

for (const [what, secret, published] of secrets) {
  t.test(`${what} verifies with the published package and with ours`, async (t) => {
    const headers = { ...signDelivery({ id, timestamp, body, secret }) }
    t.doesNotThrow(() => published.verify(body, headers))
    t.equal(await isGenuine({ headers, body, secret }), true)
  })
}

t.test('a body that is not valid UTF-8 is signed as its exact bytes', async (t) => {
  const bytes = Buffer.from([0x22, 0xff, 0x80, 0x22])
  const headers = { ...signDelivery({ id, timestamp, body: bytes, secret: 's' }) }
  t.equal(await isGenuine({ headers, body: bytes, secret: 's' }), true)
  const replaced = Buffer.from(bytes.toString('utf8'))
  t.equal(await isGenuine({ headers, body: replaced, secret: 's' }), false)
})

t.test('a delivery with anything changed is refused', async (t) => {
  const secret = encodedSecret
  const headers = { ...signDelivery({ id, timestamp, body, secret }) }
  const verify = (change: Record<string, unknown>): Promise<boolean> =>
    isGenuine({ headers, body, secret, ...change })
  t.equal(await verify({}), true, 'unchanged')
  for (let index = 0; index < body.length; index += 1) {
    const changed = Buffer.from(body)
    changed[index]! ^= 1
    if (await verify({ body: changed })) t.fail(`byte ${index} may be changed`)
  }
  t.equal(await verify({ body: Buffer.concat([body, Buffer.from(' ')]) }), false, 'a byte added')
  t.equal(await verify({ secret: `${secret}A` }), false, 'another secret')
  t.equal(await verify({ headers: { ...headers, 'webhook-id': 'msg_other' } }), false, 'another id')
  t.equal(
    await verify({ headers: { ...headers, 'webhook-timestamp': `${timestamp - 1}` } }),
    false,
    'time',
  )
  for (const name of Object.keys(headers)) {
    t.equal(await verify({ headers: { ...headers, [name]: undefined } }), false, `${name} missing`)
    t.equal(await verify({ headers: { ...headers, [name]: '' } }), false, `${name} empty`)
    t.equal(await verify({ headers: { ...headers, [name]: ['a', 'b'] } }), false, `${name} twice`)
  }
  for (const time of ['NaN', '1e9', '-1', '0x10', ' 1', '9'.repeat(400)]) {
    t.equal(
      await verify({ headers: { ...headers, 'webhook-timestamp': time } }),
      false,
      `timestamp ${time}`,
    )
  }
})

t.test('a timestamp more than five minutes off is refused by either verifier', async (t) => {
  for (const [offset, accepted] of [
    [-301, false],
    [-300, true],
    [0, true],
    [300, true],
    [301, false],
  ] as const) {
    // prettier-ignore
    const headers = { ...signDelivery({ id, timestamp: timestamp + offset, body, secret: 's' }) }
    t.equal(
      await isGenuine({ headers, body, secret: 's', now: timestamp }),
      accepted,
      `${offset} s`,
    )
  }
  const old = { ...signDelivery({ id, timestamp: timestamp - 400, body, secret: 's' }) }
  t.throws(() => new Webhook('s', { format: 'raw' }).verify(body, old), /too old/)
  t.equal(await isGenuine({ headers: old, body, secret: 's' }), false)
})

t.test('one match among several signatures is enough, of version 1 only', async (t) => {
  const headers = { ...signDelivery({ id, timestamp, body, secret: 's' }) }
  const mine = headers['webhook-signature']
  const other = signDelivery({ id, timestamp, body, secret: 'old' })['webhook-signature']
  const verify = (signatures: string): Promise<boolean> =>
    isGenuine({ headers: { ...headers, 'webhook-signature': signatures }, body, secret: 's' })
  t.equal(await verify(`${other} ${mine}`), true)
  t.equal(await verify(`${mine} ${other}`), true)
  t.equal(await verify(`v1a,abc  v1, ${mine}`), true)
  t.equal(await verify(other), false)
  t.equal(await verify(mine.replace('v1,', 'v2,')), false)
  t.equal(await verify(mine.slice(3)), false)
  t.equal(await verify(`${mine}=`), false)
  t.equal(
    await verify(mine.replace('v1,', 'v1,!')),
    false,
    'a spelling that base64 decoders forgive',
  )
})
