// The heads of the log, kept outside the database, show changes that the hash chains alone do not show.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { compareHeads, parseHeads, readHeads, verifyAll } from '#event'
import { startCommandLine } from '../helper/command-line.ts'
import type { Ended } from '../helper/command-line.ts'
import { openTestDatabase } from '../helper/database.ts'
import { makeDirectory } from '../helper/directory.ts'
import { finish } from '../helper/execution.ts'
import { createCaller, describeSubmission, submitNew } from '../helper/submission.ts'

const { sql, url } = await openTestDatabase(t)
const directory = makeDirectory(t)
const caller = await createCaller(sql)

async function addFinished(): Promise<string> {
  const id = await submitNew(sql, caller, describeSubmission({ code: 'print(1)' }))
  await finish(sql, id, { stdout: '1\n' })
  return id
}

/** Waits until no open transaction of the server, including those of other tests, is older than the last event. */
async function settle(): Promise<void> {
  for (;;) {
    const [row] = await sql`
      select max(transaction_id) < pg_snapshot_xmin(pg_current_snapshot()) as settled from runledger.event
      where transaction_id < pg_snapshot_xmax(pg_current_snapshot())`
    if (row?.['settled'] === true) return
    await sleep(20)
  }
}

const command = startCommandLine(t, { DATABASE_URL: url })
const audit = (...words: string[]): Promise<Ended> => command(['audit', ...words])

await addFinished()
const id = await addFinished()
// Streams before and after the months that have a partition.
for (const odd of [uuidv7({ msecs: 1e12 }), 'ffffffff-0000-7000-8000-000000000001'])
  await sql`select runledger.append_event(${odd}, 1, 'a.b', 1, '{}', '{}')`

await settle()
const file = join(directory, 'heads.json')
writeFileSync(file, (await audit('heads')).out)

t.test('every event is in one part', async (t) => {
  await settle()
  const { parts, position } = await readHeads(sql)
  const [all] = await sql`
    select count(*) as events, count(distinct stream_id) as streams, max(position) as newest from runledger.event`
  const sum = (field: 'events' | 'streams'): number =>
    parts.reduce((total, part) => total + part[field], 0)
  t.strictSame({ events: sum('events'), streams: sum('streams'), newest: position }, { ...all })
})

t.test('what is added later does not change them; what was open is not in them', async (t) => {
  await settle()
  const open = await sql.reserve()
  await open`begin`
  const stream = uuidv7()
  await open`select runledger.append_event(${stream}, 1, 'a.b', 1, '{}', '{}')`
  await addFinished()
  const kept = await readHeads(sql)
  await open`select runledger.append_event(${stream}, 2, 'a.b', 1, '{}', '{}')`
  await open`commit`
  open.release()
  await addFinished()
  await settle()
  t.strictSame(await compareHeads(sql, kept), [])
  t.strictSame(parseHeads(JSON.stringify(kept)), kept)
  t.notSame((await readHeads(sql)).parts, kept.parts)
})

t.test('the command says that the log ends as it did', async (t) => {
  await addFinished()
  t.match(await audit('heads', '--compare', file), { out: /ends as the digests say/, status: 0 })
})

t.test('a log that was restored from another server is all in them', async (t) => {
  await addFinished()
  const restored = await addFinished()
  await sql`alter table runledger.event disable trigger event_append_only`
  await sql`
    update runledger.event set transaction_id = (1e15::bigint)::text::xid8 where stream_id = ${restored}`
  await settle()
  const kept = await readHeads(sql)
  const [row] = await sql`select count(*) as events from runledger.event`
  t.equal(
    kept.parts.reduce((sum, { events }) => sum + events, 0),
    row?.['events'],
  )
  await addFinished()
  t.strictSame(await compareHeads(sql, kept), [])
  await sql`delete from runledger.event where stream_id = ${restored}`
  await sql`alter table runledger.event enable trigger event_append_only`
  t.equal((await compareHeads(sql, kept)).length, 1)
})

t.test('a file of another kind is refused', async (t) => {
  for (const text of ['', '{}', '{"position": 1, "transaction": "1; drop", "parts": []}']) {
    writeFileSync(join(directory, 'other'), text)
    const answer = await audit('heads', '--compare', join(directory, 'other'))
    t.match(answer, { out: /not an output/, status: 1 })
  }
  t.equal((await audit('heads', '--compare', join(directory, 'none'))).status, 66)
})

t.test('an auditor may take and compare them', async (t) => {
  await sql.begin(async (transaction) => {
    await transaction`set local role runledger_auditor`
    const heads = await readHeads(transaction as unknown as typeof sql)
    t.strictSame(await compareHeads(transaction as unknown as typeof sql, heads), [])
  })
})

// Each statement leaves a log in which every hash fits, as an intruder with a superuser's rights could.
for (const [what, statement] of [
  [
    'the end of a stream is cut off',
    `delete from runledger.event where stream_id = '${id}' and stream_version = 3`,
  ],
  ['a whole stream is removed', `delete from runledger.event where stream_id = '${id}'`],
  [
    'an event is changed and every later hash computed anew',
    `update runledger.event e set data = '{"verdict": "WA"}', hash = runledger.hash_event(
      (select hash from runledger.event where stream_id = '${id}' and stream_version = 2),
      stream_id, stream_version, type, schema_version, '{"verdict": "WA"}', metadata, recorded_at)
    where stream_id = '${id}' and stream_version = 3`,
  ],
] as const) {
  t.test(`${what}: the chains fit, the heads do not`, async (t) => {
    await sql.unsafe(`
      create table public.kept as table runledger.event;
      alter table runledger.event disable trigger event_append_only`)
    await sql.unsafe(statement)
    t.equal((await verifyAll(sql)).broken_chain, 0)
    t.match(await audit('heads', '--compare', file), { out: /DO NOT END as they did/, status: 1 })
    await sql.unsafe(`
      delete from runledger.event;
      insert into runledger.event table public.kept;
      drop table public.kept;
      alter table runledger.event enable trigger event_append_only`)
  })
}
