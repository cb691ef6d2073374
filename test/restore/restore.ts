// A restore to a point in time. The test makes a base backup and archives the WAL under load, kills the server, and restores
// it to a moment in between. Every lost submission is named by id, everything else is whole, and work goes on. `make
// test-restore` runs this.
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { issueKey, revokeKey } from '#account'
import type { Database } from '#database'
import { bareEnvironment } from '../helper/bare-environment.ts'
import { makeDirectory } from '../helper/directory.ts'
import { startWebProcess } from '../helper/web.ts'
import { startWorkerProcess } from '../helper/worker.ts'
import { createAuthority } from '../webhook/certificate.ts'
import { createReceiver } from '../webhook/receiver.ts'
import { send, startCallers } from './callers.ts'
import type { Sent } from './callers.ts'
import { open, startArchivedServer } from './postgres.ts'

const receiverAddress = '127.0.0.2'
const program = resolve(import.meta.dirname, '../../runledger')
const directory = makeDirectory(t)
const server = await startArchivedServer(t)
let sql = open(server.url)
t.teardown(() => sql.end({ timeout: 1 }))

interface Said {
  readonly status: number | null
  readonly stdout: string
}

function runledger(...words: string[]): Said {
  const { status, stdout } = spawnSync(program, words, {
    env: { ...bareEnvironment, DATABASE_URL: server.url },
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return { status, stdout }
}

const authority = createAuthority()
t.teardown(() => authority.remove())
writeFileSync(join(directory, 'authority.pem'), authority.pem)
/** The number of deliveries of each webhook, by its id. */
const delivered = new Map<string, number>()
const receiver = await createReceiver(
  authority.issue([`IP:${receiverAddress}`]),
  (response, { headers }) => {
    const id = String(headers['webhook-id'])
    delivered.set(id, (delivered.get(id) ?? 0) + 1)
    response.writeHead(204).end()
  },
  receiverAddress,
)
t.teardown(() => receiver.close())
const rules = { WEBHOOK_ALLOWED_RANGES: `${receiverAddress}/32`, WEBHOOK_ALLOWED_PORTS: String(receiver.port) } // prettier-ignore

async function startService(): Promise<{ port: number; kill: () => void }> {
  const [web, worker] = await Promise.all([
    startWebProcess(t, server.url, { ...rules, QUEUE_CAPACITY: '100000' }),
    startWorkerProcess(t, server.url, {
      ...rules,
      LANGUAGES: 'python',
      LEASE_SECONDS: '5',
      WEBHOOK_CA: join(directory, 'authority.pem'),
    }),
  ])
  return { port: web.port, kill: () => [web, worker].forEach(({ child }) => child.kill('SIGKILL')) }
}

async function until(what: (sql: Database) => PromiseLike<readonly object[]>): Promise<void> {
  while ((await what(sql)).length === 0) await sleep(50)
}

const hook = (code: string): object => ({
  language: 'python',
  code,
  webhook_url: `https://${receiverAddress}:${receiver.port}/`,
  webhook_secret: 'a secret of the suite',
})
const webhookOf = async ({ id }: Sent): Promise<string> => {
  const [row] = await sql`select webhook_id as id from audit.webhook where submission_id = ${id}`
  return String(row?.['id'])
}
const untilDelivered = ({ id }: Sent): Promise<void> =>
  until((now) => now`select from audit.webhook where submission_id = ${id} and state = 'delivered'`)

// Before the disaster: the service under load, and a backup while it runs.
runledger('migrate')
const { key } = await issueKey(sql, { account: 'load', tier: 'unlimited' }, 'restore')
const { key: other } = await issueKey(sql, { account: 'other', tier: 'unlimited' }, 'restore')
const revoked = await issueKey(sql, { account: 'load', tier: 'unlimited' }, 'restore')
const service = await startService()
const callers = startCallers(4, service.port, key)
await until((now) => now`select from runledger.result limit 1 offset 10`)
server.backUp()
await until((now) => now`select from runledger.result limit 1 offset 30`)
const early = await send(service.port, other, hook('print("early")'))
await untilDelivered(early)
const spanning = await send(service.port, other, hook('import time; time.sleep(8); print("spanning")')) // prettier-ignore
await until((now) => now`select from audit.execution where submission_id = ${spanning.id}`)

// The moment of the restore, and later events.
const beforeMoment = performance.now()
const [moment] = await sql`select clock_timestamp()::text as at`
const afterMoment = performance.now()
await revokeKey(sql, revoked.id, 'restore')
const late = await issueKey(sql, { account: 'load', tier: 'unlimited' }, 'restore')
const lost = await send(service.port, other, hook('print("late")'))
await Promise.all([spanning, lost].map(untilDelivered))
while (callers.sent.filter(({ sentAt }) => sentAt > afterMoment).length <= 10) await sleep(50)
await callers.stop()
const webhooks = { early: await webhookOf(early), spanning: await webhookOf(spanning), lost: await webhookOf(lost) } // prettier-ignore
const lists = { log: join(directory, 'streams.ndjson'), callers: join(directory, 'callers.ndjson'), digests: join(directory, 'heads.json') } // prettier-ignore
const sent = [...callers.sent, early, spanning, lost]
writeFileSync(lists.log, runledger('audit', 'streams').stdout)
writeFileSync(lists.digests, runledger('audit', 'heads').stdout)
writeFileSync(lists.callers, sent.map(({ id }) => `${JSON.stringify({ id })}\n`).join(''))
await server.archive(sql)

// The disaster, and the restore.
service.kill()
await server.kill()
await sql.end({ timeout: 1 })
const restoreBegun = performance.now()
await server.restore(String(moment?.['at']))
sql = open(server.url)
await until((now) => now`select where not pg_is_in_recovery()`)
const restoreSeconds = (performance.now() - restoreBegun) / 1000

interface Lack {
  readonly id: string
  readonly finding: string
  readonly kept: { readonly type: string | null }
  readonly now: { readonly type: string } | null
}

/** Returns what the log lacks compared with a list, by id. */
function compare(list: string): ReadonlyMap<string, Lack> {
  const lines = runledger('audit', 'compare', list).stdout.split('\n')
  const lacks = lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Lack)
  return new Map(lacks.map((lack) => [lack.id, lack]))
}

const present = new Set(
  (await sql<{ id: string }[]>`select id from audit.submission`).map(({ id }) => id),
)

t.test('what was put back is whole', async (t) => {
  t.match(runledger('audit', 'verify'), { status: 0, stdout: /every hash fits/ })
})

t.test('what the restore has lost is named by id', async (t) => {
  t.match(runledger('audit', 'heads', '--compare', lists.digests), { status: 1, stdout: /DO NOT END/ }) // prettier-ignore
  const lacks = compare(lists.log)
  const before = sent.filter(({ acknowledgedAt }) => acknowledgedAt < beforeMoment)
  const after = sent.filter(({ sentAt }) => sentAt > afterMoment)
  t.ok(before.length > 30 && after.length > 10, `${before.length} before, ${after.length} after`)
  t.strictSame(before.filter(({ id }) => !present.has(id) || lacks.get(id)?.finding === 'lost'), []) // prettier-ignore
  t.strictSame(after.filter(({ id }) => lacks.get(id)?.finding !== 'lost'), []) // prettier-ignore
  t.strictSame(
    sent.filter(({ id }) => present.has(id) === (lacks.get(id)?.finding === 'lost')),
    [],
    'nothing is lost without its name',
  )
  t.match(lacks.get(spanning.id), { finding: 'older', kept: { type: 'execution.completed' }, now: { type: 'execution.started' } }) // prettier-ignore
  t.equal(lacks.get(early.id), undefined)
  t.match(lacks.get(revoked.id), { finding: 'older', kept: { type: 'api_key.revoked' }, now: { type: 'api_key.issued' } }) // prettier-ignore
  t.match(lacks.get(late.id), { finding: 'lost', kept: { type: 'api_key.issued' } })
  const ofCallers = [...compare(lists.callers).values()]
  t.ok(ofCallers.every(({ finding }) => finding === 'lost'))
  t.strictSame(ofCallers.map(({ id }) => id).toSorted(), sent.map(({ id }) => id).filter((id) => !present.has(id)).toSorted(), 'callers’ own lists say the same') // prettier-ignore
  const older = [...lacks.values()].filter(({ finding }) => finding === 'older').length
  t.comment(`restore: in ${restoreSeconds.toFixed(1)} s; of ${sent.length} acknowledged ${ofCallers.length} lost; ${older} streams end before`) // prettier-ignore
})

t.test('work goes on', async (t) => {
  const { port } = await startService()
  await until((now) => now`
    select where not exists (select from runledger.pending)
      and not exists (select from runledger.delivery where state in ('waiting', 'pending'))`) // prettier-ignore
  t.equal(delivered.get(webhooks.early), 1)
  t.equal(delivered.get(webhooks.spanning), 2, 'the same webhook again, under its id')
  t.equal(delivered.get(webhooks.lost), 1)
  t.match(compare(lists.log).get(spanning.id), { finding: 'other' })

  const again = await Promise.all(
    sent.map(async (one) => {
      const submitter = [early, spanning, lost].includes(one) ? other : key
      return { one, now: await send(port, submitter, one.body, one.idempotencyKey) }
    }),
  )
  for (const { one, now } of again)
    t.equal(now.id === one.id, present.has(one.id), 'what was kept is answered, what was lost is taken anew') // prettier-ignore
  await until((now) => now`select where not exists (select from runledger.pending)`)
  const ids = again.map(({ now }) => now.id)
  const [accepted] = await sql`
    select count(*) from audit.submission where id = any(${ids}::uuid[]) and verdict = 'AC'`
  t.equal(accepted?.['count'], ids.length)
  t.match(runledger('audit', 'verify'), { status: 0, stdout: /every hash fits/ })
  for (const view of ['drift', 'broken_chain', 'invariant', 'altered_body'])
    t.strictSame([...(await sql`select * from audit.${sql(view)}`)], [], view)
})
