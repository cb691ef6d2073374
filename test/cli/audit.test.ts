// `audit ID` prints the life of a submission in sentences.
import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { cancelSubmission } from '#enqueue'
import { commandWorker } from '#operator'
import { listIds, printLife } from '../../src/cli/audit.ts'
import { openTestDatabase } from '../helper/database.ts'
import {
  completeExecution,
  finish,
  interrupt,
  recordDelivery,
  startExecution,
} from '../helper/execution.ts'
import { createCaller, describeSubmission, submitNew } from '../helper/submission.ts'

const { sql } = await openTestDatabase(t)
const caller = await createCaller(sql)

async function tell(id: string): Promise<string> {
  return ((await printLife(sql, id))?.lines ?? []).join('\n')
}

t.test('a submission that went well', async (t) => {
  const id = await submitNew(sql, caller, describeSubmission({ code: 'print(1)', stdin: 'abc' }))
  await finish(sql, id, { stdout: '1\n', stderr: 'x' })
  const text = await tell(id)
  for (const words of [
    new RegExp(`^submission ${id} of account "account [^"]+", key rl_live_`),
    /Z {2}Received: python, 8 bytes of code, 3 bytes of stdin; request [0-9a-f-]+\.$/m,
    /Z {2}Attempt 1 started after \d\.\d{3} s of waiting, on worker [0-9a-f-]+ of host .+; with Python 3\.11\.2; limits 5 s of CPU, 10 s in all, 256\.0 MiB, 64 processes; isolation box keeper, uid slot, cgroup v2\.$/m,
    /The program ran 0\.020 s \(0\.010 s of CPU, 8\.6 MiB at its peak\), wrote 2 bytes to stdout and 1 byte to stderr, and exited with 0\. The attempt took \d\.\d{3} s\. Verdict AC: accepted\.$/m,
    /^It ended \d\.\d{3} s after it was received\.$/m,
    /^The hashes of its 3 events fit\.$/m,
  ]) {
    t.match(text, words)
  }
  t.notMatch(text, /undefined|\[object|NaN/)
})

t.test('a webhook is told where it happened', async (t) => {
  const webhook = { url: 'https://example.org/secret-path', secret: 'shared' }
  const id = await submitNew(sql, caller, describeSubmission({ code: '', webhook }))
  await finish(sql, id)
  const refused = { outcome: 'refused', status: 503, snippet: 'busy\u001B[31m' } as const
  await recordDelivery(sql, id, { ...refused, seconds: 0.25, retrySeconds: 5 })
  const text = await tell(id)
  t.match(text, /a webhook to example\.org; request/)
  t.match(
    text,
    /Attempt 1 to deliver the webhook \(answer 503, 0\.250 s\) failed: refused; busy\\u\{1b\}\[31m; the next attempt is due 20/,
  )
  t.notMatch(text, 'secret-path')
  t.notMatch(text, '\u001B')
  t.match(text, 'The hashes of its 4 events fit.')
})

t.test('what was lost, and what is still under way', async (t) => {
  const id = await submitNew(sql, caller, describeSubmission({ code: '' }))
  t.match(await tell(id), 'It has not ended: it waits in the queue.')
  const version = (await startExecution(sql, id)) ?? 0
  t.match(
    await tell(id),
    /It has not ended: it runs on worker [0-9a-f-]+, which is gone: it will be run again\./,
  )
  await interrupt(sql, id, version, undefined, { isLast: true })
  const text = await tell(id)
  t.match(text, /Attempt 1 was lost after \d\.\d{3} s: its worker was lost; it counts as a loss\./)
  t.match(text, 'Abandoned after 1 loss. Verdict IE: internal error.')
  t.match(text, /It failed, by a fault of the service, \d\.\d{3} s after/)
})

t.test('what its caller took back', async (t) => {
  const cancel = async (id: string): Promise<unknown> =>
    cancelSubmission(sql, id, caller.accountId, {
      request: 'r-1',
      actor: { api_key: caller.apiKeyId },
    })
  const waiting = await submitNew(sql, caller, describeSubmission({ code: '' }))
  await cancel(waiting)
  const told = await tell(waiting)
  t.match(told, `Cancelled while it waited, by api_key ${caller.apiKeyId}; request r-1.`)
  t.match(told, /It was cancelled \d\.\d{3} s after it was received\./)

  const running = await submitNew(sql, caller, describeSubmission({ code: '' }))
  const version = (await startExecution(sql, running)) ?? 0
  await cancel(running)
  t.match(await tell(running), /request r-1; worker [0-9a-f-]+ must end attempt 1\.\n/)
  t.match(await tell(running), 'which is gone: the cancel ends it.')
  await completeExecution(sql, running, version, { stdout: 'x' })
  t.match(await tell(running), /wrote 1 byte to stdout .*Cancelled; the attempt took \d/)

  const lost = await submitNew(sql, caller, describeSubmission({ code: '' }))
  const start = (await startExecution(sql, lost)) ?? 0
  await cancel(lost)
  await interrupt(sql, lost, start)
  t.match(await tell(lost), 'before its worker could end it: its worker was lost.')
})

t.test('a key has a life too', async (t) => {
  t.match(
    await tell(caller.apiKeyId),
    /Key rl_live_\w+… issued for account account .*, tier unlimited; by operator test\./,
  )
})

t.test('nothing is told of what nobody knows', async (t) => {
  t.equal(await printLife(sql, uuidv7()), null)
})

t.test('an event that was changed is called so', async (t) => {
  const id = await submitNew(sql, caller, describeSubmission({ code: '' }))
  await finish(sql, id)
  await sql.unsafe('alter table runledger.event disable trigger event_append_only')
  await sql`update runledger.event set data = data || '{"verdict": "WA"}' where stream_id = ${id} and stream_version = 3`
  const answer = await printLife(sql, id)
  t.equal(answer?.ok, false)
  t.match(
    answer?.lines.at(-1),
    /1 of its 3 events DO NOT FIT their hashes, the first at position \d+ \(execution\.completed, version 3\)/,
  )
})

t.test('a worker, though nobody ordered it anything', async (t) => {
  const id = uuidv7()
  await sql`
    insert into runledger.worker (id, host, pid, slots, languages, lease_seconds, renewed_at, version)
    values (${id}, 'host-a', 42, 2, '{"python": {"version": "Python 3.11.2"}}', 15, now() - interval '1 minute', '1.2.3')`
  t.match(await tell(id), /^worker [0-9a-f-]+ of host host-a\n\n/)
  for (const part of [id.slice(-9), id.slice(0, 23), id.slice(-12).toUpperCase()])
    t.strictSame(await listIds(sql, part), [id], 'by a part at an end')
  t.strictSame(await listIds(sql, id.slice(6, 16)), [], 'in the middle is no end')
  t.strictSame(await listIds(sql, '%'), [])
  t.match(
    await tell(id),
    /Z {2}It started as process 42, of release 1\.2\.3, with 2 slots; it runs Python 3\.11\.2\.$/m,
  )
  t.match(await tell(id), /Its last heartbeat\.\n[^]*It is gone\.$/)
  const run = await submitNew(sql, caller, describeSubmission({ code: '' }))
  await startExecution(sql, run)
  await sql`update runledger.pending set worker_id = ${id} where submission_id = ${run}`
  t.match(await tell(id), `It is gone; it runs ${run}.`)
  await sql`select * from runledger.sweep_workers()`
  t.match(await tell(id), /It was lost: other workers requeued its submissions[^]*It is lost\.$/)
})

t.test('a worker that was ordered to end', async (t) => {
  const id = uuidv7()
  await sql`select runledger.register_worker(${id}, 'host-b', 43, 1, '{}', 15)`
  await commandWorker(sql, id, 'drained', { actor: { operator: 'ann' } })
  await sql`select runledger.stop_worker(${id})`
  const lines = (await tell(id)).split('\n').map((line) => line.replace(/^\S+Z {2}/, ''))
  t.match(lines, [
    `worker ${id} of host host-b`,
    '',
    /^It started as process 43/,
    'On host host-b: drained by operator ann; it finishes its programs and exits.',
    'It ended by itself, after it had finished or requeued its submissions.',
    '',
    'It is drained.',
    'The hashes of its 1 events fit.',
  ])
})
