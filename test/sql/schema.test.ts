// The schema equals its snapshot, test/sql/schema.sql.
import { readFile } from 'node:fs/promises'
import t from 'tap'
import { openTestDatabase } from '../helper/database.ts'
import { describeSchema, snapshotPath } from '../helper/schema.ts'

const { sql } = await openTestDatabase(t)

t.test(
  'the schema is as in test/sql/schema.sql (renew it with: node test/helper/schema.ts)',
  async (t) => {
    const [snapshot, schema] = [await readFile(snapshotPath, 'utf8'), await describeSchema(sql)]
    t.strictSame(schema.split('\n'), snapshot.split('\n'))
  },
)

t.test('a column more, a right more or a trigger less shows', async (t) => {
  let before = await describeSchema(sql)
  for (const change of [
    'alter table runledger.tier add column colour text',
    'grant select on runledger.api_key to runledger_api',
    'grant select (secret) on runledger.delivery to runledger_api',
    'alter function runledger.start security invoker',
    'drop trigger event_append_only on runledger.event_default',
    'drop index runledger.event_one_terminal',
    "comment on table runledger.event is 'other'",
  ]) {
    await sql.unsafe(change)
    const after = await describeSchema(sql)
    t.not(after, before, change)
    before = after
  }
})
