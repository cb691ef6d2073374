// The walk over the hash chains reports nothing for an untouched log, and finds every change made without the service.
import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { verifyAll } from '#event'
import { startCommandLine } from '../helper/command-line.ts'
import type { Ended } from '../helper/command-line.ts'
import { openTestDatabase } from '../helper/database.ts'
import { finish } from '../helper/execution.ts'
import { createCaller, describeSubmission, submitNew } from '../helper/submission.ts'

const { sql, url } = await openTestDatabase(t)
const caller = await createCaller(sql)
const ids: string[] = []
for (let count = 0; count < 3; count += 1) {
  const id = await submitNew(sql, caller, describeSubmission({ code: `print(${count})` }))
  await finish(sql, id, { stdout: `${count}\n` })
  ids.push(id)
}
const [id = ''] = ids
// Streams without a partition: before, between and after the months that have one.
for (const odd of [
  '00000000-0000-7000-8000-000000000001',
  uuidv7({ msecs: 1e12 }),
  'ffffffff-0000-7000-8000-000000000001',
])
  await sql`select runledger.append_event(${odd}, 1, 'a.b', 1, '{}', '{}')`

const command = startCommandLine(t, { DATABASE_URL: url })
const verify = (): Promise<Ended> => command('audit verify')

/** Changes the log as an intruder with a superuser's rights could, runs `look`, and restores the log. */
async function tamper(statement: string, look: () => Promise<void>): Promise<void> {
  await sql.unsafe(`
    create table public.kept as table runledger.event;
    alter table runledger.event disable trigger event_append_only`)
  await sql.unsafe(statement)
  await look()
  await sql.unsafe(`
    delete from runledger.event;
    insert into runledger.event table public.kept;
    drop table public.kept;
    alter table runledger.event enable trigger event_append_only`)
}

t.test('an untouched log fits, and all of it is read', async (t) => {
  const [all] = await sql`select count(*) from runledger.event`
  const shares: number[] = []
  const result = await verifyAll(sql, (share) => shares.push(share), 4)
  t.match(result, { events: all?.['count'], broken_chain: 0, drift: 0, invariant: 0 })
  t.strictSame(result.first, {})
  t.ok(shares.length > 2, 'in steps')
  t.equal(shares.at(-1), 1)
  t.match(await verify(), { out: /every hash fits/, status: 0 })
})

/** Returns a statement that changes the event of this version. */
const set = (version: number, change: string): string =>
  `update runledger.event set ${change} where stream_id = '${id}' and stream_version = ${version}`
const remove = (version: number): string =>
  `delete from runledger.event where stream_id = '${id}' and stream_version = ${version}`

for (const [what, statement, version] of [
  ['changed data', set(3, `data = '{"verdict": "WA"}'`), 3],
  ['a changed time', set(1, "recorded_at = recorded_at - interval '1 hour'"), 1],
  ['changed metadata', set(2, "metadata = '{}'"), 2],
  ['a changed type', set(3, "type = 'execution.completes'"), 3],
  ['a changed hash', set(2, "hash = sha256('')"), 2],
  [
    'an event that was hashed anew',
    `update runledger.event e set metadata = '{}', hash = runledger.hash_event(
      (select before.hash from runledger.event before where before.stream_id = e.stream_id and before.stream_version = 1),
      e.stream_id, e.stream_version, e.type, e.schema_version, e.data, '{}', e.recorded_at
    ) where e.stream_id = '${id}' and e.stream_version = 2`,
    3,
  ],
  ['a removed event', remove(2), 3],
  ['a removed beginning', remove(1), 2],
  ['an event moved to another stream', set(2, `stream_id = '${ids[1]}', stream_version = 4`), 4],
  [
    'an event slipped in',
    `insert into runledger.event (stream_id, stream_version, type, schema_version, data, metadata, recorded_at, hash) values ('${id}', 4, 'a.b', 1, '{}', '{}', now(), sha256(''))`,
    4,
  ],
] as const) {
  t.test(`${what} is found, and the first event that does not fit is named`, async (t) => {
    await tamper(statement, async () => {
      const { first, broken_chain: broken } = await verifyAll(sql)
      t.ok(broken >= 1)
      t.match(first.broken_chain, new RegExp(`version ${version} of stream [0-9a-f-]{36},`))
      const { out, status } = await verify()
      t.match(out, `The first: ${first.broken_chain}.`)
      t.equal(status, 1)
    })
  })
}

t.test('of several the one that was written first is named, whatever their ids', async (t) => {
  for (const [first, other, version] of [
    [ids[1], ids[2], 2],
    [ids[2], '00000000-0000-7000-8000-000000000001', 1],
  ] as const) {
    const statement = `update runledger.event set metadata = '[]' where stream_version = ${version} and stream_id in ('${other}', '${first}')`
    const told = {
      first: { broken_chain: `version ${version} of stream ${first}` },
      broken_chain: 2,
    }
    await tamper(statement, async () => {
      for (const events of [1, 5000]) t.match(await verifyAll(sql, undefined, events), told)
    })
  }
})

t.test('an end that was cut off shows in what was made from it', async (t) => {
  await tamper(remove(3), async () => {
    t.match(await verifyAll(sql), { broken_chain: 0 })
    t.match(await verify(), { out: new RegExp(`the first: \\w+ ${id}`), status: 1 })
  })
})

t.test('a stream that was removed altogether shows too', async (t) => {
  await tamper(`delete from runledger.event where stream_id = '${id}'`, async () => {
    t.match(await verify(), { out: /rows differ from the log/, status: 1 })
  })
})

t.test('an output that was changed does not have the hash that the log has', async (t) => {
  await sql`update runledger.output set stdout = 'forged' where submission_id = ${id}`
  t.match(await verify(), { out: new RegExp(`stdout of ${id}`), status: 1 })
  await sql`update runledger.output set stdout = ${Buffer.from('0\n')} where submission_id = ${id}`
  t.equal((await verify()).status, 0)
})

t.test('an output that was removed shows too', async (t) => {
  const gone = await sql`delete from runledger.output where submission_id = ${id} returning *`
  const [broken] = await sql`select broken from audit.invariant where subject = ${id}`
  t.match(broken, { broken: /^an output is gone/ })
  t.match(await verify(), { out: new RegExp(`of ${id}`), status: 1 })
  await sql`insert into runledger.output ${sql(gone[0] ?? {})}`
  t.equal((await verify()).status, 0)
})

t.test('every view says that all is well in the end', async (t) => {
  for (const view of ['drift', 'broken_chain', 'altered_body', 'invariant'])
    t.strictSame([...(await sql`select * from audit.${sql(view)}`)], [], view)
})
