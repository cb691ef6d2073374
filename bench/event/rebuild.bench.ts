// How long proof takes: every result made anew from the log, the check that no row differs, every promise, every hash.
// One pass each over 100,000 submissions (300,000 events), or as many as there is time for; rates a second. The rebuild of
// 100,000 must end within 60 s.
import assert from 'node:assert/strict'
import { createDatabase } from '#database'
import { readHeads, verifyAll } from '#event'
import { purgeBodies, rebuildProjections } from '#result'
import { createCaller } from '../../test/helper/submission.ts'
import { startCluster } from '../database.ts'
import { deadline } from '../options.ts'
import { isQuick, report } from '../report.ts'
import { generateLog } from './generate.ts'

const first = 10_000
const most = isQuick ? first : 100_000
const longestSeconds = 60
// All passes together take at most twice as long as it took to make what they go over.
const passes = 2

await using cluster = await startCluster()
const url = await cluster.createDatabase('rebuild')
const sql = createDatabase({ url, connections: 1, name: 'bench', statementSeconds: 0 })
const caller = await createCaller(sql)
const madeFrom = performance.now()
await generateLog(sql, caller, { submissions: first, days: 100 })
const each = (performance.now() - madeFrom) / first
const fitting = (deadline - performance.now()) / each / (1 + passes)
const submissions = Math.max(first, Math.min(most, Math.floor(fitting / first) * first))
if (submissions > first) {
  await generateLog(sql, caller, { submissions: submissions - first, days: 100 })
}

const notes: string[] = []
async function time(what: string, work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  const seconds = (performance.now() - startedAt) / 1000
  notes.push(
    `${what}: ${seconds.toFixed(1)} s for ${submissions.toLocaleString('en')} submissions, ${Math.round(submissions / seconds).toLocaleString('en')} a second`,
  )
  return seconds
}

await time('rebuild with nothing to repair', async () => {
  assert.deepEqual(await rebuildProjections(sql), { submissions, repaired: 0 })
})
await sql`truncate runledger.result`
const seconds = await time('rebuild of every result', async () => {
  assert.deepEqual(await rebuildProjections(sql), { submissions, repaired: submissions })
})
await sql`vacuum (analyze) runledger.result`
await time('audit.drift', async () => {
  assert.deepEqual([...(await sql`select * from audit.drift`)], [])
})
await time('audit.invariant', async () => {
  assert.deepEqual([...(await sql`select * from audit.invariant`)], [])
})
await time('audit verify', async () => {
  assert.equal((await verifyAll(sql)).broken_chain, 0)
})
await time('audit heads', async () => {
  const { parts } = await readHeads(sql)
  assert.equal(
    parts.reduce((sum, part) => sum + part.streams, 0),
    submissions + 1, // the caller's key
  )
})
await time('purge of those older than 30 days', async () => {
  const purged = await purgeBodies(sql, 30)
  assert.ok(purged.submissions > submissions / 2)
  notes.push(`it purged ${purged.submissions} and dropped ${purged.partitions.length} partitions`)
})
await sql.end({ timeout: 5 })
report('event/rebuild', [], {
  notes,
  failures:
    (seconds / submissions) * 100_000 > longestSeconds
      ? [`a rebuild of 100,000 takes more than ${longestSeconds} s`]
      : [],
})
