// The fault suite: real web and worker processes, a separate PostgreSQL, clients that remember every answer, and every fault
// of fault.ts in an order that one seed decides. At the end the log must account for everything.
//
//   node test/faults/faults.ts            each fault once; FAULTS_SEED=… repeats a run,
//                                         FAULTS_SECONDS=… repeats the faults for so long,
//                                         FAULTS_ONLY=regex strikes only with faults whose name matches,
//                                         FAULTS_REWARDS=… programs of known reward go through the client (10,000;
//                                         500 with FAULTS_ONLY),
//                                         FAULTS_LOGS=directory keeps the output of the processes there
import { randomUUID } from 'node:crypto'
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { issueKey } from '#account'
import { createDatabase, surviveLostConnections } from '#database'
import { findPort } from '#embedded-postgres'
import { describeError } from '#error-text'
import { migrate } from '#migration'
import { printLife } from '../../src/cli/audit.ts'
import { createAuthority } from '../webhook/certificate.ts'
import { createReceiver } from '../webhook/receiver.ts'
import { startFaultCluster } from './cluster.ts'
import { enterMountNamespace } from './disk.ts'
import { faults } from './fault.ts'
import { findLeftovers, judge } from './history.ts'
import { call, startLoad } from './load.ts'
import { createPlatform } from './platform.ts'
import type { Service } from './platform.ts'
import { provocations, provoke } from './provoke.ts'
import type { Ended } from './provoke.ts'
import { createRandom } from './random.ts'
import { createRescues } from './rescue.ts'
import { startBalancer } from './balancer.ts'
import { startRewards } from './rewards.ts'
import type { Fault, Scene } from './strike.ts'

enterMountNamespace()
surviveLostConnections(() => {}) // Keeps this suite alive when a fault strikes the server and its own connections break.
const seed = Number(process.env['FAULTS_SEED'] ?? Math.floor(Math.random() * 2 ** 31))
const seconds = Number(process.env['FAULTS_SECONDS'] ?? 0)
const only = new RegExp(process.env['FAULTS_ONLY'] ?? '', 'u')
const rewarded = Number(
  process.env['FAULTS_REWARDS'] ?? (process.env['FAULTS_ONLY'] ? 500 : 10_000),
)
const logDirectory = process.env['FAULTS_LOGS'] ?? null
// A wait that takes longer means that something is stuck, even on a slow machine.
const recoverySeconds = 90
const quiescenceSeconds = 120
const strikeSeconds = 240
// Faults strike until all programs have their reward, but at most for this time. Then the remaining programs finish without
// faults.
const longestSeconds = 540
// The share of programs that a strike with the long lease lets start. These first strikes are brief, and measure how soon a
// run is restarted.
const briefPart = 1 / 4
const rewardSeconds = 900
// Characters of PostgreSQL's last log output, shown when the service did not come back.
const shownServerLog = 4000
// The longest rescues. With the default lease, a killed worker's runs restart within 1.5 s (p50) and 3 s (p99) on a quiet
// machine. Without early detection they would wait for the lease, 15 s. Runs of a frozen or blocked worker do wait for it.
const rescueBounds: readonly RescueBound[] = [
  { kinds: /^killed, lease 15 s$/, part: 0.5, seconds: 5 },
  { kinds: /^killed, lease 15 s$/, part: 0.99, seconds: 10 },
  { kinds: /^(frozen|blocked)/, part: 1, seconds: 20 },
]
// A slower rescue is printed with all its events.
const slowRescueSeconds = 5
const receiverAddress = '127.0.0.2'
const slots = 2
const connections = 4
const leaseSeconds = 3
const firstUid = 90_000 + (process.pid % 500) * 8

const say = (text: string): void => void process.stdout.write(`${text}\n`)
say(`faults: FAULTS_SEED=${seed}`)
const random = createRandom(seed)
// Not in /tmp, because each process sees a separate disk there.
const directory = mkdtempSync('/var/tmp/runledger-faults-')

// PostgreSQL accepts connections for all processes and a few more, so that a fault can use them up.
let serverLog = ''
/** PostgreSQL's messages about work that a sweep or the reconciler could not do at once. */
const putOff: string[] = []
const cluster = await startFaultCluster(90, (text) => {
  serverLog = (serverLog + text).slice(-shownServerLog)
  for (const [line] of text.matchAll(/^.*is not (?:given back|repaired): .*$/gmu)) putOff.push(line)
  if (logDirectory !== null) appendFileSync(join(logDirectory, 'postgres'), text)
})
const clusterStartedAt = performance.now()
const sql = createDatabase({
  url: cluster.url('postgres'),
  connections,
  name: 'faults',
  statementSeconds: 60,
})
await migrate(sql, cluster.url('postgres'))
await sql`insert into runledger.tier (name, concurrent_executions) values ('faults', 3)`
const keys = await Promise.all(
  ['unlimited', 'unlimited', 'faults', 'unlimited'].map(async (tier, index) => {
    const { key } = await issueKey(sql, { account: `account ${index}`, tier }, 'faults')
    return key
  }),
)

// A receiver of webhooks that sometimes fails.
const authority = createAuthority()
const authorityFile = join(directory, 'authority.pem')
writeFileSync(authorityFile, authority.pem)
const delivered = new Set<string>()
let deliveries = 0
let receiverMilliseconds = 0
const receiverRandom = createRandom(seed + 2)
const receiver = await createReceiver(
  authority.issue([`IP:${receiverAddress}`]),
  (response, { headers }) => {
    const fails = receiverRandom.number() < 0.2
    setTimeout(() => response.writeHead(fails ? 500 : 200).end(), receiverMilliseconds)
    if (fails) return
    deliveries += 1
    delivered.add(String(headers['webhook-id']))
  },
  receiverAddress,
)

const platform = await createPlatform(
  cluster.url('postgres'),
  directory,
  leaseSeconds + 2,
  logDirectory,
)
const shared = {
  LOG_LEVEL: 'info',
  WEBHOOK_ALLOWED_RANGES: receiverAddress,
  WEBHOOK_ALLOWED_PORTS: String(receiver.port),
}
const webPorts = [await findPort(0), await findPort(0)]
const startWorker = (name: string, index: number, leaseSeconds: number) =>
  platform.start(name, 'worker', {
    ...shared,
    SLOTS: String(slots),
    // Each slot's resident compiler has a uid, too.
    FIRST_UID: String(firstUid + index * 2 * slots),
    // Most strikes start a worker, and one that offers Java takes two seconds of CPU time more to start.
    LANGUAGES: index === 0 ? 'python,cpp,java' : 'python,cpp',
    JAVA_RESIDENT_COMPILER: 'off',
    CPP_PRECOMPILED_HEADERS: 'off',
    LEASE_SECONDS: String(leaseSeconds),
    WEBHOOK_CA: authorityFile,
    WEBHOOK_SCHEDULE_SECONDS: '0.5,1,1,2,2,2',
  })
const webs = await Promise.all(
  webPorts.map((port, index) =>
    platform.start(`web-${index + 1}`, 'web', { ...shared, PORT: String(port) }),
  ),
)

let phase = ''
const rescues = createRescues(sql, () => phase)
const stops: string[] = []
const recoveries: number[] = []
const struckByName = new Map<string, number>()
const failures: string[] = []
let probes = 0

const load = startLoad({
  clients: 4,
  keys: keys.slice(0, 3),
  ports: () => webPorts,
  webhook: { url: `https://${receiverAddress}:${receiver.port}/`, secret: 'a secret of the suite' },
  random: createRandom(seed + 1),
})

const balancer = await startBalancer(webPorts, createRandom(seed + 3))
const rewards = startRewards({
  programs: rewarded,
  clients: 12,
  url: balancer.url,
  apiKey: keys[3] ?? '',
  random: createRandom(seed + 4),
})

/** Submits a program until it is acknowledged, then waits until it has ended. */
async function submit(port: number, program: object): Promise<Ended> {
  const startedAt = performance.now()
  const headers = { 'X-API-Key': keys[0] ?? '', 'Idempotency-Key': randomUUID(), Prefer: 'wait=5' }
  probes += 1
  for (;;) {
    const { status, body } = await call(port, 'POST', '/api/submit?wait=true', headers, program)
    if (body['status'] === 'completed' || body['status'] === 'failed') return body
    if (performance.now() - startedAt > recoverySeconds * 1000) {
      throw new Error(`not back after ${recoverySeconds} s (status ${status})`)
    }
    await sleep(50)
  }
}

/** Returns the seconds until a submission through each web process has completed. */
async function recover(): Promise<number> {
  const startedAt = performance.now()
  for (const port of webPorts) {
    const { status } = await submit(port, { language: 'python', code: 'print(1)' })
    if (status === 'failed') throw new Error('given up although nothing struck any more')
  }
  return (performance.now() - startedAt) / 1000
}

async function submitMany(count: number): Promise<void> {
  const submissions = Array.from({ length: 20 }, () => ({ language: 'python', code: '' }))
  for (let left = count; left > 0; left -= submissions.length) {
    const headers = { 'X-API-Key': keys[1] ?? '', 'Idempotency-Key': randomUUID() }
    probes += submissions.length
    for (;;) {
      const { status } = await call(random.pick(webPorts), 'POST', '/api/submit/batch', headers, { submissions }) // prettier-ignore
      if (status === 202) break
      await sleep(50)
    }
  }
}

/** Waits until the suite's own connections work. The driver keeps a connection error until the next query gets it. */
async function reconnect(): Promise<void> {
  for (let tries = 0; tries < 100; tries += 1) {
    const answers = await Promise.allSettled(
      Array.from({ length: 2 * connections }, () => sql`select pg_sleep(0.01)`),
    )
    if (answers.every(({ status }) => status === 'fulfilled')) return
    await sleep(100)
  }
}

/**
 * Strikes with a fault.
 * @throws when the service does not come back, because later strikes would then prove nothing.
 */
async function strike(fault: Fault, scene: Scene): Promise<void> {
  const startedAt = performance.now()
  let count = 0
  let problem = ''
  strikes += scene.leaseSeconds === leaseSeconds ? 1 : briefPart
  rewards.allow(Math.ceil((rewarded * strikes) / plannedStrikes))
  try {
    count = (await within(strikeSeconds, fault.strike(scene))) ?? 1
  } catch (error) {
    problem = describeError(error)
    failures.push(`${fault.name}: ${problem}`)
    say(`${fault.name}: ${problem}`)
    // The failed strike may have left its fault in effect.
    for (const { proxy } of [...scene.webs, ...scene.workers]) await proxy.set('pass')
    await cluster.repair().catch((reason: unknown) => say(describeError(reason)))
  }
  const struckFor = (performance.now() - startedAt) / 1000
  struckByName.set(fault.name, (struckByName.get(fault.name) ?? 0) + count)
  try {
    const back = await recover()
    recoveries.push(back)
    say(
      `${fault.name}: ${count} in ${struckFor.toFixed(1)} s, back in ${back.toFixed(1)} s ${problem}`,
    )
  } catch (error) {
    say(`${fault.name}: ${String(error)}; PostgreSQL said last:\n${serverLog}`)
    throw new Error(`${fault.name}: ${String(error)}`, { cause: error })
  }
  await reconnect()
}

function createScene(workers: Scene['workers'], seconds: number): Scene {
  const { lose } = rescues
  return {
    random,
    cluster,
    sql,
    webs,
    workers,
    leaseSeconds: seconds,
    firstUid,
    lose,
    async submit(program) {
      await submit(random.pick(webPorts), program)
    },
    submitMany,
    rewardSlowly: rewards.beginSlowly,
    slowReceiver: (milliseconds) => void (receiverMilliseconds = milliseconds),
    noteStop: (name, took) => void stops.push(`${name} ${took.toFixed(1)} s`),
  }
}

const killed = faults.filter(({ name }) => /^(all workers|worker) killed$/.test(name))
const chosen = faults.filter(({ name }) => only.test(name))
const endsAt = clusterStartedAt + seconds * 1000
const longLeaseRounds = only.source === '(?:)' ? 8 : 0
/** The programs of known reward are spread over these strikes. */
const plannedStrikes = longLeaseRounds * briefPart + chosen.length
let strikes = 0
let workers: readonly Service[] = []

/** Strikes first with the default lease, to measure how soon the runs of a killed worker are restarted. */
async function strikeWithLongLease(): Promise<void> {
  phase = ', lease 15 s'
  workers = await Promise.all([0, 1].map((index) => startWorker(`worker-${index}`, index, 15)))
  const provoked = await provoke((program) => submit(random.pick(webPorts), program), workers)
  failures.push(...provoked)
  say(
    `${Object.keys(provocations).length} programs that try to be a failure of ours, ${provoked.length} are`,
  )
  // For the lease and 5 s after its start PostgreSQL treats a worker without a session lock as alive
  // (sql/functions/alive.sql).
  await sleep(Math.max(0, 21_000 - (performance.now() - clusterStartedAt)))
  const scene = createScene(workers, 15)
  for (let round = 0; round < longLeaseRounds; round += 1)
    await strike(killed[round % 4 === 3 ? 1 : 0]!, scene)
  await Promise.all(workers.map((worker) => worker.stop()))
  phase = `, lease ${leaseSeconds} s`
}

async function strikeWithEach(): Promise<void> {
  workers = await Promise.all(
    [0, 1].map((index) => startWorker(`worker-${index + 2}`, index, leaseSeconds)),
  )
  const scene = createScene(workers, leaseSeconds)
  const goesOn = (): boolean =>
    performance.now() < endsAt ||
    (!rewards.isOver && performance.now() < clusterStartedAt + longestSeconds * 1000)
  for (let round = 0; round === 0 || goesOn(); round += 1) {
    for (const fault of random.shuffle(chosen)) {
      // The first round includes every fault, however long it takes.
      if (round > 0 && !goesOn()) break
      await strike(fault, scene)
    }
  }
  // A fault may need a condition that does not always exist, such as a lost worker whose runs are not requeued yet.
  for (let round = 0; round < 3; round += 1) {
    for (const fault of chosen) if (struckByName.get(fault.name) === 0) await strike(fault, scene)
  }
}

try {
  if (longLeaseRounds > 0) await strikeWithLongLease()
  await strikeWithEach()
} catch (error) {
  failures.push(describeError(error))
}

// Waits until everything that was started has ended, then stops the processes and judges the log.
await rewards.finish(rewardSeconds)
await load.stop()
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
const rewardJudgement = await rewards.judge(sql)
const judgement = await judge(sql, load, delivered, probes + rewardJudgement.acknowledged)
const leftovers = findLeftovers(platform.pids, directory, { first: firstUid, count: 4 * slots })
const seconded = await rescues.measure()
const countLogged = (message: string): number =>
  [...webs, ...workers].reduce((sum, { logged }) => sum + (logged.get(message) ?? 0), 0)

for (const [kind, rescued] of seconded) {
  const times = rescued.map((rescue) => rescue.seconds)
  say(
    `rescue, ${kind}: n ${times.length}, p50 ${percentile(times, 0.5)} s, p99 ${percentile(times, 0.99)} s, max ${percentile(times, 1)} s`,
  )
  for (const { kinds, part, seconds } of rescueBounds) {
    const found = percentile(times, part)
    if (kinds.test(kind) && Number(found) > seconds)
      failures.push(`rescue, ${kind}: ${describePart(part)} ${found} s, more than ${seconds} s`)
  }
  const slowest = rescued.at(-1)
  if (slowest === undefined || slowest.seconds < slowRescueSeconds) continue
  for (const line of (await printLife(sql, slowest.submission))?.lines ?? []) say(`  ${line}`)
}
say(
  `back after a fault: p50 ${percentile(recoveries, 0.5)} s, max ${percentile(recoveries, 1)} s; orderly stops: ${stops.join(', ')}`,
)
say(
  `sweeps delayed ${countLogged('sweep.delayed')}, failed ${countLogged('sweep.failed')}; queue repaired ${countLogged('queue.repaired')} times; put off ${putOff.length}`,
)
for (const line of putOff.slice(-5)) say(`  ${line}`)
say(
  `answers: ${[...load.answers].map(([status, count]) => `${status} × ${count}`).join(', ')}; slowest without wait ${load.slowestSeconds.toFixed(2)} s`,
)
say(
  `runs interrupted ${judgement.interrupted}, abandoned ${judgement.abandoned}, stale results refused ${countLogged('execution.fenced')}; cancelled ${judgement.cancelled} of ${load.cancels.size} asked for; with tests ${judgement.tested}; webhooks ${judgement.webhooks}, sent twice ${deliveries - delivered.size}`,
)

const wrong = [
  ...judgement.lost.map((id) => `lost: ${id}`),
  ...judgement.doubled.map((id) => `doubled: ${id}`),
  ...judgement.stuck.map((id) => `stuck: ${id}`),
  ...judgement.broken,
  ...rewardJudgement.broken,
  ...leftovers.map((what) => `left over: ${what}`),
  ...platform.crashes.map((what) => `crashed by itself: ${what}`),
  ...platform.internal,
  ...failures,
  ...[...struckByName].filter(([, count]) => count === 0).map(([name]) => `never struck: ${name}`),
]
for (const what of wrong.slice(0, 50)) say(`✗ ${what}`)

await sql.end({ timeout: 2 })
await cluster.remove()
await receiver.close()
await balancer.close()
authority.remove()
rmSync(directory, { recursive: true, force: true })
say(`connections cut between the client and the web processes: ${balancer.cuts}`)
say(rewardJudgement.summary)
const injected = [...struckByName.values()].reduce((sum, count) => sum + count, 0)
say(
  `faults: ${struckByName.size} kinds, ${injected} injected, ${(judgement.acknowledged + rewardJudgement.acknowledged).toLocaleString('en')} acknowledged, ` +
    `${judgement.lost.length} lost, ${judgement.doubled.length} doubled, ${judgement.stuck.length} stuck`,
)
process.exitCode = wrong.length === 0 ? 0 : 1

async function within<T>(limitSeconds: number, work: Promise<T>): Promise<T> {
  const late = sleep(limitSeconds * 1000, null, { ref: false }).then(() => {
    throw new Error(`not over after ${limitSeconds} s`)
  })
  return Promise.race([work, late])
}

/** The bound on a quantile of the rescue times of some kinds. */
interface RescueBound {
  readonly kinds: RegExp
  /** 0.99: one of a hundred may take longer. */
  readonly part: number
  readonly seconds: number
}

function describePart(part: number): string {
  return part === 1 ? 'max' : `p${part * 100}`
}

function percentile(list: readonly number[], part: number): string {
  return (list.toSorted((a, b) => a - b)[Math.ceil(list.length * part) - 1] ?? 0).toFixed(2)
}
