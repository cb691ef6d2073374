// Checks that each row of the planted faults can be planted, so that a broken row fails here at once and not after half an
// hour.
import { resolve } from 'node:path'
import t from 'tap'
import { faults } from './fault.ts'
import { findTest, findText, readSources } from './place.ts'

const root = resolve(import.meta.dirname, '../..')
const sources = readSources(root)

t.test('every fault has a place, and tests that are there', async (t) => {
  t.ok(faults.length >= 60)
  t.equal(new Set(faults.map(({ name }) => name)).size, faults.length, 'no name twice')
  for (const { name, text, instead, tests } of faults) {
    t.equal(findText(sources, text).length, 1, `${name}: its text occurs once`)
    t.not(text, instead)
    t.ok(tests.length > 0, name)
    for (const test of tests) t.ok(findTest(root, test), `${name}: ${test} is one file`)
  }
})
