// How much of two differing lines is reported, and how bytes that are not text are shown.
import t from 'tap'
import type { Test } from 'tap'
import { check, excerptLength } from '#checker'
import type { BuiltInChecker } from '#checker'

const checkers: readonly BuiltInChecker[] = [
  { type: 'exact' },
  { type: 'lines' },
  { type: 'unordered_lines' },
  { type: 'tokens' },
  { type: 'floats', absolute: 0 },
]

/** Checks the excerpt that every checker reports for an expected line when the output has nothing like it. */
function holdExcerpt(t: Test, line: Uint8Array, excerpt: string): void {
  for (const checker of checkers) {
    const judgement = check(checker, Buffer.from('?'), Buffer.concat([line, Buffer.from('\n')]))
    t.match(judgement, { same: false, difference: { line: 1 } })
    if (!judgement.same) t.equal(judgement.difference.expected, excerpt, checker.type)
  }
}

t.test('a line is cut to 200 code points', async (t) => {
  t.equal(excerptLength, 200)
  for (const character of ['a', 'é', '…', '😀', 'a\u0301', '\0']) {
    const characters = Array.from(character).length
    for (const count of [1, 199, 200, 201, 5000]) {
      const told = Array.from(character.repeat(count)).slice(0, 200).join('')
      t.ok(told.isWellFormed() && Array.from(told).length === Math.min(200, count * characters))
      holdExcerpt(t, Buffer.from(character.repeat(count)), told)
    }
  }
})

t.test('characters of one to four bytes side by side are never cut in two', async (t) => {
  for (let shift = 0; shift < 4; shift += 1) {
    const line = `${'a'.repeat(shift)}${'😀'.repeat(300)}`
    holdExcerpt(t, Buffer.from(line), Array.from(line).slice(0, 200).join(''))
  }
})

t.test('what is no UTF-8 is U+FFFD, a byte order mark stays', async (t) => {
  for (const [bytes, excerpt] of [
    ['ff', '\ufffd'],
    ['61c3', 'a\ufffd'],
    ['eda080', '\ufffd\ufffd\ufffd'],
    ['f09f98', '\ufffd'],
    ['c080', '\ufffd\ufffd'],
    ['efbbbf61', '\ufeffa'],
    ['ff'.repeat(1000), '\ufffd'.repeat(200)],
    ['f09f98'.repeat(1000), '\ufffd'.repeat(200)],
  ] as const) {
    holdExcerpt(t, Buffer.from(bytes, 'hex'), excerpt)
  }
})
