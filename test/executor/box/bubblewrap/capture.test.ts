// Bytes are counted exactly, wherever a chunk ends.
import { PassThrough } from 'node:stream'
import t from 'tap'
import { captureOutput } from '../../../../src/executor/box/bubblewrap/capture.ts'

async function feed(
  chunks: readonly string[],
  kept: number,
  limit: number,
): Promise<{ text: string; truncated: boolean; passes: number }> {
  const stream = new PassThrough()
  let passes = 0
  const capture = captureOutput(stream, kept, limit, () => (passes += 1))
  for (const chunk of chunks) stream.write(chunk)
  stream.end()
  await capture.ended
  const { bytes, truncated } = capture.captured()
  return { text: bytes.toString(), truncated, passes }
}

t.test('all that fits is kept', async (t) => {
  t.same(await feed(['ab', 'cd'], 4, 4), { text: 'abcd', truncated: false, passes: 0 })
  t.same(await feed([], 4, 4), { text: '', truncated: false, passes: 0 })
})

t.test('one byte more passes the limit, once', async (t) => {
  t.same(await feed(['ab', 'cde', 'f'], 4, 4), { text: 'abcd', truncated: true, passes: 1 })
})

t.test('what is kept and what is allowed may differ', async (t) => {
  t.same(await feed(['abcdef'], 4, 8), { text: 'abcd', truncated: true, passes: 0 })
})

t.test('a limit of nothing keeps nothing', async (t) => {
  t.same(await feed(['a'], 0, 0), { text: '', truncated: true, passes: 1 })
})

t.test('many chunks of any size arrive whole', async (t) => {
  const chunks = Array.from({ length: 500 }, (_, index) => 'x'.repeat(index % 97))
  const whole = chunks.join('')
  t.equal((await feed(chunks, 1 << 20, 1 << 20)).text, whole)
})
