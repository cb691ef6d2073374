// Lists of streams, kept outside the database, show which streams and events a log lacks after it was restored to an earlier
// state.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { startCommandLine } from '../helper/command-line.ts'
import type { Ended } from '../helper/command-line.ts'
import { openTestDatabase } from '../helper/database.ts'
import { makeDirectory } from '../helper/directory.ts'
import { finish } from '../helper/execution.ts'
import { createCaller, describeSubmission, submitNew } from '../helper/submission.ts'

const { sql, url } = await openTestDatabase(t)
const directory = makeDirectory(t)
const file = join(directory, 'streams.ndjson')
const caller = await createCaller(sql)

const command = startCommandLine(t, { DATABASE_URL: url })

async function audit(
  ...words: string[]
): Promise<Ended & { readonly rows: readonly Record<string, unknown>[] }> {
  const ended = await command(['audit', ...words])
  const isList = ended.status === 0 || ended.status === 1
  const lines = isList ? ended.out.split('\n').filter((line) => line !== '') : []
  return { ...ended, rows: lines.map((line) => JSON.parse(line) as Record<string, unknown>) }
}

const keep = (rows: readonly object[]): void =>
  writeFileSync(file, rows.map((row) => JSON.stringify(row)).join('\n'))

async function add(): Promise<string> {
  const id = await submitNew(sql, caller, describeSubmission({ code: 'print(1)' }))
  await finish(sql, id, { stdout: '1\n' })
  return id
}

const finished = await add()
const [cut, gone, changed] = [await add(), await add(), await add()]
const waiting = await submitNew(sql, caller, describeSubmission({ code: 'print(2)' }))

t.test('every stream is listed once, with its last event', async (t) => {
  const { status, rows } = await audit('streams')
  t.equal(status, 0)
  const heads = await sql`
    select distinct on (stream_id) stream_id as id, stream_version as version, type, encode(hash, 'hex') as hash
    from runledger.event order by stream_id desc, stream_version desc`
  t.strictSame(rows, heads.map((row) => ({ ...row }))) // prettier-ignore
  t.match(rows.find(({ id }) => id === finished), { version: 3, type: 'execution.completed' }) // prettier-ignore
  keep(rows)
})

t.test('a log that has gone on lacks nothing', async (t) => {
  await finish(sql, waiting, { stdout: '2\n' })
  await add()
  t.match(await audit('compare', file), { status: 0, rows: [], err: /0 are lost, 0 end earlier/ })
})

t.test('since a time: only what has happened since, in old streams too', async (t) => {
  const [now] =
    await sql`select to_char(clock_timestamp() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at`
  const last = await add()
  const old = uuidv7({ msecs: 1e12 })
  await sql`select runledger.append_event(${old}, 1, 'a.b', 1, '{}', '{}')`
  const { rows } = await audit('streams', '--since', String(now?.['at']))
  t.strictSame(rows.map(({ id }) => id), [last, old]) // prettier-ignore
  const answer = await audit('streams', '--since', 'yesterday')
  t.match(answer, { status: 64, err: /--since must be a date/ })
})

t.test('what is lost, ends before or went on in another way is named', async (t) => {
  await sql`alter table runledger.event disable trigger event_append_only`
  await sql`delete from runledger.event where stream_id = ${cut} and stream_version = 3`
  await sql`delete from runledger.event where stream_id = ${gone}`
  await sql`update runledger.event set hash = sha256('') where stream_id = ${changed} and stream_version = 3`
  await sql`alter table runledger.event enable trigger event_append_only`
  const completed = { version: 3, type: 'execution.completed' }
  const { status, rows, err } = await audit('compare', file)
  t.equal(status, 1)
  t.strictSame(
    rows.toSorted((a, b) => (String(a['finding']) < String(b['finding']) ? -1 : 1)),
    [
      { id: gone, finding: 'lost', kept: completed, now: null },
      {
        id: cut,
        finding: 'older',
        kept: completed,
        now: { version: 2, type: 'execution.started' },
      },
      { id: changed, finding: 'other', kept: completed, now: completed },
    ],
  )
  t.match(err, /1 are lost, 1 end earlier, 1 continue differently/)
})

t.test('of a caller’s list the ids are enough', async (t) => {
  keep([{ id: finished, status: 'completed' }, { id: cut }, { id: gone.toUpperCase() }])
  const lost = { id: gone, finding: 'lost', kept: { version: null, type: null }, now: null }
  t.strictSame((await audit('compare', file)).rows, [lost])
})

t.test('a list that is none is refused with its line', async (t) => {
  writeFileSync(file, `${JSON.stringify({ id: finished })}\n\n{"id": "1"}\n`)
  t.match(await audit('compare', file), { status: 65, err: /line 3 is not a JSON object/ })
  t.equal((await audit('compare', join(directory, 'none'))).status, 66)
})
