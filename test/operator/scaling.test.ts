// audit.scaling, by which a controller starts and stops workers: its rows while a queue fills, ages and drains, what it reads,
// and which roles may read it.
import t from 'tap'
import { createDatabase } from '#database'
import type { Language } from '#language'
import { openTestDatabase } from '../helper/database.ts'
import { completeExecution, startExecution } from '../helper/execution.ts'
import { createCaller, describeSubmission, submitNew } from '../helper/submission.ts'

const { sql, url } = await openTestDatabase(t)
const session = createDatabase({ url, connections: 1, name: 'scaler' })
t.teardown(() => session.end())

interface Row {
  readonly language: string
  readonly running: number
  readonly waiting: number
  readonly oldest_seconds: number
  readonly wanted_slots: number
}

const read = (language: Language): Promise<Row[]> =>
  session<Row[]>`select * from audit.scaling where language = ${language}`

/** Submits so many submissions, which wait. @returns their ids. */
async function fill(count: number, language: Language, tier = 'unlimited'): Promise<string[]> {
  const caller = await createCaller(sql, tier)
  const ids: string[] = []
  while (ids.length < count)
    ids.push(await submitNew(sql, caller, describeSubmission({ code: '', language })))
  return ids
}

/** Makes all waiting submissions as old as if they had been received so many seconds ago. */
const age = (seconds: number): Promise<unknown> =>
  session`update runledger.pending set created_at = now() - ${seconds} * interval '1 s' where not is_running`

t.test('of an empty queue it has no row', async (t) => {
  t.strictSame([...(await session`select * from audit.scaling`)], [])
})

t.test('a load that comes and goes', async (t) => {
  const wanted = async (): Promise<number> => (await read('python'))[0]?.wanted_slots ?? 0
  const ids = await fill(10, 'python')
  // Submissions that have just arrived want one slot. The submits above may have taken longer, so the age is set.
  await age(0.001)
  t.equal(await wanted(), 1, 'as they come, the first one')
  await age(10)
  t.equal(await wanted(), 4, 'after a third of the time, a third more')
  await age(60)
  t.equal(await wanted(), 10, 'when they have stood, all')

  const versions: (number | null)[] = []
  for (const id of ids) versions.push(await startExecution(sql, id))
  t.match(await read('python'), [{ running: 10, waiting: 0, oldest_seconds: 0, wanted_slots: 10 }])
  for (const [index, id] of ids.entries()) {
    await completeExecution(sql, id, versions[index]!)
    t.equal(await wanted(), 9 - index, 'what runs keeps its slot')
  }
  t.strictSame([...(await read('python'))], [], 'and then nothing is wanted')
})

t.test('each language by itself, as an integer', async (t) => {
  await fill(3, 'python')
  await fill(2, 'cpp')
  await age(60)
  t.match(await read('python'), [{ waiting: 3, wanted_slots: 3 }])
  t.match(await read('cpp'), [{ waiting: 2, wanted_slots: 2 }])
  const types = await session`
    select attname, format_type(atttypid, atttypmod) as type from pg_attribute
    where attrelid = 'audit.scaling'::regclass and attname in ('running', 'waiting', 'wanted_slots')`
  t.equal(types.length, 3)
  for (const { type } of types) t.equal(type, 'integer')
})

t.test('those that wait for others of their own key want no slot', async (t) => {
  const most = (
    await session`select concurrent_executions as most from runledger.tier where name = 'beta'`
  )[0]?.['most'] as number
  await fill(most + 3, 'ruby', 'beta')
  await age(600)
  t.match(await read('ruby'), [{ waiting: most, wanted_slots: most }])
})

t.test('it reads the unfinished submissions and nothing else', async (t) => {
  const [row] = await session`explain (format json) select * from audit.scaling`
  const plan = JSON.stringify(row?.['QUERY PLAN'])
  const relations = [...plan.matchAll(/"Relation Name": ?"(\w+)"/g)].map(([, name]) => name)
  t.strictSame(relations, ['pending'])
})

t.test('auditors may read it, and a login that is given nothing else', async (t) => {
  const may = async (login: string, relation: string): Promise<boolean> => {
    const [row] = await session<[{ may: boolean }]>`
      select has_schema_privilege(${login}, ${relation.split('.')[0]!}, 'usage') and has_table_privilege(${login}, ${relation}, 'select') as may`
    return row.may
  }
  t.ok(await may('runledger_auditor', 'audit.scaling'))
  for (const role of ['runledger_api', 'runledger_worker', 'runledger_queue'])
    t.notOk(await may(role, 'audit.scaling'), role)

  const login = `test_scaler_${process.pid}`
  await session.unsafe(`create role ${login} login`)
  t.teardown(async () => {
    await session.unsafe(`drop owned by ${login}`)
    await session.unsafe(`drop role ${login}`)
  })
  await session.unsafe(`grant usage on schema audit to ${login}`)
  await session.unsafe(`grant select on audit.scaling to ${login}`)
  await session.begin(async (own) => {
    await own.unsafe(`set local role ${login}`)
    await own`select coalesce(sum(wanted_slots), 0) from audit.scaling`
  })
  t.notOk(await may(login, 'audit.submission'))
})
