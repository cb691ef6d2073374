// The worker's table of the structures on a keeper's socket agrees with the compiler's reading of the keeper's header.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import t from 'tap'
import {
  nameBytesMost,
  wordsBytesMost,
  wordsMost,
} from '../../../../src/executor/contract/startable.ts'
import * as structure from '../../../../src/executor/box/keeper/structure.ts'
import { evaluateInC } from '../../../helper/c-value.ts'

const folder = resolve(import.meta.dirname, '../../../../src/executor/box/keeper')
const headers = ['<signal.h>', `"${folder}/keeper.h"`]
const { hello, request, fileHead, outputFile, frame, result } = structure
const structures = [hello, request, fileHead, frame, outputFile, result]

t.test('every field lies where the header has it, and is as wide', async (t) => {
  const expected: Record<string, number> = {}
  for (const { name, sizeBytes, fields } of structures) {
    expected[`sizeof(struct ${name})`] = sizeBytes
    for (const [index, field] of fields.entries()) {
      expected[`offsetof(struct ${name}, ${field})`] = index * 8
      // 1 only for exactly this type. A signed type or a type of another width gives 0.
      expected[`_Generic(((struct ${name} *)0)->${field}, uint64_t: 1, default: 0)`] = 1
    }
  }
  t.strictSame(evaluateInC(headers, Object.keys(expected)), expected)
})

t.test('no structure of the header is missing, and no field of one', async (t) => {
  const text = readFileSync(`${folder}/message.h`, 'utf8').replaceAll(/\/\*.*?\*\//gs, '')
  const found = [...text.matchAll(/^struct (\w+) \{(.*?)^\}/gms)].map(([, name, body = '']) => [
    name,
    [...body.matchAll(/(\w+);/g)].map(([, field]) => field),
  ])
  t.strictSame(
    found,
    structures.map(({ name, fields }) => [name, fields]),
  )
})

t.test('reasons and ends have the numbers that C gives them', async (t) => {
  const expected: Record<string, number> = {
    ...Object.fromEntries(structure.reasons.map((name, number) => [name, number])),
    ...structure.endCode,
  }
  t.strictSame(evaluateInC(headers, Object.keys(expected)), expected)
})

t.test('a request is refused where the keeper would have no room for it', async (t) => {
  const expected = {
    argument_bytes_most: wordsBytesMost,
    strings_most: wordsMost,
    name_bytes_most: nameBytesMost,
  }
  t.strictSame(evaluateInC(headers, Object.keys(expected)), expected)
})

t.test('what is written is read back, up to the largest number', async (t) => {
  const values = { name_bytes: 1, executable: 2 ** 32 - 1, size: Number.MAX_SAFE_INTEGER }
  const bytes = fileHead.encode(values)
  t.equal(bytes.toString('hex'), '0100000000000000ffffffff00000000ffffffffffff1f00')
  t.strictSame(fileHead.decode(bytes), values)
  t.throws(() => fileHead.decode(bytes.subarray(1)), RangeError)
})
