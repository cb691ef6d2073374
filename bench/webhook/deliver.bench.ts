// Webhooks by a real worker process to a real HTTPS receiver on loopback.
// 1. From the end of a submission to the whole request at the receiver, one at a time, and how many a second when
//    thirty-two are on their way. Floor: the same request made bare, each over a TLS connection of its own, which is
//    how deliveries are made. A delivery writes twice to disk (the end of the submission, the attempt), so with one at
//    a time read "+p50"; the worker hears of it by NOTIFY.
// 2. Submissions a second over HTTP with a python hello while 500 deliveries are due to receivers that take requests and
//    never answer. Floor: the same without them. The ratio should stay at 0.95 or above.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDatabase } from '#database'
import type { Database } from '#database'
import { createCaller } from '../../test/helper/submission.ts'
import { endSubmission, receiverAddress } from '../../test/job/delivery.ts'
import { createAuthority } from '../../test/webhook/certificate.ts'
import { createReceiver } from '../../test/webhook/receiver.ts'
import { startCluster } from '../database.ts'
import { createClient, startService } from '../http/service.ts'
import { measure } from '../measure.ts'
import type { Case } from '../measure.ts'
import { report, scaleIterations } from '../report.ts'

const hangingDeliveries = 500
// The bounds by host and account would let one of either hang with ten and with twenty-five: these fill all fifty places.
const hangingHosts = 10
const hangingAccounts = 2
const atOnce = 32
const clients = 16
const slots = 2
const secret = 'correct horse'

await using cleanUp = new AsyncDisposableStack()
const directory = mkdtempSync(join(tmpdir(), 'runledger-bench-'))
cleanUp.defer(() => rmSync(directory, { recursive: true, force: true }))
const authority = createAuthority()
cleanUp.defer(() => authority.remove())
writeFileSync(`${directory}/authority.pem`, authority.pem)

/** Who waits for a request, by the path it comes to. */
const expected = new Map<string, () => void>()
const addresses = Array.from({ length: hangingHosts }, (_, n) => `127.0.1.${n + 1}`)
const identity = authority.issue([receiverAddress, ...addresses].map((address) => `IP:${address}`))
const receiver = await createReceiver(identity, (response, { path }) => {
  // What was received is not looked at, and would pile up.
  receiver.requests.length = 0
  response.end()
  expected.get(path ?? '')?.()
  expected.delete(path ?? '')
})
cleanUp.defer(() => receiver.close())
const silent = await Promise.all(
  addresses.map((address) => createReceiver(identity, () => {}, address, receiver.port)),
)

const cluster = cleanUp.use(await startCluster())
const [quiet, busy] = [await startStack('quiet'), await startStack('busy')]
await fillWithHanging(busy)

let sent = 0
const cases: Case[] = [
  { name: 'bare request', iterations: scaleIterations(100), run: sendBare },
  {
    name: 'delivered',
    floor: 'bare request',
    iterations: scaleIterations(100),
    run: () => deliver(quiet),
  },
  {
    name: `bare request, ${atOnce} at once`,
    iterations: scaleIterations(400),
    atOnce,
    run: sendBare,
  },
  {
    name: `delivered, ${atOnce} at once`,
    floor: `bare request, ${atOnce} at once`,
    iterations: scaleIterations(400),
    atOnce,
    run: () => deliver(quiet),
  },
  {
    name: 'python hello',
    iterations: scaleIterations(192),
    atOnce: clients,
    run: quiet.execute,
  },
  {
    name: `python hello, ${hangingDeliveries} hang`,
    floor: 'python hello',
    iterations: scaleIterations(192),
    atOnce: clients,
    run: busy.execute,
  },
]
const rows = await measure(cases)
const [left] = await busy.sql<{ pending: number }[]>`
  select count(*)::integer as pending from runledger.delivery where state = 'pending'`
report('webhook/deliver', rows, {
  failures:
    left?.pending === hangingDeliveries ? [] : [`only ${left?.pending} deliveries hung to the end`],
})

// Before the workers stop, which would wait for these attempts.
await Promise.all(silent.map((each) => each.close()))

/** A database, a web process and a worker, each of its own. */
interface Stack {
  readonly sql: Database
  readonly caller: Awaited<ReturnType<typeof createCaller>>
  /** Submits one program and waits for its end. */
  readonly execute: () => Promise<void>
}

async function startStack(name: string): Promise<Stack> {
  const url = await cluster.createDatabase(name)
  const sql = createDatabase({ url, connections: atOnce, name: 'bench' })
  cleanUp.defer(() => sql.end({ timeout: 5 }))
  const caller = await createCaller(sql)
  const web = await startService('src/server/server.ts', 'web.started', {
    DATABASE_URL: url,
    PORT: '0',
  })
  cleanUp.use(web)
  const worker = await startService('src/worker/worker.ts', 'worker.started', {
    DATABASE_URL: url,
    SLOTS: String(slots),
    FIRST_UID: String(170_000 + (process.pid % 5000) * 8 + (name === 'quiet' ? 0 : slots)),
    CACHE_DIRECTORY: join(directory, name),
    WEBHOOK_ALLOWED_RANGES: '127.0.0.0/8',
    WEBHOOK_ALLOWED_PORTS: String(receiver.port),
    WEBHOOK_CA: `${directory}/authority.pem`,
    WEBHOOK_PER_HOST: '32',
    // Nothing may end by itself while it is measured.
    WEBHOOK_TIMEOUT_SECONDS: '45',
  })
  cleanUp.use(worker)
  const client = cleanUp.use(createClient(Number(web.started['port']), caller.key, clients))
  return { sql, caller, execute: () => client.run('print("hello")\n', 'hello\n') }
}

function expect(): { readonly path: string; readonly received: Promise<void> } {
  sent += 1
  const path = `/${sent}`
  return { path, received: new Promise((resolve) => expected.set(path, resolve)) }
}

async function deliver({ sql, caller }: Stack): Promise<void> {
  const { path, received } = expect()
  const url = `https://${receiverAddress}:${receiver.port}${path}`
  await endSubmission(sql, caller, { url, secret })
  await received
}

async function sendBare(): Promise<void> {
  const { path, received } = expect()
  const sending = request({
    method: 'POST',
    host: receiverAddress,
    port: receiver.port,
    path,
    ca: authority.pem,
    agent: new Agent({ keepAlive: false, maxCachedSessions: 0 }),
    headers: { 'content-type': 'application/json' },
  })
  sending.end(JSON.stringify({ type: 'submission.completed', data: { stdout: 'x'.repeat(500) } }))
  const [response] = (await once(sending, 'response')) as [{ statusCode: number; resume(): void }]
  response.resume()
  assert.equal(response.statusCode, 200)
  await received
}

/** Ends submissions whose receivers hang, and waits until all places are taken. */
async function fillWithHanging({ sql }: Stack): Promise<void> {
  const callers = await Promise.all(
    Array.from({ length: hangingAccounts }, () => createCaller(sql)),
  )
  for (let n = 0; n < hangingDeliveries; n += 1) {
    const url = `https://${addresses[n % hangingHosts]}:${receiver.port}/`
    const caller = callers[n % hangingAccounts]
    assert(caller)
    await endSubmission(sql, caller, { url, secret })
  }
}
