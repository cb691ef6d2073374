// Lists: tables for people, JSON lines for programs, and no terminal control characters.
import t from 'tap'
import { createProgress, printRecord, printRows } from '../../src/cli/output.ts'

const rows = [
  { name: 'beta', limit: 60, at: new Date('2026-11-20T09:41:47.006Z') },
  { name: 'a\u001b[2Jb\n', limit: null, at: null },
]

function print(work: (terminal: Parameters<typeof printRows>[1]) => void, isTTY: boolean): string {
  let out = ''
  work({ stdout: { isTTY, write: (text) => (out += text) }, stderr: { write: () => {} } })
  return out
}

t.test('a terminal gets a table', async (t) => {
  t.equal(
    print((terminal) => printRows(rows, terminal), true),
    [
      'NAME           LIMIT  AT',
      'beta           60     2026-11-20T09:41:47Z',
      'a\\u001b[2Jb\\n  –      –',
      '',
    ].join('\n'),
  )
  t.equal(
    print((terminal) => printRows([], terminal), true),
    'none\n',
  )
})

t.test('JSON holds no character that steers a terminal', async (t) => {
  const row = { output: '\u009b2J\u007f' }
  const line = print((terminal) => printRows([row], terminal, true), true)
  t.equal(line, '{"output":"\\u009b2J\\u007f"}\n')
  t.strictSame(JSON.parse(line), row)
})

t.test('a pipe gets a JSON object a line, and so does a terminal that asks', async (t) => {
  const lines = rows.map((row) => `${JSON.stringify(row)}\n`).join('')
  t.equal(
    print((terminal) => printRows(rows, terminal), false),
    lines,
  )
  t.equal(
    print((terminal) => printRows(rows, terminal, true), true),
    lines,
  )
  t.equal(
    print((terminal) => printRows([], terminal), false),
    '',
  )
})

t.test('one thing is a line for each of its fields, or JSON', async (t) => {
  t.equal(
    print((terminal) => printRecord({ id: 'x', revoked: true }, terminal), true),
    'id       x\nrevoked  true\n',
  )
  t.equal(
    print((terminal) => printRecord({ id: 'x' }, terminal), false),
    '{"id":"x"}\n',
  )
})

t.test('progress is one line on a terminal, and few lines in a log', async (t) => {
  for (const [isTTY, expected] of [
    [true, '\r\u001B[K1\r\u001B[K2\r\u001B[K'],
    [false, '1\n'],
  ] as const) {
    let err = ''
    const progress = createProgress({ stderr: { isTTY, write: (text) => (err += text) } })
    for (const line of ['1', '2', '']) progress(line)
    t.equal(err, expected)
  }
})
