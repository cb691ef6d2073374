// Ids on the command line: a prefix or suffix names an id if it fits only that one.
import t from 'tap'
import { findId } from '../../src/cli/option.ts'

const ids = [
  '01a217f2-7e4e-7662-80e2-c2b8e594128e',
  '01a217f2-7e4e-7662-91aa-0123456789ab',
  '01a217f3-7e4e-7662-91aa-ffff456789ab',
]
const rows = ids.map((id) => ({ id }))

t.test('a whole id, its beginning and its end', async (t) => {
  for (const [part, id] of [
    [ids[0]!, ids[0]],
    ['594128e', ids[0]],
    ['594128E', ids[0]],
    ['01a217f3', ids[2]],
    ['ffff456789ab', ids[2]],
    ['c2b8e594128e', ids[0]],
  ] as const)
    t.equal(findId(rows, part, 'key'), id, part)
})

t.test('what is of several names them, what is of none says so', async (t) => {
  t.throws(() => findId(rows, '456789ab', 'key'), {
    status: 1,
    message: `456789ab is part of 2 ids: ${ids[1]}, ${ids[2]}`,
  })
  t.throws(() => findId(rows, '7662', 'key'), { status: 1, message: 'there is no such key' })
  for (const wrong of ['', 'x', "%' or", '0'.repeat(37)])
    t.throws(() => findId(rows, wrong, 'key'), { status: 64, message: /is not the id of a key/ })
})
