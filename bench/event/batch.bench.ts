// What batching gains: submissions that come at once, as a web process receives them, through as many connections as it has.
// Batched (src/database/batch.ts) they share statements and commits.
// Those of one request do so too. Floor: a statement and a commit for each. A lone caller has nobody to share with: there the two should be the same.
import assert from 'node:assert/strict'
import { createDatabase } from '#database'
import { createId } from '#id'
import { createReceive } from '../../src/job/receive.ts'
import type { Receive } from '../../src/job/receive.ts'
import { createCaller, describeContext, describeSubmission } from '../../test/helper/submission.ts'
import { startCluster } from '../database.ts'
import { measure } from '../measure.ts'
import type { Case } from '../measure.ts'
import { report, scaleIterations } from '../report.ts'

// A web process's.
const connections = 10
const callerCounts = [1, 2, 4, 16, 64]
// What the contract allows at once.
const batchSize = 20
const submission = describeSubmission({ code: 'print("hello")\n' })

await using cluster = await startCluster()
const url = await cluster.createDatabase('batch')
await using pools = new AsyncDisposableStack()
const sql = createDatabase({ url, connections, name: 'bench' })
pools.defer(() => sql.end({ timeout: 5 }))
const caller = await createCaller(sql)
const context = { ...describeContext(caller), capacity: 100_000 }

const alone = createReceive(sql, { statements: Infinity, items: 1 })
const batched = createReceive(sql)

const cases = callerCounts.flatMap((callers): Case[] => {
  const among = `${callers} caller${callers === 1 ? '' : 's'}`
  const how = {
    atOnce: callers,
    iterations: scaleIterations(callers === 1 ? 200 : 800),
    prepare: emptyQueue,
  }
  const floor = `each by itself, ${among}`
  return [
    { ...how, name: floor, run: () => receiveOne(alone) },
    { ...how, name: `batched, ${among}`, floor, run: () => receiveOne(batched) },
  ]
})
cases.push({
  name: `${batchSize} in one request`,
  floor: 'each by itself, 1 caller',
  iterations: scaleIterations(200),
  prepare: emptyQueue,
  run: receiveTogether,
})
report('event/batch', await measure(cases))

/** Nothing takes jobs here: without this a later round would find a longer queue than an earlier one. */
async function emptyQueue(): Promise<void> {
  await sql`truncate runledger.pending, graphile_worker._private_jobs`
}

async function receiveOne(receive: Receive): Promise<void> {
  const { signal } = new AbortController()
  const { kind } = await receive([{ id: createId(), submission }], context, signal)
  assert.equal(kind, 'received')
}

async function receiveTogether(): Promise<void> {
  const { signal } = new AbortController()
  const items = Array.from({ length: batchSize }, () => ({ id: createId(), submission }))
  const { kind } = await batched(items, context, signal)
  assert.equal(kind, 'received')
}
