// The failover suite: two PostgreSQL servers under patroni in synchronous replication, two web processes and two workers
// with both servers in their DATABASE_URL, and the fault suite's load. The primary is killed, frozen, cut off, and replaced
// by hand during a release. At the end the log must account for everything, on the primary and on the replica.
//
//   node test/failover/failover.ts        FAILOVER_ROUNDS=… of each (10), FAILOVER_ONLY=regex of kinds,
//                                         FAILOVER_LOGS=directory keeps the output of the programs there
import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { issueKey } from '#account'
import { createDatabase, surviveLostConnections } from '#database'
import { findPort } from '#embedded-postgres'
import { describeError } from '#error-text'
import { enterMountNamespace } from '../faults/disk.ts'
import { judge } from '../faults/history.ts'
import { call, startLoad } from '../faults/load.ts'
import { createPlatform } from '../faults/platform.ts'
import type { Service } from '../faults/platform.ts'
import { createRandom } from '../faults/random.ts'
import { bareEnvironment } from '../helper/bare-environment.ts'
import { createAuthority } from '../webhook/certificate.ts'
import { createReceiver } from '../webhook/receiver.ts'
import { startCallers } from './callers.ts'
import { startFailoverCluster } from './cluster.ts'
import type { Node } from './cluster.ts'
import { checkReplica } from './replica.ts'

enterMountNamespace()
surviveLostConnections(() => {})
const rounds = Number(process.env['FAILOVER_ROUNDS'] || 10)
const only = new RegExp(process.env['FAILOVER_ONLY'] ?? '', 'u')
const logDirectory = process.env['FAILOVER_LOGS'] || null
const root = resolve(import.meta.dirname, '../..')
// The promised times, and the margin for this machine's load.
const toldSeconds = 2
const backSeconds = 5
const marginSeconds = 0.5
const longestSeconds = 60
const quiescenceSeconds = 120
const pauseMilliseconds = 1000
const receiverAddress = '127.0.0.2'
const slots = 2
const firstUid = 96_000 + (process.pid % 500) * 8
const startedAt = performance.now()

const say = (text: string): void => void process.stdout.write(`${text}\n`)
const keep = (name: string, text: string): void => {
  if (logDirectory !== null) appendFileSync(join(logDirectory, name), text)
}
const failures: string[] = []
const directory = mkdtempSync('/var/tmp/runledger-failover-services-')
const cluster = await startFailoverCluster(keep)
await cluster.whole()

// Creates the roles and the database and migrates, as a release does.
const secret = cluster.password
const urls = {
  admin: cluster.url('postgres', secret, 'runledger'),
  web: cluster.url('web', secret, 'runledger'),
  worker: cluster.url('worker', secret, 'runledger'),
}
await promisify(execFile)(join(root, 'runledger'), ['migrate'], {
  env: {
    ...bareEnvironment,
    ADMIN_DATABASE_URL: cluster.url('postgres', secret, 'postgres'),
    DATABASE_URL: cluster.url('release', secret, 'runledger'),
    WEB_PASSWORD: secret,
    WORKER_PASSWORD: secret,
  },
})
const sql = createDatabase({ url: urls.admin, connections: 4, name: 'failover', statementSeconds: 60 }) // prettier-ignore
await sql`create table public.failover_probe (at timestamptz not null default clock_timestamp())`
await sql.unsafe(`create role auditor login password '${secret}' in role runledger_auditor`)
const keys = await Promise.all(
  [0, 1].map(async (index) => {
    const { key } = await issueKey(sql, { account: `account ${index}`, tier: 'unlimited' }, 'failover') // prettier-ignore
    return key
  }),
)

const authority = createAuthority()
const authorityFile = join(directory, 'authority.pem')
writeFileSync(authorityFile, authority.pem)
const delivered = new Set<string>()
const receiver = await createReceiver(
  authority.issue([`IP:${receiverAddress}`]),
  (response, { headers }) => {
    delivered.add(String(headers['webhook-id']))
    response.writeHead(200).end()
  },
  receiverAddress,
)

const [someNode] = cluster.nodes
const platform = await createPlatform(cluster.urlOf(someNode, 'web', secret, 'runledger'), directory, 5, logDirectory) // prettier-ignore
const shared = {
  LOG_LEVEL: 'info',
  WEBHOOK_ALLOWED_RANGES: receiverAddress,
  WEBHOOK_ALLOWED_PORTS: String(receiver.port),
}
const webPorts = [await findPort(0), await findPort(0)]
const webs = await Promise.all(
  webPorts.map(
    (port, index) =>
    platform.start(`web-${index + 1}`, 'web', { ...shared, DATABASE_URL: urls.web, PORT: String(port) }), // prettier-ignore
  ),
)
const workers = await Promise.all(
  [0, 1].map((index) =>
    platform.start(`worker-${index + 1}`, 'worker', {
      ...shared,
      DATABASE_URL: urls.worker,
      SLOTS: String(slots),
      FIRST_UID: String(firstUid + index * 2 * slots),
      LANGUAGES: 'python',
      LEASE_SECONDS: '5',
      WEBHOOK_CA: authorityFile,
      WEBHOOK_SCHEDULE_SECONDS: '0.5,1,1,2,2,2',
    }),
  ),
)
const load = startLoad({
  clients: 4,
  keys: [keys[0] ?? ''],
  ports: () => webPorts,
  webhook: { url: `https://${receiverAddress}:${receiver.port}/`, secret: 'a secret of the suite' },
  random: createRandom(process.pid),
})
const callers = startCallers(webPorts, keys[1] ?? '')
let probes = 0

/** Returns the seconds until a submission through one of these web processes has completed. */
async function untilBack(ports: readonly number[]): Promise<number> {
  const begunAt = performance.now()
  const headers = { 'X-API-Key': keys[0] ?? '', 'Idempotency-Key': randomUUID(), Prefer: 'wait=2' }
  probes += 1
  for (let tries = 0; ; tries += 1) {
    const port = ports[tries % ports.length] ?? 0
    const { body } = await call(port, 'POST', '/api/submit?wait=true', headers, { language: 'python', code: 'print(1)' }) // prettier-ignore
    const took = (performance.now() - begunAt) / 1000
    if (body['status'] === 'completed') return took
    if (took > longestSeconds) throw new Error(`not back after ${longestSeconds} s`)
    await sleep(50)
  }
}

/** Returns the seconds until a commit on this node has succeeded. */
async function untilWritable(node: Node): Promise<number> {
  const begunAt = performance.now()
  const probe = createDatabase({ url: cluster.urlOf(node, 'postgres', secret, 'runledger'), connections: 1, name: 'failover probe', statementSeconds: 2 }) // prettier-ignore
  try {
    for (;;) {
      const written = await probe`insert into public.failover_probe default values`.catch(
        () => null,
      )
      const took = (performance.now() - begunAt) / 1000
      if (written !== null) return took
      if (took > longestSeconds) throw new Error(`no new primary after ${longestSeconds} s`)
      await sleep(20)
    }
  } finally {
    await probe.end({ timeout: 1 })
  }
}

interface Strike {
  readonly kind: string
  /** True when web processes are restarted meanwhile. Callers then use any running web process, as a router would send them. */
  readonly isRelease?: true
  strike(primary: Node, standby: Node): Promise<void> | void
  /** Repairs the damage of the strike. */
  mend(primary: Node): Promise<void> | void
}

async function restart(service: Service): Promise<void> {
  service.kill('SIGTERM')
  await service.ended()
  await sleep(400)
  await service.ready()
}

const strikes: readonly Strike[] = [
  { kind: 'killed', strike: (primary) => primary.kill(), mend: (primary) => primary.start() },
  { kind: 'frozen', strike: (primary) => primary.freeze(), mend: (primary) => primary.thaw() },
  { kind: 'cut off', strike: (primary) => primary.cutOff(), mend: (primary) => primary.join() },
  {
    kind: 'switched over during a release',
    isRelease: true,
    async strike(primary, standby) {
      const released = (async () => {
        for (const service of [webs[0], workers[0], webs[1], workers[1]]) await restart(service!)
      })()
      await Promise.all([cluster.switchOver(primary, standby), released])
    },
    mend() {},
  },
]

interface Round {
  readonly kind: string
  readonly primarySeconds: number
  /** Seconds after the new primary takes writes. */
  readonly backSeconds: number
  readonly slowestSeconds: number
  readonly refused: number
  readonly acknowledged: number
}
const table: Round[] = []

async function playRound({ kind, isRelease, strike, mend }: Strike): Promise<void> {
  const { primary, standby } = await cluster.whole()
  await sleep(pauseMilliseconds)
  callers.take()
  // The answers before the strike are discarded, so that only later ones count.
  const struckAt = performance.now()
  const struck = Promise.resolve(strike(primary, standby))
  const written = untilWritable(standby)
  // An acknowledgement by the old primary does not count as a return of the service.
  const backs = written.then(async (primarySeconds) => {
    const ways = isRelease ? [webPorts] : webPorts.map((port) => [port])
    const took = await Promise.all(ways.map(untilBack))
    return { primarySeconds, seconds: Math.max(...took) }
  })
  const { primarySeconds, seconds } = await backs
  await struck
  const told = callers.take()
  await mend(primary)
  const slowest = told.toSorted((a, b) => b.seconds - a.seconds)[0]
  const refused = told.filter(({ status }) => status === 503)
  const round = {
    kind,
    primarySeconds,
    backSeconds: seconds,
    slowestSeconds: slowest?.seconds ?? 0,
    refused: refused.length,
    acknowledged: told.filter(({ status }) => status === 202).length,
  }
  table.push(round)
  if (round.slowestSeconds > toldSeconds + marginSeconds)
    failures.push(`${kind}: a caller was told after ${round.slowestSeconds.toFixed(1)} s (${slowest?.status})`) // prettier-ignore
  if (seconds > backSeconds + marginSeconds)
    failures.push(`${kind}: back ${seconds.toFixed(1)} s after the new primary took writes`)
  if (refused.some(({ retryAfter }) => !retryAfter)) failures.push(`${kind}: a 503 without Retry-After`) // prettier-ignore
  for (const { status } of told)
    if (![0, 202, 503].includes(status)) failures.push(`${kind}: a caller was told ${status}`)
  say(
    `${kind}: primary ${primary.name} to ${standby.name} after ${primarySeconds.toFixed(1)} s, back ${seconds.toFixed(1)} s later, ` +
      `slowest answer ${round.slowestSeconds.toFixed(2)} s, 503 × ${round.refused}, 202 × ${round.acknowledged} in ${((performance.now() - struckAt) / 1000).toFixed(0)} s`,
  )
}

try {
  for (let round = 0; round < rounds; round += 1)
    for (const strike of strikes.filter(({ kind }) => only.test(kind))) await playRound(strike)
} catch (error) {
  failures.push(describeError(error))
  for (const node of cluster.nodes) {
    node.thaw()
    await node.join()
  }
}

// Waits until everything that was started has ended, then judges the log.
await callers.stop()
await load.stop()
const { standby } = await cluster.whole()
const quietSince = performance.now()
for (;;) {
  const [left] = await sql`
    select (select count(*) from runledger.pending) + (select count(*) from runledger.delivery where state in ('waiting', 'pending')) as count`
  if (left?.['count'] === 0 || performance.now() - quietSince > quiescenceSeconds * 1000) break
  await sleep(200)
}
for (const service of [...webs, ...workers]) {
  const status = await service.stop()
  if (status !== 0) failures.push(`${service.name} ended with ${status}:\n${service.lastWords()}`)
}
const judgement = await judge(sql, load, delivered, callers.sent + probes)
const lost = await sql<{ id: string }[]>`
  select id from unnest(${callers.acknowledged as string[]}::uuid[]) id
  where not exists (select from runledger.event where stream_id = id and type = 'submission.received')`
failures.push(...(await checkReplica(sql, cluster.urlOf(standby, 'auditor', secret, 'runledger'))))

const percentile = (list: readonly number[], part: number): string =>
  (list.toSorted((a, b) => a - b)[Math.ceil(list.length * part) - 1] ?? 0).toFixed(1)
say('\nprimary | rounds | new primary takes writes after, s: p50, max | back after that, s: p50, max | slowest answer, s | 503 | 202') // prettier-ignore
for (const [kind, played] of Map.groupBy(table, ({ kind }) => kind)) {
  const show = (pick: (round: Round) => number): string => {
    const figures = played.map(pick)
    return `${percentile(figures, 0.5)}, ${percentile(figures, 1)}`
  }
  const sum = (pick: (round: Round) => number): number => played.reduce((total, round) => total + pick(round), 0) // prettier-ignore
  const slowest = Math.max(...played.map(({ slowestSeconds }) => slowestSeconds)).toFixed(2)
  say(`${kind} | ${played.length} | ${show((round) => round.primarySeconds)} | ${show((round) => round.backSeconds)} | ${slowest} | ${sum(({ refused }) => refused)} | ${sum(({ acknowledged }) => acknowledged)}`) // prettier-ignore
}
const wrong = [
  ...judgement.lost.map((id) => `lost: ${id}`),
  ...lost.map(({ id }) => `lost: ${id}`),
  ...judgement.doubled.map((id) => `doubled: ${id}`),
  ...judgement.stuck.map((id) => `stuck: ${id}`),
  ...judgement.broken,
  ...platform.crashes.map((what) => `crashed by itself: ${what}`),
  ...platform.internal,
  ...failures,
]
for (const what of wrong.slice(0, 50)) say(`✗ ${what}`)
say(
  `failover: ${table.length} rounds in ${((performance.now() - startedAt) / 1000).toFixed(0)} s, ${judgement.acknowledged + callers.acknowledged.length} acknowledged, ` +
    `${judgement.lost.length + lost.length} lost, ${judgement.doubled.length} doubled, ${judgement.stuck.length} stuck; runs begun anew ${judgement.interrupted}, given up ${judgement.abandoned}`,
)
await sql.end({ timeout: 2 })
await cluster.remove()
await receiver.close()
authority.remove()
rmSync(directory, { recursive: true, force: true })
process.exit(wrong.length === 0 ? 0 : 1)
