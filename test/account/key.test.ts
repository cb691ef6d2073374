// The form of API keys.
import t from 'tap'
import {
  digestKey,
  findCell,
  generateKey,
  isWellFormedKey,
  labelKey,
} from '../../src/account/key.ts'

t.test('a generated key has its form, and no two are the same', async (t) => {
  const keys = Array.from({ length: 1000 }, () => generateKey())
  t.equal(new Set(keys).size, keys.length)
  t.ok(keys.every((key) => /^rl_live_[0-9A-Za-z]{39}$/.test(key) && isWellFormedKey(key)))
})

t.test('a key may name a cell, and one without never does', async (t) => {
  const keys = Array.from({ length: 1000 }, () => generateKey('submit', 'B'))
  t.equal(new Set(keys).size, keys.length)
  t.ok(keys.every((key) => /^rl_live_B[0-9A-Za-z]{38}$/.test(key) && isWellFormedKey(key)))
  t.equal(findCell(labelKey(keys[0]!)), 'B')
  t.match(generateKey('operator', 'z'), /^rl_oper_z/)
  t.ok(
    Array.from({ length: 1000 }, () => generateKey()).every((key) => findCell(key) === undefined),
  )
})

t.test('a key with one character changed is recognised as mistyped', async (t) => {
  const key = generateKey()
  for (let at = 'rl_live_'.length; at < key.length; at += 1) {
    const other = key[at] === 'a' ? 'b' : 'a'
    t.notOk(isWellFormedKey(key.slice(0, at) + other + key.slice(at + 1)), `character ${at}`)
  }
})

t.test('what is no key is none', async (t) => {
  for (const text of [
    '',
    'rl_live_',
    'rl_test_' + generateKey().slice(8),
    generateKey() + 'x',
    'rl_live_' + 'ä'.repeat(39),
  ]) {
    t.notOk(isWellFormedKey(text), text)
  }
})

t.test('the digest is SHA-256, the label too short to help anybody', async (t) => {
  const key = generateKey()
  t.equal(digestKey(key).byteLength, 32)
  t.equal(labelKey(key), key.slice(0, 12))
})
