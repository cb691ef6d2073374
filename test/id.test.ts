// Ids sort by their time of creation, and no id comes twice.
import t from 'tap'
import { validate, version } from 'uuid'
import { createId } from '#id'

t.test('ids are UUIDs of version 7 that sort as they were made, each another one', async (t) => {
  // Several of so many ids share a millisecond.
  const ids = Array.from({ length: 10_000 }, createId)
  t.ok(ids.every((id) => validate(id) && version(id) === 7))
  t.strictSame(ids, ids.toSorted())
  t.equal(new Set(ids).size, ids.length)
})

t.test('an id says when it was made', async (t) => {
  const [before, id, after] = [Date.now(), createId(), Date.now()]
  const at = Number.parseInt(id.replace('-', '').slice(0, 12), 16)
  t.ok(before <= at && at <= after)
})

t.test('no two ids end alike', async (t) => {
  const ends = Array.from({ length: 1000 }, () => createId().slice(-10))
  t.equal(new Set(ends).size, ends.length)
})
