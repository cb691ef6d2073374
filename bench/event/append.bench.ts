// How fast a submission is stored: event, bodies, row of runledger.pending and job in one durable transaction
// (runledger.receive), with 1, 4 and 16 connections.
// Floor: one row inserted durably, with as many connections. With one connection read "+p50" as the price of the rest
// of the transaction; with more the ratio is of submissions a second.
import assert from 'node:assert/strict'
import { createDatabase } from '#database'
import type { Database } from '#database'
import { createCaller, describeSubmission, submit } from '../../test/helper/submission.ts'
import { insertDurably, startCluster } from '../database.ts'
import { measure } from '../measure.ts'
import type { Case } from '../measure.ts'
import { report, scaleIterations } from '../report.ts'

const submission = describeSubmission({ code: 'print("hello")\n' })

await using cluster = await startCluster()
const url = await cluster.createDatabase('append')
await using pools = new AsyncDisposableStack()
const admin = connect(1)
const caller = await createCaller(admin)

function connect(connections: number): Database {
  const sql = createDatabase({ url, connections, name: `bench ${connections}` })
  pools.defer(() => sql.end({ timeout: 5 }))
  return sql
}

/** Nothing takes jobs here: without this a later round would find a longer queue than an earlier one. */
async function emptyQueue(): Promise<void> {
  await admin`truncate runledger.pending, graphile_worker._private_jobs`
}

async function append(sql: Database): Promise<void> {
  const { kind } = await submit(sql, caller, submission)
  assert.equal(kind, 'received')
}

const cases = [1, 4, 16].flatMap((connections): Case[] => {
  const sql = connect(connections)
  const how = {
    atOnce: connections,
    // Fewer than the queue holds.
    iterations: scaleIterations(connections === 1 ? 200 : 800),
    prepare: emptyQueue,
  }
  const name = `${connections} connection${connections === 1 ? '' : 's'}`
  const floor = `bare insert, ${name}`
  return [
    { ...how, name: floor, run: () => insertDurably(sql, submission.code) },
    { ...how, name: `append and enqueue, ${name}`, floor, run: () => append(sql) },
  ]
})

const rows = await measure(cases)
// What was waiting was taken away above, so that only this projection may differ.
const [stored] = await admin`
  select count(*)::integer as drift from audit.drift where projection <> 'pending'`
report('event/append', rows, {
  failures: stored?.['drift'] === 0 ? [] : [`audit.drift has ${stored?.['drift']} rows`],
})
