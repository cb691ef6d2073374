// The command `submit FILE`: JSON for scripts, text for people, and an exit status that follows the verdict.
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { exitStatuses } from '../../src/cli/command.ts'
import { cancelSubmission, submitFile } from '../../src/cli/submit.ts'
import type { SubmitCall } from '../../src/cli/submit.ts'
import { createTestDatabase } from '../helper/database.ts'
import { finish } from '../helper/execution.ts'
import { startServer } from '../helper/server.ts'

const { sql, url, drop } = await createTestDatabase()
t.teardown(drop)
const server = await startServer(t, sql, { url })
const apiKey = await server.issue()
const directory = mkdtempSync(join(tmpdir(), 'runledger-submit-'))
t.teardown(() => rmSync(directory, { recursive: true }))
const write = (name: string, content: string | Buffer): string => {
  writeFileSync(join(directory, name), content)
  return join(directory, name)
}
const program = write('program.py', 'print("ä")')

async function command(
  call: Partial<SubmitCall>,
  isTTY = false,
): Promise<{ status: number; out: string; err: string }> {
  let [out, err] = ['', '']
  const status = await submitFile(
    {
      file: program,
      wait: false,
      json: false,
      url: `http://127.0.0.1:${server.port}`,
      apiKey,
      ...call,
    },
    {
      stdout: { isTTY, write: (text) => (out += text) },
      stderr: { isTTY, write: (text) => (err += text) },
    },
  )
  return { status, out, err }
}

async function endNext(verdict: string, stdout = ''): Promise<void> {
  for (;;) {
    const [row] =
      await sql`select submission_id as id from runledger.pending where told_to is not null`
    if (row === undefined) continue
    await finish(sql, row['id'] as string, { verdict, stdout })
    return
  }
}

t.test('with --no-wait the id is printed as JSON, for a person as it is', async (t) => {
  const stdinFile = write('input', '1 2\n')
  const { status, out, err } = await command({ stdinFile })
  t.equal(status, 0)
  t.equal(err, '')
  const { id } = JSON.parse(out) as { id: string }
  const [row] = await sql`select code, stdin from runledger.body where submission_id = ${id}`
  t.equal(String(row?.['code']), 'print("ä")')
  t.equal(String(row?.['stdin']), '1 2\n')
  t.match((await command({}, true)).out, /^[0-9a-f-]{36}\n$/)
})

t.test('the exit status follows the verdict; with --json the record is printed', async (t) => {
  for (const verdict of ['AC', 'WA', 'CE', 'RE', 'TLE', 'MLE', 'OLE'] as const) {
    const running = command({ wait: true, json: true })
    await endNext(verdict, 'x')
    const { status, out, err } = await running
    t.equal(status, exitStatuses[verdict], verdict)
    t.match(JSON.parse(out), { verdict, stdout: 'x' })
    t.equal(err, '')
  }
})

t.test('cancel prints how it ended, and submit that it was cancelled', async (t) => {
  const cancel = async (id: string, json = false): Promise<{ status: number; out: string }> => {
    let out = ''
    const write = (text: string): string => (out += text)
    const call = { id, json, url: `http://127.0.0.1:${server.port}`, apiKey }
    const status = await cancelSubmission(call, { stdout: { write }, stderr: { write } })
    return { status, out }
  }
  const running = command({ wait: true })
  let id = ''
  while (id === '') {
    const [row] =
      await sql`select submission_id as id from runledger.pending where told_to is not null`
    id = (row?.['id'] as string | undefined) ?? ''
  }
  t.strictSame(await cancel(id), { status: 0, out: `cancelled ${id}\n` })
  const { status, err } = await running
  t.equal(status, exitStatuses.cancelled)
  t.match(err, /^cancelled .*\n$/)
  t.match(JSON.parse((await cancel(id, true)).out), { id, status: 'cancelled' })
  t.match(await cancel(randomUUID()), {
    status: exitStatuses.refused,
    out: 'There is no such submission.\n',
  })

  const { out } = await command({})
  const ended = (JSON.parse(out) as { id: string }).id
  await finish(sql, ended, { verdict: 'AC' })
  t.strictSame(await cancel(ended), { status: 0, out: `AC ${ended}\n` })
})

t.test('in a pipe the output is printed byte for byte, the rest on stderr', async (t) => {
  const running = command({ wait: true })
  await endNext('RE', 'no line end\u001b[1m')
  const { status, out, err } = await running
  t.equal(status, exitStatuses.RE)
  t.equal(out, 'no line end\u001b[1m')
  t.match(err, /^RE exit 1, 0\.01 s CPU, .*  [0-9a-f-]{36}\n$/)
})

t.test(
  'a person sees a spinner, the output and a line, and nothing that steers the terminal',
  async (t) => {
    const running = command({ wait: true }, true)
    await new Promise((resolve) => setTimeout(resolve, 500))
    await endNext('AC', 'hello\u001b]0;owned\u0007\r')
    const { status, out, err } = await running
    t.equal(status, 0)
    t.match(err, /running, 0\.\d s/)
    t.match(err, /AC.* exit 0, 0\.01 s CPU/)
    t.match(out, /^hello/)
    t.notOk(['\u001b', '\u0007', '\r'].some((control) => out.includes(control)))
  },
)

t.test('the language comes from the name, or is said', async (t) => {
  for (const [name, language] of [
    ['a.cc', 'cpp'],
    ['A.java', 'java'],
    ['a.PY', 'python'],
  ] as const) {
    const { out } = await command({ file: write(name, '') })
    const { id } = JSON.parse(out) as { id: string }
    const [row] = await sql`select language from runledger.result where id = ${id}`
    t.equal(row?.['language'], language)
  }
  t.equal((await command({ file: write('a.txt', '') })).status, exitStatuses.usage)
  t.equal((await command({ file: write('a.txt', ''), language: 'py' })).status, 0)
})

t.test('what goes wrong has a status of its own and a reason', async (t) => {
  const rows: [Partial<SubmitCall>, number, RegExp][] = [
    [{ file: join(directory, 'none.py') }, exitStatuses.noInput, /no such file/],
    [{ file: write('latin.py', Buffer.from([0xff])) }, exitStatuses.noInput, /not UTF-8/],
    [{ language: 'latin' }, exitStatuses.refused, /language must be one of/],
    [{ apiKey: 'x' }, exitStatuses.unauthorized, /not valid/],
    [{ url: 'http://example.com' }, exitStatuses.usage, /https/],
  ]
  for (const [call, expected, reason] of rows) {
    const { status, out, err } = await command({ ...call, json: true })
    t.equal(status, expected)
    t.equal(out, '')
    const { message } = JSON.parse(err) as { message: string }
    t.match(message, reason)
    t.equal((await command(call)).err, `${message}\n`, 'one sentence without --json')
  }
})
