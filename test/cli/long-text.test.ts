// The command line uploads the texts that are too long for a request, and no others.
import { createHash } from 'node:crypto'
import t from 'tap'
import { uploadLongTexts } from '../../src/cli/long-text.ts'

const nameOf = (text: string): string => createHash('sha256').update(text).digest('hex')
const program = { language: 'python', code: '' }

/** Returns a client that records its uploads. @param there the names of blobs that already exist. */
function open(there: readonly string[] = []): {
  uploaded: string[]
  client: Parameters<typeof uploadLongTexts>[0]
} {
  const uploaded: string[] = []
  return {
    uploaded,
    client: {
      hasBlob: async (name) => there.includes(name),
      async putBlob(bytes) {
        uploaded.push(Buffer.from(bytes).toString())
        return nameOf(Buffer.from(bytes).toString())
      },
    },
  }
}

t.test('what fits stands in the request', async (t) => {
  const { client, uploaded } = open()
  const requests = [
    program,
    { ...program, stdin: 'x'.repeat(65_536), expected_stdout: 'ä'.repeat(32_768) },
    { ...program, tests: [{ stdin: 'x'.repeat(1024 * 1024) }, { name: 'empty' }] },
    // A file may hold anything: the service says what is wrong.
    JSON.parse('{"language":"c","code":"","stdin":null,"tests":[{"stdin":5}]}') as typeof program,
  ]
  for (const request of requests) t.strictSame(await uploadLongTexts(client, request), request)
  t.strictSame(uploaded, [])
})

t.test('a byte more is a blob', async (t) => {
  const { client, uploaded } = open()
  const [stdin, expected] = ['x'.repeat(65_537), `ä${'x'.repeat(65_535)}`]
  const request = { ...program, stdin, expected_stdout: expected }
  t.strictSame(await uploadLongTexts(client, request), {
    ...program,
    stdin_sha256: nameOf(stdin),
    expected_stdout_sha256: nameOf(expected),
  })
  t.strictSame(uploaded, [stdin, expected])
})

t.test('of tests the longest texts go, until the others fit', async (t) => {
  const { client, uploaded } = open()
  const [short, long, longer] = ['s'.repeat(500_000), 'l'.repeat(600_000), 'm'.repeat(700_000)]
  const tests = [{ name: 'one', stdin: long, expected_stdout: short }, { stdin: longer }]
  const request = await uploadLongTexts(client, { ...program, tests })
  t.strictSame(request.tests, [
    { name: 'one', expected_stdout: short, stdin_sha256: nameOf(long) },
    { stdin_sha256: nameOf(longer) },
  ])
  t.equal(uploaded.length, 2)
})

t.test('what is there is not uploaded again', async (t) => {
  const stdin = 'x'.repeat(70_000)
  const { client, uploaded } = open([nameOf(stdin)])
  t.match(await uploadLongTexts(client, { ...program, stdin }), { stdin_sha256: nameOf(stdin) })
  t.strictSame(uploaded, [])
})
