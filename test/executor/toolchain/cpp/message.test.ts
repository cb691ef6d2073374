// Precompiled headers change nothing but time, for what the compiler has something to say about, and for what begins
// strangely: the same words as those of plain g++, byte for byte, and the same end.
import t from 'tap'
import { compareWithPlain, openWorkshop } from './comparison.ts'
import { oddities } from './example.ts'

const workshop = await openWorkshop(t)
const { executor } = workshop

t.test('warnings, errors and strange beginnings are told as plain g++ tells them', async (t) => {
  await executor.settled()
  const ends = await compareWithPlain(t, workshop, oddities)
  for (const kind of ['0 silent', '0 talking', '1 talking']) {
    t.ok(ends.filter((end) => end === kind).length >= 20, `enough that end ${kind}`)
  }
})
