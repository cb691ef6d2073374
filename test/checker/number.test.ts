// How a token is read as a number, compared with JavaScript's own reading of decimal numbers. SEED repeats a run.
import t from 'tap'
import { parseNumber } from '../../src/checker/number.ts'
import { createRandom } from '../faults/random.ts'
import { seed } from '../helper/seed.ts'
import { bytesOf } from './judge.ts'

const random = createRandom(seed)
t.comment(`SEED=${seed}`)

const parse = (text: string): number | null =>
  parseNumber({ bytes: bytesOf(`9${text}9`), start: 1, end: text.length + 1 })

const digits = (most: number): string =>
  Array.from({ length: random.between(0, most) }, () => random.between(0, 9)).join('')

t.test('a decimal number is the double that is nearest to it', async (t) => {
  for (let done = 0; done < 20_000; done += 1) {
    const whole = digits(20)
    const fraction = random.pick(['', '.', `.${digits(20)}`])
    if (!/\d/.test(whole + fraction)) continue
    const exponent = random.pick([
      '',
      '',
      `e${random.pick(['', '+', '-'])}${random.between(0, 280)}`,
    ])
    const text = random.pick(['', '+', '-']) + whole + fraction + exponent
    if (!Object.is(parse(text), Number(text)))
      t.equal(parse(text), Number(text), `${seed}: ${text}`)
  }
  t.pass()
})

t.test('at the ends of what a double holds', async (t) => {
  for (const text of [
    '1.7976931348623157e308',
    '1.7976931348623158e308',
    '5e-324',
    '2e-324',
    '-1e-999',
    '999999999999999',
    '9999999999999999',
    '.000000000000001',
    '.0000000000000001',
    '123456789012345.6',
    '1e-0',
    '1e00000000000000000000000000000001',
    '0e999',
    '-0.0',
  ]) {
    t.ok(Object.is(parse(text), Number(text)), text)
  }
  for (const text of ['1.7976931348623159e308', '1e309', '-1e309', '1e99999999999999999999']) {
    t.equal(parse(text), null, text)
  }
})

t.test('words are numbers in any case and with any sign, and no others are', async (t) => {
  for (const [text, value] of [
    ['inf', Infinity],
    ['+iNf', Infinity],
    ['-Infinity', -Infinity],
    ['NAN', NaN],
    ['-nan', NaN],
  ] as const) {
    t.ok(Object.is(parse(text), value), text)
  }
  for (const text of [
    '',
    '+',
    'in',
    'infi',
    'infinity1',
    'nan0',
    '1inf',
    'n\xe0n',
    'valueof',
    'ınf',
  ]) {
    t.equal(parse(text), null, text)
  }
})
