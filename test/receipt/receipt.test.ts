// Receipts without a service: openssl alone checks them, no changed receipt passes, and keys are read strictly.
import { execFileSync } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openEnvelope, readPublicKeys, readSigningKey, seal } from '#receipt'
import type { Envelope, SigningKey } from '#receipt'

const pemOf = (): string =>
  generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString()
const publicPem = ({ publicKey }: SigningKey): string =>
  publicKey.export({ format: 'pem', type: 'spki' }).toString()
const [key, other] = [readSigningKey(pemOf()), readSigningKey(pemOf())]
const digest = { sha256: 'aa', bytes: 1 }
const at = '2026-01-01T00:00:00.000Z'
const none = { limit: null, compile: null, run: null, compile_output: null, report: null }
const bytes = Buffer.from(
  JSON.stringify({
    version: 1,
    submission: '018f0000-0000-7000-8000-000000000000',
    request: {
      language: 'python',
      code: digest,
      stdin: digest,
      expected_stdout: null,
      detail: null,
      blobs: null,
      rerun_of: null,
      limits: null,
      checker_language: null,
      tag: 'grüße',
      output_encoding: null,
    },
    execution: null,
    end: {
      at,
      status: 'cancelled',
      verdict: null,
      exit_code: null,
      signal: null,
      ...none,
      stdout: null,
      stderr: null,
      tests: null,
      files: null,
    },
    events: [{ position: 1, version: 1, type: 'submission.received', at, hash: 'bb' }],
  }),
)
const envelope = seal(bytes, key)
const kindOf = (given: unknown, keys = [key]): string =>
  openEnvelope(JSON.stringify(given), keys).kind

t.test('openssl alone checks it, and names its key as we do', (t) => {
  const directory = t.testdir()
  const file = (name: string, content: string | Buffer): string => {
    writeFileSync(join(directory, name), content)
    return join(directory, name)
  }
  const pem = file('key.pem', publicPem(key))
  const sig = file('sig', Buffer.from(envelope.signatures[0]?.sig ?? '', 'base64'))
  const check = (payload: Buffer, type: string = envelope.payloadType): string => {
    const head = `DSSEv1 ${type.length} ${type} ${payload.byteLength} `
    const signed = file('signed', Buffer.concat([Buffer.from(head), payload]))
    const words = ['pkeyutl', '-verify', '-rawin', '-pubin', '-inkey', pem, '-in', signed]
    return execFileSync('openssl', [...words, '-sigfile', sig], { encoding: 'utf8', stdio: 'pipe' })
  }
  t.match(check(Buffer.from(envelope.payload, 'base64')), /Verified Successfully/)
  t.throws(() => check(bytes, 'application/json'), 'its type is signed, too')
  const words = ['pkey', '-pubin', '-in', pem, '-pubout', '-outform', 'DER', '-out']
  execFileSync('openssl', [...words, join(directory, 'der')])
  const told = execFileSync('openssl', ['dgst', '-sha256', '-r', join(directory, 'der')])
  t.equal(told.toString().split(' ')[0], envelope.signatures[0]?.keyid)
  t.end()
})

t.test('it opens to what was signed', (t) => {
  const opened = openEnvelope(JSON.stringify(envelope), [other, key])
  t.match(opened, { kind: 'signed', keyId: key.id, receipt: { version: 1 } })
  t.ok('bytes' in opened && opened.bytes.equals(bytes))
  t.match(openEnvelope(JSON.stringify(envelope), null), { kind: 'unsigned' })
  t.end()
})

t.test('every bit of the payload and of the signature counts', (t) => {
  const flipped = (text: string, bit: number): string => {
    const changed = Buffer.from(text, 'base64')
    changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
    return changed.toString('base64')
  }
  const [signature] = envelope.signatures
  if (signature === undefined) throw new Error('no signature')
  const passed: string[] = []
  for (let bit = 0; bit < bytes.byteLength * 8; bit += 1) {
    const changed = { ...envelope, payload: flipped(envelope.payload, bit) }
    if (kindOf(changed) !== 'altered') passed.push(`payload ${bit}`)
  }
  for (let bit = 0; bit < 64 * 8; bit += 1) {
    const changed = {
      ...envelope,
      signatures: [{ ...signature, sig: flipped(signature.sig, bit) }],
    }
    if (kindOf(changed) !== 'altered') passed.push(`signature ${bit}`)
  }
  t.strictSame(passed, [])
  t.end()
})

t.test('another key is told apart, and its name on it helps nobody', (t) => {
  t.equal(kindOf(envelope, [other]), 'other_key')
  const [signature] = seal(bytes, other).signatures
  const disguised: Envelope = {
    ...envelope,
    signatures: [{ keyid: key.id, sig: signature?.sig ?? '' }],
  }
  t.equal(kindOf(disguised), 'altered')
  const both = { ...envelope, signatures: [...disguised.signatures, ...envelope.signatures] }
  t.equal(kindOf(both), 'signed', 'one that holds is enough')
  t.end()
})

t.test('after the key was changed, a file of both public keys checks old and new', (t) => {
  const keys = readPublicKeys(`our keys\n${publicPem(key)}\n${publicPem(other)}`)
  const ids = keys.map(({ id }) => id)
  t.strictSame(ids, [key.id, other.id])
  t.match(openEnvelope(JSON.stringify(envelope), keys), { kind: 'signed', keyId: key.id })
  const later = JSON.stringify(seal(bytes, other))
  t.match(openEnvelope(later, keys), { kind: 'signed', keyId: other.id })
  t.end()
})

t.test('what is no receipt is called so', (t) => {
  const rows = [
    null,
    [],
    {},
    '',
    { ...envelope, payloadType: 'application/json' },
    { ...envelope, payload: '%' },
    { ...envelope, signatures: [] },
    { ...envelope, signatures: Array(17).fill(envelope.signatures[0]) },
    seal(Buffer.from('{"version":2}'), key),
    seal(Buffer.from('no JSON'), key),
  ]
  for (const row of rows) t.equal(kindOf(row), 'malformed', JSON.stringify(row).slice(0, 60))
  t.equal(openEnvelope('{', [key]).kind, 'malformed')
  t.end()
})

t.test('a signing key is PKCS#8 of Ed25519, and what is wrong is told without it', (t) => {
  const pem = pemOf()
  const { id } = readSigningKey(pem)
  const der = pem.split('\n').slice(1, -2).join('')
  for (const text of [der, `\n${pem}\n`, `${der}\n`, pem.replaceAll('\n', '\r\n')])
    t.equal(readSigningKey(text).id, id)
  const pair = generateKeyPairSync('ed25519')
  const ec = generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey
  const wrong = [
    'x',
    'a b c',
    der.slice(4),
    `${der}AAAA!`,
    pem.slice(0, -10),
    pem + pem,
    pair.publicKey.export({ format: 'pem', type: 'spki' }).toString(),
    pair.privateKey
      .export({ format: 'pem', type: 'pkcs8', cipher: 'aes-256-cbc', passphrase: 'x' })
      .toString(),
    ec.export({ format: 'pem', type: 'pkcs8' }).toString(),
    ec.export({ format: 'pem', type: 'sec1' }).toString(),
    generateKeyPairSync('x25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
    // podman-compose passes a variable with a default in this form.
    ['$', '{RECEIPT_KEY:-}'].join(''),
  ]
  for (const text of wrong) {
    t.throws(() => readSigningKey(text), {
      name: 'TypeError',
      message:
        /^is no private Ed25519 key in PKCS#8, .*: `openssl genpkey -algorithm ed25519` makes one$/,
    })
  }
  t.end()
})

t.test('public keys are read from PEM alone, never from a private key', (t) => {
  const ec = generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).publicKey
  const rows = [
    '',
    'x',
    pemOf(),
    '-----BEGIN PUBLIC KEY-----',
    '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----',
    ec.export({ format: 'pem', type: 'spki' }).toString(),
  ]
  for (const row of rows) t.strictSame(readPublicKeys(row), [])
  t.end()
})
