// What company gains at the other end of the queue: jobs that the free slots of one worker ask for at once, each begun with
// its event. Batched (src/database/batch.ts) they share statements and commits.
// Floor: a statement and a commit for each, through as many connections as a worker has for them.
import assert from 'node:assert/strict'
import { createDatabase } from '#database'
import { receiveSubmission } from '#enqueue'
import { createId } from '#id'
import { defaultLimits } from '#language'
import { createLog } from '#log'
import { createStarter } from '../../src/job/execute/attempt.ts'
import type { AttemptDependencies } from '../../src/job/execute/attempt.ts'
import { createCaller, describeContext, describeSubmission } from '../../test/helper/submission.ts'
import { startCluster } from '../database.ts'
import { measure } from '../measure.ts'
import type { Case } from '../measure.ts'
import { report, scaleIterations } from '../report.ts'

const connections = 3
const slotCounts = [1, 2, 4, 8, 16]
const iterations = scaleIterations(400)
const submission = describeSubmission({ code: 'print("hello")\n' })

await using cluster = await startCluster()
const url = await cluster.createDatabase('take')
await using pools = new AsyncDisposableStack()
const sql = createDatabase({ url, connections, name: 'bench' })
pools.defer(() => sql.end({ timeout: 5 }))
const caller = await createCaller(sql)
const { signal } = new AbortController()
const workerId = createId()
await sql`select graphile_worker.add_job('execute')`
await sql`
  insert into runledger.worker (id, host, pid, slots, languages, lease_seconds)
  values (${workerId}, 'bench', 1, 1, '{}', 3600)`
const dependencies = {
  database: sql,
  executor: { runtimes: { python: { version: 'Python 3' } }, isolation: {} },
  limits: defaultLimits,
  log: createLog('bench', 'silent'),
  lease: { workerId, signal },
  shutdown: signal,
} as unknown as AttemptDependencies

const cases = slotCounts.flatMap((slots): Case[] => {
  const among = `${slots} slot${slots === 1 ? '' : 's'}`
  const how = { atOnce: slots, iterations, prepare: fillQueue }
  const floor = `each by itself, ${among}`
  return [
    // Each slot a worker of its own.
    { ...how, name: floor, run: takeBy(Array.from({ length: slots }, createOneStarter)) },
    { ...how, name: `batched, ${among}`, floor, run: takeBy([createOneStarter()]) },
  ]
})
await fillQueue()
report('event/take', await measure(cases))

function createOneStarter(): ReturnType<typeof createStarter> {
  return createStarter(dependencies, [])
}

/** Takes one job, by the starters in turn. */
function takeBy(starters: readonly ReturnType<typeof createStarter>[]): () => Promise<void> {
  let calls = 0
  return async () => {
    const taken = await starters[calls++ % starters.length]?.take()
    assert.equal(taken?.attempt.language, 'python')
  }
}

/** As long for every round, and as many dead rows in its index. */
async function fillQueue(): Promise<void> {
  await sql`truncate runledger.pending, graphile_worker._private_jobs`
  const context = { ...describeContext(caller), capacity: 100_000 }
  await Promise.all(
    Array.from({ length: iterations + slotCounts.length * 2 }, () =>
      receiveSubmission(sql, createId(), submission, context, signal),
    ),
  )
}
