// Goal G9: what 10,000 python hellos over HTTP leave in the web process and the worker. Memory is compared with its size after
// the first hundred. Processes, cgroups, mounts and descriptors must not become more. Both processes are the real ones, started
// as the Procfile starts them. The row shows that the last run is as fast as the first.
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createDatabase } from '#database'
import { readHierarchies } from '../../src/executor/cgroup/cgroup.ts'
import { createCaller } from '../../test/helper/submission.ts'
import { startCluster } from '../database.ts'
import { hello } from '../executor/hello.ts'
import { measure } from '../measure.ts'
import { isQuick, report } from '../report.ts'
import { readMegabytes, readStatus } from './memory.ts'
import { createClient, startService } from './service.ts'

// When time is short there are fewer runs. A leak shows after some thousands.
const runs = isQuick ? 500 : 10_000
const rounds = 5
const warmUps = 100
const clients = 16
const firstUid = 230_000 + (process.pid % 5000) * 8
const slots = 2

await using cleanUp = new AsyncDisposableStack()
const directory = mkdtempSync(join(tmpdir(), 'runledger-bench-'))
cleanUp.defer(() => rmSync(directory, { recursive: true, force: true }))
const cluster = cleanUp.use(await startCluster())
const url = await cluster.createDatabase('leak')
const sql = createDatabase({ url, connections: 1, name: 'bench' })
cleanUp.defer(() => sql.end({ timeout: 5 }))
const { key } = await createCaller(sql)
const web = await startService('src/server/server.ts', 'web.started', {
  DATABASE_URL: url,
  PORT: '0',
})
cleanUp.use(web)
const worker = await startService('src/worker/worker.ts', 'worker.started', {
  DATABASE_URL: url,
  SLOTS: String(slots),
  FIRST_UID: String(firstUid),
  CACHE_DIRECTORY: directory,
})
cleanUp.use(worker)
const client = cleanUp.use(createClient(Number(web.started['port']), key, clients))
const [workerPid, webPid] = [Number(worker.started['pid']), Number(web.started['pid'])]

const run = (): Promise<void> => client.run(hello.python, hello.stdout)
for (let left = warmUps; left > 0; left -= clients) {
  await Promise.all(Array.from({ length: Math.min(left, clients) }, run))
}
const before = await countSettled()

const rows = await measure([
  { name: `python hello, ${clients} clients`, iterations: runs / rounds, atOnce: clients, run },
])
const after = await countSettled()

const left = ['processes', 'cgroups', 'mounts', 'descriptors'] as const
const memory = ['worker', 'worker and its own', 'web'] as const
report('http/leak', rows, {
  notes: [
    ...left.map((name) => `${name} of the worker: ${before[name]} before, ${after[name]} after`),
    ...memory.map(
      (name) => `memory of ${name}: ${before[name]} MB before, ${after[name]} MB after`,
    ),
  ],
  figures: {
    runs: rows[0]?.n ?? 0,
    ...Object.fromEntries(
      memory.flatMap((name) => [
        [`${name} MB after 100`, before[name]],
        [`${name} MB at the end`, after[name]],
      ]),
    ),
  },
  failures: left
    .filter((name) => after[name] > before[name])
    .map((name) => `${name}: ${before[name]} before, ${after[name]} after`),
})

type Count = Readonly<Record<(typeof left)[number] | (typeof memory)[number], number>>

/** Waits before it counts: dead processes stay zombies until the host's init reaps them, and a run's cgroup is removed late. */
async function countSettled(): Promise<Count> {
  await sleep(2000)
  const all = readProcesses()
  const own = all.filter(
    ({ pid, parent, uid }) => pid !== workerPid && (parent === workerPid || isSlot(uid)),
  )
  return {
    processes: own.length,
    cgroups: countCgroups(),
    mounts: readFileSync(`/proc/${workerPid}/mountinfo`, 'utf8').trim().split('\n').length,
    descriptors: readdirSync(`/proc/${workerPid}/fd`).length,
    worker: readMegabytes(workerPid),
    'worker and its own': readMegabytes(workerPid, ...own.map(({ pid }) => pid)),
    web: readMegabytes(webPid),
  }
}

function isSlot(uid: number): boolean {
  return uid >= firstUid && uid < firstUid + slots
}

function readProcesses(): { pid: number; parent: number; uid: number }[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const status = readStatus(Number(name))
      return status === null
        ? []
        : [{ pid: Number(name), parent: status('PPid'), uid: status('Uid') }]
    })
}

/** Counts the worker's groups and the directories below them, in every hierarchy. */
function countCgroups(): number {
  const ownName = new RegExp(`^runledger-\\d+-${workerPid}-`)
  return readHierarchies()
    .flatMap(({ ownGroup }) =>
      readdirSync(ownGroup)
        .filter((name) => ownName.test(name))
        .map((name) => `${ownGroup}/${name}`),
    )
    .reduce((sum, group) => sum + 1 + countDirectories(group), 0)
}

function countDirectories(group: string): number {
  return readdirSync(group, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isDirectory(),
  ).length
}
