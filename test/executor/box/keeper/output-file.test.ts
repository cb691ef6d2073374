// How the worker reads a keeper's report of output files: it rejects every report that cannot be true.
import t from 'tap'
import { collectOutputFiles } from '../../../../src/executor/box/keeper/output-file.ts'
import { failsAt } from '../../../helper/executor.ts'

const names = ['first', 'second', 'third']
const mebibyte = 1024 * 1024

function say(index: number, size: number, content = 0) {
  const fields = new Map(Object.entries({ index, size }).map(([name, n]) => [name, String(n)]))
  return { fields, body: Buffer.alloc(content, index) }
}

t.test('messages become files', async (t) => {
  const files = collectOutputFiles(names)
  for (const part of [say(1, 2 * mebibyte), say(0, 5, 5), say(2, 0)]) files.add(part)
  t.strictSame(files.list(), [
    { name: 'first', size: 5, content: Buffer.alloc(5) },
    { name: 'second', size: 2 * mebibyte, content: null },
    { name: 'third', size: 0, content: Buffer.alloc(0) },
  ])
})

t.test('whatever cannot be is refused', async (t) => {
  const wrong: Record<string, ReturnType<typeof say>[]> = {
    'no fields': [{ fields: new Map(), body: Buffer.alloc(1) }],
    'a name that nobody asked for': [say(3, 1, 1)],
    'more than its size': [say(0, 1, 2)],
    'less than its size': [say(0, 4, 2)],
    'one file twice': [say(0, 1, 1), say(0, 1, 1)],
    'more than there is room for': [say(0, mebibyte, mebibyte), say(1, 1, 1)],
  }
  for (const [what, parts] of Object.entries(wrong)) {
    const files = collectOutputFiles(names)
    t.throws(() => {
      for (const part of parts) files.add(part)
    }, failsAt('keeper.protocol'), what) // prettier-ignore
  }
})
