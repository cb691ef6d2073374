// Compares each checker with a slow and simple twin, on small outputs made of pieces that are easily confused. The seed is
// printed; SEED repeats a run, FUZZ_CASES makes it longer.
import t from 'tap'
import { check } from '#checker'
import type { BuiltInChecker } from '#checker'
import { createRandom } from '../faults/random.ts'
import { seed } from '../helper/seed.ts'
import { bytesOf } from './judge.ts'
import { checkSlowly } from './twin.ts'

const cases = Number(process.env['FUZZ_CASES'] ?? 20_000)
const random = createRandom(seed)
t.comment(`SEED=${seed}`)
// Long runs are started by hand and need no time limit.
if (cases > 20_000) t.setTimeout(0)

const blanks = [' ', '\t', '\v', '\f', '\r', '\n', '\n', '\n', ' \n', '\r\n', '\n\n']
const bytes = [
  'a',
  'b',
  'aa',
  'ab',
  '\0',
  '\x1c',
  '\x85',
  '\xa0',
  '\xff',
  '\xc3',
  '\xa9',
  '\xf0\x9f\x98',
]
const figures = ['0', '1', '5', '9', '.', 'e', 'E', '+', '-']
const numbers = [
  '1'.repeat(20),
  ...'0 -0 1 1. .5 0.5 -1 1e0 10e-1 1.0000001 1.000002 1e999 2e999 1e-999 0x1 0.1 00.10'.split(' '),
  ...'nan -NaN inf -inf Infinity +INFINITY infin'.split(' '),
]
const tolerances = [0, 1e-6, 0.5, 1, 10]

/** Sets of pieces from which outputs are made: a few pieces of one kind, or all. */
const alphabets = [
  ['a', '\n'],
  ['a', ' ', '\n'],
  ['\n', ' ', '\r'],
  [...bytes, ...blanks],
  ['a', 'b', 'aa', 'ab', '\n', '\n', '\n'],
  [...figures, ...figures, ' ', '\n'],
  [...numbers, ...blanks, ...blanks],
  [...numbers, ...figures, ...bytes, ...blanks],
  ['x'.repeat(150), '\xc3\xa9'.repeat(120), '\xf0\x9f\x98\x80'.repeat(99), 'a', '\n', ' '],
]

const makeOutput = (alphabet: readonly string[]): string[] =>
  Array.from({ length: random.between(0, random.pick([3, 8, 20])) }, () => random.pick(alphabet))

/** Makes an output close to the given one, so that a checker reads much of it before the difference, or finds no difference. */
function change(pieces: readonly string[], alphabet: readonly string[]): string[] {
  const at = random.between(0, pieces.length)
  switch (random.between(0, 6)) {
    case 0:
      return makeOutput(alphabet)
    case 1:
      return pieces.toSpliced(at, 1)
    case 2:
      return pieces.toSpliced(at, 0, random.pick(alphabet))
    case 3:
      return pieces.toSpliced(at, 1, random.pick(alphabet))
    case 4:
      return pieces.map((piece) => (blanks.includes(piece) ? random.pick(blanks) : piece))
    case 5:
      return pieces.map((piece) => (numbers.includes(piece) ? random.pick(numbers) : piece))
    default:
      return random.shuffle(pieces.join('').split(/(?<=\n)/))
  }
}

function pickChecker(): BuiltInChecker {
  const type = random.pick(['exact', 'lines', 'unordered_lines', 'tokens', 'floats'] as const)
  if (type !== 'floats') return { type }
  const [absolute, relative] = [random.pick(tolerances), random.pick(tolerances)]
  return random.pick([
    { type, absolute },
    { type, relative },
    { type, absolute, relative },
  ])
}

t.test('each checker says what its twin says', async (t) => {
  const judged = { same: 0, different: 0 }
  for (let done = 0; done < cases; done += 1) {
    const alphabet = random.pick(alphabets)
    const pieces = makeOutput(alphabet)
    const [expected, output] = [pieces.join(''), change(pieces, alphabet).join('')]
    const checker = pickChecker()
    const judgement = check(checker, bytesOf(output), bytesOf(expected))
    judged[judgement.same ? 'same' : 'different'] += 1
    const twin = checkSlowly(checker, output, expected)
    if (JSON.stringify(judgement) !== JSON.stringify(twin)) {
      t.strictSame(judgement, twin, JSON.stringify({ seed, done, checker, output, expected }))
      return
    }
  }
  t.comment(`${cases} cases: ${JSON.stringify(judged)}`)
  t.ok(judged.same > cases / 10 && judged.different > cases / 10, 'both come about often')
})
