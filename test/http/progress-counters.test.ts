// Counting what happens stays cheap, however long the log is and however long nobody has asked.
import { Registry } from 'prom-client'
import t from 'tap'
import type { Database } from '#database'
import { createProgressCounters } from '../../src/http/progress-counters.ts'
import { openTestDatabase } from '../helper/database.ts'
import { countRowsRead } from '../helper/rows-read.ts'

t.test('the first looks do not read what was recorded before', async (t) => {
  const { sql } = await openTestDatabase(t)
  await sql`
    insert into runledger.event (position, stream_id, stream_version, type, schema_version, data, metadata, recorded_at, hash)
    select n, runledger.uuid_floor('1999-01-01'), n, 'webhook.delivered', 1, '{}', '{}', now(), ''
    from generate_series(1, 2000) n`
  await sql`select setval('runledger.event_position', 1000000)`
  await sql`
    insert into runledger.event (stream_id, stream_version, type, schema_version, data, metadata, recorded_at, hash)
    values (runledger.uuid_floor('1999-01-01'), 2001, 'webhook.delivered', 1, '{}', '{}', now(), '')`
  await sql`analyze runledger.event`
  const read = await countRowsRead(sql, 'runledger.event_default', (transaction) =>
    createProgressCounters(transaction as Database, new Registry())(),
  )
  t.ok(read < 50, `read ${read} rows`)
})

t.test('after a look that took too long, the next one starts at the end of the log', async (t) => {
  const asked: unknown[] = []
  const answers = [
    () => [{ until: '7', begun: '7', newest_position: 5, type: null }],
    () => {
      throw Object.assign(new Error('statement timeout'), { code: '57014' })
    },
    () => [{ until: '9', begun: '9', newest_position: 8, type: null }],
  ]
  const answer = async (_text: unknown, since: unknown): Promise<unknown> => {
    asked.push(since)
    return answers[asked.length - 1]?.()
  }
  const look = createProgressCounters(answer as unknown as Database, new Registry())
  await t.rejects(look(), { code: '57014' })
  await look()
  t.strictSame(asked, ['18446744073709551615', '7', '18446744073709551615'])
})
