// Webhooks of real worker processes that are killed or stopped at the worst moment.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Webhook } from 'standardwebhooks'
import t from 'tap'
import { openTestDatabase } from '../helper/database.ts'
import { findBroken } from '../helper/ledger.ts'
import { createCaller, describeSubmission } from '../helper/submission.ts'
import { startWorkerProcess } from '../helper/worker.ts'
import type { WorkerProcess } from '../helper/worker.ts'
import { createAuthority } from '../webhook/certificate.ts'
import { createReceiver } from '../webhook/receiver.ts'
import {
  awaitDelivery,
  endSubmission,
  readAttempts,
  readDelivery,
  receiverAddress,
  submitBatch,
} from './delivery.ts'

// Soon after a start of PostgreSQL a missing session lock does not count, so a killed worker is found by its lease.
const leaseSeconds = 3

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const { sql, url: databaseUrl } = await openTestDatabase(t)
const caller = await createCaller(sql)
const authority = createAuthority()
const directory = mkdtempSync(join(tmpdir(), 'runledger-test-'))
writeFileSync(join(directory, 'authority.pem'), authority.pem)
t.teardown(() => {
  authority.remove()
  rmSync(directory, { recursive: true, force: true })
})

let answer: (response: ServerResponse) => void = (response) => response.end()
const receiver = await createReceiver(
  authority.issue([`IP:${receiverAddress}`]),
  (response) => answer(response),
  receiverAddress,
)
t.teardown(() => receiver.close())
const url = `https://${receiverAddress}:${receiver.port}/`

/** Starts a worker, and waits until other processes know which jobs it holds. */
async function startWorker(
  environment: Readonly<Record<string, string>> = {},
): Promise<WorkerProcess> {
  const worker = await startWorkerProcess(t, databaseUrl, {
    SLOTS: '1',
    LEASE_SECONDS: String(leaseSeconds),
    LANGUAGES: 'python',
    WEBHOOK_ALLOWED_RANGES: receiverAddress,
    WEBHOOK_ALLOWED_PORTS: String(receiver.port),
    WEBHOOK_CA: join(directory, 'authority.pem'),
    ...environment,
  })
  const isKnown = async (): Promise<boolean> =>
    (
      await sql`
        select from runledger.worker where pid = ${worker.child.pid!} and queue_pool_ids <> '{}'`
    ).length > 0
  while (!(await isKnown())) await sleep(50)
  return worker
}

/** The worker that a test leaves to the next one. */
let worker: WorkerProcess

t.test(
  'a worker killed between the answer of 200 and our commit: one more, under one id',
  async (t) => {
    const doomed = await startWorker()
    const { promise: killed, resolve } = Promise.withResolvers<undefined>()
    answer = (response) => {
      // The worker is stopped before the answer leaves, so it cannot record the answer.
      doomed.child.kill('SIGSTOP')
      response.end('got it', () => {
        doomed.child.kill('SIGKILL')
        resolve(undefined)
      })
    }
    const id = await endSubmission(sql, caller, { url, secret })
    await killed
    await doomed.ended
    t.match(await readDelivery(sql, id), { state: 'pending', attempts: 0, secret })

    answer = (response) => response.end('got it')
    worker = await startWorker()
    const row = await awaitDelivery(sql, id)
    t.match(row, { state: 'delivered', attempts: 1, secret: null })
    t.equal(receiver.requests.length, 2, 'one extra')
    const [first, second] = receiver.requests
    t.equal(first!.headers['webhook-id'], row.webhook_id)
    t.equal(second!.headers['webhook-id'], row.webhook_id)
    t.strictSame(first!.body, second!.body)
    for (const { body, headers } of receiver.requests)
      t.ok(new Webhook(secret).verify(body.toString(), headers as Record<string, string>))
    t.equal((await readAttempts(sql, id)).length, 1)
  },
)

t.test('a worker that is told to stop finishes the attempt that is under way', async (t) => {
  const before = receiver.requests.length
  const { promise: received, resolve } = Promise.withResolvers<ServerResponse>()
  answer = resolve
  const id = await endSubmission(sql, caller, { url, secret })
  const response = await received
  worker.child.kill('SIGTERM')
  await worker.until('worker.stopping')
  response.end()
  t.strictSame(await worker.ended, [0, null])
  t.match(await readDelivery(sql, id), { state: 'delivered', attempts: 1, secret: null })
  t.equal(receiver.requests.length, before + 1)
})

t.test(
  'an attempt that a worker process fails to make follows the configured schedule',
  async (t) => {
    worker = await startWorker({ WEBHOOK_SCHEDULE_SECONDS: '0.2,0.3' })
    answer = (response) => response.writeHead(500).end()
    const id = await endSubmission(sql, caller, { url, secret })
    t.match(await awaitDelivery(sql, id), { state: 'abandoned', attempts: 3, secret: null })
  },
)

t.test(
  'a worker killed at the last member of a batch: one webhook, of the end that counts',
  async (t) => {
    receiver.requests.length = 0
    answer = (response) => response.end('got it')
    // The last one still runs when the kill comes late.
    const codes = ['print(1)', 'import time; time.sleep(5)']
    const options = { limits: { wall_time: 60 } }
    const submissions = codes.map((code) => describeSubmission({ code, options }))
    const { id, members } = await submitBatch(sql, caller, submissions, { url, secret })
    const isLastRunning = async (): Promise<boolean> => {
      const rows = await sql`
      select from runledger.pending
      where submission_id = ${members[1]!} and is_running
        and not exists (select from runledger.pending other where other.submission_id = ${members[0]!})`
      return rows.length > 0
    }
    while (!(await isLastRunning())) await sleep(5)
    worker.child.kill('SIGKILL')
    await worker.ended
    t.match(await readDelivery(sql, id), { state: 'waiting', attempts: 0, secret })

    const successor = await startWorker()
    t.match(await awaitDelivery(sql, id), { state: 'delivered', attempts: 1, secret: null })
    successor.child.kill('SIGTERM')
    t.strictSame(await successor.ended, [0, null])
    t.equal(receiver.requests.length, 1)
    t.match(JSON.parse(receiver.requests[0]!.body.toString()), {
      data: {
        submissions: [
          { id: members[0], verdict: 'AC' },
          { id: members[1], verdict: 'AC' },
        ],
      },
    })
    t.equal((await readAttempts(sql, id)).length, 1)
  },
)

t.test('no promise is broken', async (t) => {
  t.strictSame(await findBroken(sql), [])
})
