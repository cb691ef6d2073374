// What goes through a whole history, or through much of it: proof, rebuild, retention, and what a submission takes of the disk.
// Rates of the long history beside those of one a thirtieth as long.
//   node bench/history/whole.ts DIRECTORY [WORD …]    those whose name has one of the words
import assert from 'node:assert/strict'
import type { Database } from '#database'
import { readHeads, verifyAll } from '#event'
import { wordsAsked } from '../options.ts'
import { report } from '../report.ts'
import { digits } from '../table.ts'
import { connect, dropPartitions, openCluster } from './history.ts'

const [directory = '', ...words] = wordsAsked
const firstId = '00000000-0000-0000-0000-000000000000'

interface Work {
  readonly name: string
  /** @returns how many of `unit` it went through. */
  readonly run: (sql: Database) => Promise<number>
  readonly unit: 'events' | 'submissions' | 'streams'
}

async function count(sql: Database, table: 'event' | 'result' | 'body'): Promise<number> {
  const [row] = await sql<[{ count: number }]>`select count(*) from ${sql(`runledger.${table}`)}`
  return row.count
}

/** A view that is empty when all is well. */
const prove =
  (view: string, table: 'event' | 'body') =>
  async (sql: Database): Promise<number> => {
    assert.deepEqual([...(await sql`select * from ${sql(view)}`)], [])
    return count(sql, table)
  }

/** Steps of the same size, from some places of the history. */
async function rebuild(sql: Database): Promise<number> {
  let sum = 0
  for (const days of [190, 150, 110, 70, 30]) {
    const [from] =
      await sql`select runledger.uuid_floor(now() - make_interval(days => ${days})) as id`
    let after = from?.['id'] as string
    for (let step = 0; step < 4; step += 1) {
      const [row] = await sql<[{ last: string; submissions: number; repaired: number }]>`
        select * from runledger.rebuild_batch(${after}, 1000)`
      assert.equal(row.repaired, 0)
      after = row.last
      sum += row.submissions
    }
  }
  return sum
}

/** As the reconciler walks through the log, from the first event on. */
async function restore(sql: Database): Promise<number> {
  let after = firstId
  for (let step = 0; step < 5; step += 1) {
    const [row] = await sql<[{ last: string; restored: number }]>`
      select * from runledger.restore_next_pending(${after}, 20000)`
    assert.equal(row.restored, 0)
    after = row.last
  }
  return 100_000
}

/** Some steps of the hourly retention, from where the last ones ended. */
async function purge(sql: Database): Promise<number> {
  let sum = 0
  for (let step = 0; step < 10; step += 1) {
    const [row] = await sql<[{ count: number }]>`
      select runledger.purge_bodies('30 days', 1000) as count`
    sum += row.count
  }
  await dropPartitions(sql, 30)
  return sum
}

const works: readonly Work[] = [
  { name: 'rebuild, 20 steps', run: rebuild, unit: 'submissions' },
  { name: 'reconciler: 5 steps of its walk', run: restore, unit: 'submissions' },
  {
    name: 'audit verify',
    run: async (sql) => {
      const { events, broken_chain: broken } = await verifyAll(sql)
      assert.equal(broken, 0)
      return events
    },
    unit: 'events',
  },
  {
    name: 'audit heads',
    run: async (sql) => (await readHeads(sql)).parts.reduce((sum, { streams }) => sum + streams, 0),
    unit: 'streams',
  },
  { name: 'audit.drift', run: prove('audit.drift', 'event'), unit: 'events' },
  { name: 'audit.altered_body', run: prove('audit.altered_body', 'body'), unit: 'submissions' },
  { name: 'audit.broken_chain', run: prove('audit.broken_chain', 'event'), unit: 'events' },
  { name: 'audit.invariant', run: prove('audit.invariant', 'event'), unit: 'events' },
  { name: 'retention, 10 steps', run: purge, unit: 'submissions' },
]

/** Bytes on disk for each submission whose rows are there, indexes and all. */
async function weigh(sql: Database): Promise<string> {
  const rows = await sql<{ name: string; bytes: number }[]>`
    select name, (
      select sum(pg_total_relation_size(part.relid))
      from (
        select relid from pg_partition_tree(('runledger.' || name)::regclass)
        union select ('runledger.' || name)::regclass
      ) part
    ) as bytes
    from unnest(array['event', 'result', 'delivery', 'body', 'output']) name`
  const submissions = await count(sql, 'result')
  const kept = await count(sql, 'body')
  return rows
    .map(
      ({ name, bytes }) =>
        `${name} ${Math.round(bytes / (name === 'body' || name === 'output' ? kept : submissions))}`,
    )
    .join(', ')
}

const notes: string[] = []
const server = await openCluster(directory, true)
try {
  const middle = connect(server, 'middle')
  const long = connect(server, 'long')
  for (const { name, run, unit } of works) {
    if (words.length > 0 && !words.some((word) => name.includes(word))) continue
    const rates: number[] = []
    for (const sql of [middle, long]) {
      const startedAt = performance.now()
      const done = await run(sql)
      const seconds = (performance.now() - startedAt) / 1000
      rates.push(done / seconds)
      const text = `${name}: ${done.toLocaleString('en')} ${unit} in ${digits(seconds)} s, ${Math.round(done / seconds).toLocaleString('en')} a second`
      process.stderr.write(`  ${text}\n`)
      notes.push(text)
    }
    notes.push(
      `${name}: ×${digits((rates[1] ?? 0) / (rates[0] ?? 0))} of the shorter history's rate`,
    )
  }
  if (words.length === 0 || words.includes('bytes')) {
    for (const sql of [middle, long]) notes.push(`bytes a submission: ${await weigh(sql)}`)
  }
  await middle.end({ timeout: 5 })
  await long.end({ timeout: 5 })
} finally {
  await server.stop()
}
report('history/whole', [], { notes })
