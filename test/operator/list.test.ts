// The lists of workers and of running submissions, as the tables say.
import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { createDatabase } from '#database'
import { cancelSubmission } from '#enqueue'
import { listRunning, listWorkers } from '#operator'
import { openTestDatabase } from '../helper/database.ts'
import { completeExecution, startExecution } from '../helper/execution.ts'
import { createCaller, describeSubmission, submitNew } from '../helper/submission.ts'

const { sql, url } = await openTestDatabase(t)
const session = createDatabase({ url, connections: 1, name: 'worker' })
t.teardown(() => session.end())
const caller = await createCaller(sql)
const workerId = uuidv7()

t.test('no worker and nothing that runs are empty lists', async (t) => {
  t.strictSame([...(await listWorkers(sql))], [])
  await submitNew(sql, caller, describeSubmission({ code: '' }))
  t.strictSame([...(await listRunning(sql))], [], 'what waits does not run')
})

t.test('a worker that lives is shown with what it has to do', async (t) => {
  const description = { version: '1.2.3', isolation: { box: 'keeper', cgroup: 'v2', uid: 'slot' } }
  const languages = { cpp: { version: 'g++ 14' }, python: { version: 'Python 3.13' } }
  await session`
    select runledger.register_worker(
      ${workerId}, 'host-a', 42, 3, ${session.json(languages)}, 15, ${session.json(description)}
    )`
  t.match(await listWorkers(sql), [
    { id: workerId, host: 'host-a', pid: 42, slots: 3, busy: 0, languages: 'g++ 14, Python 3.13' },
  ])
  t.match(await listWorkers(sql), [{ state: 'working', version: '1.2.3', box: 'keeper', cgroup: 'v2' }]) // prettier-ignore
  const id = await submitNew(sql, caller, describeSubmission({ code: '' }))
  const version = await startExecution(sql, id, { workerId })
  t.match(await listWorkers(sql), [{ busy: 1, suspended_at: null, heartbeat_seconds: Number }])
  const [running, ...others] = await listRunning(sql)
  t.strictSame(others, [])
  t.match(running, {
    submission: id,
    language: 'python',
    attempt: 1,
    worker: workerId,
    account: String,
    api_key: /^rl_live_/,
    seconds: Number,
  })
  await cancelSubmission(sql, id, caller.accountId, { actor: { api_key: caller.apiKeyId } })
  t.match(await listRunning(sql), [{ submission: id, attempt: 1 }], 'until it is dead')
  await completeExecution(sql, id, version ?? 0)
  t.strictSame([...(await listRunning(sql))], [])

  await sql`update runledger.worker set suspended_at = now()`
  t.match(await listWorkers(sql), [
    { busy: 0, suspended_at: Date, suspended_because: 'its sandbox failed' },
  ])
  await sql`select runledger.renew_worker(${workerId}, '{}', 'python: box.start: no space left')`
  t.match(await listWorkers(sql), [
    { state: 'suspended', suspended_because: 'python: box.start: no space left' },
  ])
  await sql`select runledger.renew_worker(${workerId}, '{}', null)`
  t.match(await listWorkers(sql), [{ state: 'working', suspended_at: null, suspended_because: null }]) // prettier-ignore
  await sql`update runledger.worker set renewed_at = now() - interval '1 minute'`
  t.match(await listWorkers(sql), [{ state: 'gone' }], 'nobody has given it up yet')
  await sql`select runledger.stop_worker(${workerId})`
  t.strictSame([...(await listWorkers(sql))], [])
  t.match(await listWorkers(sql, { withGone: true }), [{ id: workerId, state: 'drained' }])
  await sql`update runledger.worker set is_lost = true`
  t.match(await listWorkers(sql, { withGone: true }), [{ id: workerId, state: 'lost' }])
})

t.test('a worker that describes nothing of itself is shown as far as it tells', async (t) => {
  const old = uuidv7()
  await session`select runledger.register_worker(${old}, 'host-b', 43, 1, '{}', 15)`
  t.match(await listWorkers(sql), [{ id: old, state: 'working', version: null, box: null }])
  await session`select runledger.stop_worker(${old})`
  t.match(await session`select runledger.renew_worker(${old}, '{}', null) as wanted`, [{ wanted: null }]) // prettier-ignore
})
