// The start of attempts that the slots of one worker start at once, each with its event. Batched (src/database/batch.ts) they
// share statements and commits.
// Floor: a statement and a commit for each, through as many connections as a worker has for them.
import assert from 'node:assert/strict'
import { createDatabase } from '#database'
import { createReceive } from '#enqueue'
import { createId } from '#id'
import { defaultLimits } from '#language'
import { createLog } from '#log'
import { createStart } from '../../src/job/execute/attempt.ts'
import type { AttemptDependencies, BeginAttempt } from '../../src/job/execute/attempt.ts'
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
let queued: string[] = []
const workerId = createId()
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
    { ...how, name: floor, run: startBy(Array.from({ length: slots }, createOneStart)) },
    { ...how, name: `batched, ${among}`, floor, run: startBy([createOneStart()]) },
  ]
})
await fillQueue()
report('event/take', await measure(cases))

function createOneStart(): BeginAttempt {
  return createStart(dependencies, [])
}

/** Begins one that is queued, by these in turn. */
function startBy(starts: readonly BeginAttempt[]): () => Promise<void> {
  let calls = 0
  return async () => {
    const id = queued.pop() ?? ''
    const start = starts[calls++ % starts.length]
    const row = await start?.({
      worker: workerId,
      submission: id,
      run: createId(),
      language: 'python',
    })
    assert.equal(row?.submission, id)
  }
}

/** As long for every round, and as many dead rows in its index. */
async function fillQueue(): Promise<void> {
  await sql`truncate runledger.pending, graphile_worker._private_jobs`
  const context = { ...describeContext(caller), capacity: 100_000 }
  queued = Array.from({ length: iterations + slotCounts.length * 2 }, createId)
  const receive = createReceive(sql)
  await Promise.all(queued.map((id) => receive([{ id, submission }], context, signal)))
}
