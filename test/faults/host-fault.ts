// Faults of a process's host: memory and disk run out, the clock jumps, the event loop blocks, the sandbox breaks, and dead
// workers leave things behind.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { v7 as uuidv7 } from 'uuid'
import { readHierarchies } from '../../src/executor/cgroup/cgroup.ts'
import { breakSandbox, findWorkerGroups, mendSandbox } from '../helper/control-group.ts'
import { fault } from './strike.ts'
import type { Fault, Scene } from './strike.ts'

const hourSeconds = 3600
const sweptSeconds = 20

export const hostFaults: readonly Fault[] = [
  fault('a worker’s event loop stands still past its lease', async (scene) => {
    await scene.lose(scene.random.pick(scene.workers), 'SIGUSR2', 'blocked')
    await sleep(scene.leaseSeconds * 1000 + 2500)
  }),
  fault('a worker is out of memory', exhaustMemory),
  fault('a worker’s disk is full', async (scene) => {
    const { disk } = scene.random.pick(scene.workers)
    disk.fill()
    // It must complete, whichever worker compiles it.
    const code = `int main() { return ${scene.random.between(1, 1e9)} % 1; }`
    await withoutLosses(scene, () => scene.submit({ language: 'cpp', code }))
    await sleep(2000)
    disk.free()
  }),
  fault('a worker’s sandbox stops working, and works again', async (scene) => {
    const worker = scene.random.pick(scene.workers)
    await worker.ready()
    const before = worker.logged.get('worker.resumed') ?? 0
    await withoutLosses(scene, async () => {
      breakSandbox(worker.pid)
      await sleep(2500)
      mendSandbox(worker.pid)
    })
    await until('the worker takes programs again', () => (worker.logged.get('worker.resumed') ?? 0) > before) // prettier-ignore
  }),
  ...[-hourSeconds, hourSeconds].map((seconds) =>
    fault(
      `the clocks of a web and a worker jump an hour ${seconds < 0 ? 'back' : 'ahead'}, and back`,
      async (scene: Scene) => {
        const { random, webs, workers, leaseSeconds } = scene
        const [web, worker] = [random.pick(webs), random.pick(workers)]
        await worker.ready()
        // A worker that could not renew its lease during the previous fault notices that within a lease.
        await sleep(leaseSeconds * 1000 + 1000)
        await worker.ready()
        const { pid } = worker
        const fenced = worker.logged.get('worker.fenced')
        for (const service of [web, worker]) service.setClock(seconds)
        await sleep(3000)
        for (const service of [web, worker]) service.setClock(0)
        await sleep(1000)
        if (worker.pid !== pid || worker.logged.get('worker.fenced') !== fenced)
          throw new Error('a worker was given up because of its clock')
        return 4
      },
    ),
  ),
  fault('a web and a worker start in 1970', async ({ random, webs, workers }) => {
    const services = [random.pick(webs), random.pick(workers)]
    for (const service of services) {
      service.setClock(-Math.floor(Date.now() / 1000))
      service.kill('SIGKILL')
      await service.ended()
    }
    await Promise.all(services.map((service) => service.ready()))
    await sleep(2000)
    for (const service of services) service.setClock(0)
    return services.length
  }),
  fault('what dead workers left is found by the next', plantLeftovers),
]

/** Fails when the work makes the service abandon a submission: a fault of a single host must not use up attempts. */
async function withoutLosses({ sql }: Scene, work: () => Promise<unknown>): Promise<void> {
  const count = async (): Promise<number> => {
    const [row] = await sql`
      select count(*) from runledger.event where type = 'execution.abandoned'`
    return row?.['count'] as number
  }
  const before = await count()
  await work()
  const given = (await count()) - before
  if (given > 0) throw new Error(`${given} submissions were given up`)
}

/** Makes the kernel kill the worker itself; the memory of its boxes is separate. */
async function exhaustMemory({ random, workers }: Scene): Promise<void> {
  const worker = random.pick(workers)
  await worker.ready()
  const hierarchies = readHierarchies()
  const v1 = hierarchies.find(({ controllers }) => controllers.includes('memory'))
  const root = (v1 ?? hierarchies.find(({ type }) => type === 'cgroup2'))?.mountPoint ?? ''
  const group = join(root, `faults-${process.pid}`)
  mkdirSync(group)
  writeFileSync(join(group, v1 === undefined ? 'memory.max' : 'memory.limit_in_bytes'), '262144') // less than it soon needs
  const ended = worker.ended()
  worker.kill('SIGCONT') // from now on an end is expected
  writeFileSync(join(group, 'cgroup.procs'), String(worker.pid))
  await ended
  await until('the cgroup is removed', () => {
    rmdirSync(group)
    return true
  })
}

/**
 * Plants cgroups with a process, queue locks and a lease of a dead worker, and cgroups of a living process. A worker that
 * starts removes the first and leaves the second.
 */
async function plantLeftovers(scene: Scene): Promise<number> {
  const { sql, random, workers } = scene
  const worker = random.pick(workers)
  await worker.ready()
  const gone = spawn('true')
  await once(gone, 'exit')
  const sleeper = spawn('setpriv', [`--reuid=${scene.firstUid}`, '--clear-groups', 'sleep', '1000'])
  const sleeperEnded = once(sleeper, 'exit')
  const parents = findWorkerGroups(worker.pid).map((group) => dirname(group))
  const dead = nameGroups(parents, gone.pid ?? 0, '1')
  const alive = nameGroups(parents, process.pid, readStartTicks())
  for (const group of [...dead, ...alive]) mkdirSync(join(group, 'phase-1'), { recursive: true })
  for (const group of dead) writeFileSync(join(group, 'phase-1/cgroup.procs'), String(sleeper.pid))

  const planted = uuidv7()
  await sql`
    insert into runledger.worker (id, host, pid, slots, languages, lease_seconds, queue_pool_ids, renewed_at)
    values (${planted}, 'gone', 1, 1, '{}', 3, '{planted}', now() - interval '1 hour')`
  await sql`
    update graphile_worker._private_jobs set locked_at = now(), locked_by = 'planted' where locked_at is null`
  // A session still holds the dead worker's lock, because the server has not noticed the session's end.
  const session = await sql.reserve()
  await session`
    select pg_advisory_lock(71830, lock_key) from runledger.worker where id = ${planted}`

  worker.kill('SIGKILL')
  await worker.ended()
  await worker.ready()
  await until(
    'the dead worker’s cgroups are removed',
    () => !dead.some((group) => existsSync(group)),
  )
  await sleeperEnded
  if (!alive.every((group) => existsSync(group))) throw new Error('a live process lost its cgroups')
  await until('the dead worker is given up', async () => {
    const [row] = await sql`
      select stopped_at is not null and not exists (
        select from graphile_worker.jobs where locked_by = 'planted'
      ) as given_up
      from runledger.worker where id = ${planted}`
    return row?.['given_up'] === true
  })
  await session`select pg_advisory_unlock_all()`
  session.release()
  for (const group of alive) {
    rmdirSync(join(group, 'phase-1'))
    rmdirSync(group)
  }
  return dead.length + 2
}

function nameGroups(parents: readonly string[], pid: number, startTicks: string): string[] {
  const namespace = readlinkSync('/proc/self/ns/pid').replace(/\D/g, '')
  return parents.map((parent) => join(parent, `runledger-${namespace}-${pid}-${startTicks}-1`))
}

function readStartTicks(): string {
  const stat = readFileSync('/proc/self/stat', 'utf8')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''
}

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const endsAt = performance.now() + sweptSeconds * 1000
  for (;;) {
    try {
      if (await holds()) return
    } catch {
      // not yet
    }
    if (performance.now() > endsAt) throw new Error(`not after ${sweptSeconds} s: ${what}`)
    await sleep(50)
  }
}
