// Helpers for the faults of fault.ts: code that several rows share, or that takes more than a line.
import { readFileSync, readdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '#database'
import type { FaultCluster } from './cluster.ts'
import type { Service } from './platform.ts'
import type { ProxyMode } from './proxy.ts'
import type { Random } from './random.ts'
import type { LosingSignal, RescueKind } from './rescue.ts'

/** What a fault can reach. */
export interface Scene {
  readonly random: Random
  readonly cluster: FaultCluster
  /** Connects directly to the database, past every proxy. */
  readonly sql: Database
  readonly webs: readonly Service[]
  readonly workers: readonly Service[]
  readonly leaseSeconds: number
  /** The first host uid of the workers' slots. */
  readonly firstUid: number
  /** Kills, freezes or blocks a worker, and measures the time until its runs are restarted. */
  lose(worker: Service, signal: LosingSignal, kind: RescueKind): Promise<void>
  /**
   * Submits a program and waits until it has ended.
   * @throws when it has not ended within the time of a recovery.
   */
  submit(program: { readonly language: string; readonly code: string }): Promise<void>
  /** Submits `count` small programs at once. */
  submitMany(count: number): Promise<void>
  /** Starts a program of known reward that runs for seconds. @returns its tag. */
  rewardSlowly(): string
  /** Makes the receiver of webhooks take so long to answer from now on. */
  slowReceiver(milliseconds: number): void
  /** Records how long an orderly stop took. */
  noteStop(name: string, seconds: number): void
}

export interface Fault {
  readonly name: string
  /** @returns the number of faults that took effect; 1 when it returns nothing. */
  readonly strike: (scene: Scene) => Promise<number | void>
}

/** Returns a row of the faults. */
export const fault = (name: string, strike: Fault['strike']): Fault => ({ name, strike })

export function everybody({ webs, workers }: Scene): Service[] {
  return [...webs, ...workers]
}

export async function stop(scene: Scene, from: readonly Service[], signals: number): Promise<void> {
  const service = scene.random.pick(from)
  await service.ready() // before that, the signal itself ends the process
  const startedAt = performance.now()
  const ended = service.ended()
  for (let sent = 0; sent < signals; sent += 1) {
    service.kill('SIGTERM')
    await sleep(100)
  }
  const status = await ended
  if (status !== 0) throw new Error(`${service.name}, told to stop, ended with ${status}`)
  scene.noteStop(service.name, (performance.now() - startedAt) / 1000)
}

const giveUpSeconds = 180

/** Makes a program of known reward lose its worker again and again, until the service abandons it as its own fault. */
export async function killUntilGivenUp(scene: Scene): Promise<void> {
  const { sql, workers } = scene
  const tag = scene.rewardSlowly()
  const endsAt = performance.now() + giveUpSeconds * 1000
  while (performance.now() < endsAt) {
    const [last] = await sql`
      select e.type, w.pid from runledger.event received
      join lateral (
        select * from runledger.event where stream_id = received.stream_id order by stream_version desc limit 1
      ) e on true
      left join runledger.worker w on w.id::text = e.data ->> 'worker'
      where received.type = 'submission.received' and received.data ->> 'tag' = ${tag}`
    if (last?.['type'] === 'execution.abandoned') return
    const worker = workers.find(({ pid }) => pid === last?.['pid'])
    if (last?.['type'] === 'execution.started' && worker !== undefined) worker.kill('SIGKILL')
    await sleep(100)
  }
  throw new Error(`no run was given up within ${giveUpSeconds} s`)
}

export async function restart(
  { cluster, random }: Scene,
  how: 'fast' | 'immediate',
): Promise<void> {
  await cluster.stop(how)
  await sleep(random.pick([0, 500, 2000]))
  await cluster.start()
}

export async function cutOff(
  { random }: Scene,
  services: readonly Service[],
  mode: ProxyMode,
  milliseconds = random.between(500, 6000),
): Promise<number> {
  const attempts = services.map(({ proxy }) => proxy.attempts)
  const startedAt = performance.now()
  await Promise.all(services.map(({ proxy }) => proxy.set(mode)))
  await sleep(milliseconds)
  await Promise.all(services.map(({ proxy }) => proxy.set('pass')))
  const seconds = (performance.now() - startedAt) / 1000
  services.forEach(({ name, proxy }, index) => {
    const perSecond = (proxy.attempts - (attempts[index] ?? 0)) / seconds
    if (perSecond > 100)
      throw new Error(`${name} tried ${perSecond.toFixed(0)} connections a second`)
  })
  return services.length
}

/** Loses two answers of each process, or as many as there are in a while. */
export async function loseAnswers(
  services: readonly Service[],
  statement: RegExp,
): Promise<number> {
  const endsAt = performance.now() + 12_000
  return struck(services, async ({ proxy }) => {
    const before = services.reduce((sum, service) => sum + service.proxy.struck, 0)
    proxy.loseAnswers(statement, 2)
    await sleep(1500)
    const isStruck = (): boolean =>
      services.reduce((sum, service) => sum + service.proxy.struck, 0) > before
    while (!isStruck() && performance.now() < endsAt) await sleep(50)
    proxy.loseAnswers(statement, 0)
  })
}

/** Returns the number of connections that a fault has affected. */
export async function struck(
  services: readonly Service[],
  strike: (service: Service) => Promise<void>,
): Promise<number> {
  const before = services.map(({ proxy }) => proxy.struck)
  await Promise.all(services.map(strike))
  return services.reduce((sum, { proxy }, index) => sum + proxy.struck - (before[index] ?? 0), 0)
}

// The reconciler runs ten seconds after a process has started, and a busy machine takes long to start one.
const reachSeconds = 45
const betweenLossesMilliseconds = 6000
const betweenBatchesMilliseconds = 500
// The delay of the receiver, so that attempts wait for each other.
const slowMilliseconds = 1500

/**
 * Restarts a process with a failpoint to die at, and waits until it has died there.
 * @returns 0 if it did not.
 */
export async function crash(scene: Scene, point: string): Promise<number> {
  const [worker, other] = scene.random.shuffle(scene.workers) as [Service, Service]
  // The first process that finds a lost worker requeues its runs, so every process except that worker is armed.
  const armed =
    point === 'sweep.after_commit'
      ? [...scene.webs, other]
      : [/^(submit|batch|cancel)\./.test(point) ? scene.random.pick(scene.webs) : worker]
  // Partitions exist for weeks ahead, so this makes one more necessary.
  if (point.endsWith('_make')) await scene.sql`update runledger.partitioning set ahead = ahead + 1`
  for (const service of armed) {
    service.environment = {
      CRASH_AT: point,
      // Then a single hanging webhook already exceeds the limit.
      ...(point.endsWith('_postpone') && { WEBHOOK_PER_HOST: '1' }),
    }
    service.kill('SIGKILL')
  }
  await Promise.all(armed.map((service) => service.ended()))
  await sleep(400) // by now the platform has restarted them
  for (const service of armed) {
    service.environment = {}
    service.kill('SIGCONT') // from now on an end is expected
  }
  const ends = armed.map((service) => service.ended())
  const stopProvoking = await provoke(point, scene, worker, armed)
  const died = await Promise.race([...ends, sleep(reachSeconds * 1000, null)])
  await stopProvoking()
  for (const service of armed.slice(died === null ? 0 : 1)) service.kill('SIGKILL')
  return died === null ? 0 : 1
}

/** Causes an event that a process does not meet every second. */
async function provoke(
  point: string,
  scene: Scene,
  worker: Service,
  armed: readonly Service[],
): Promise<() => Promise<void>> {
  if (point.endsWith('_interrupt')) {
    // A worker refuses to start when its boxes are killed during its self-test, which is correct.
    await Promise.all(armed.map((service) => service.ready()))
    const killing = setInterval(() => killBoxes(scene), 50)
    return async () => clearInterval(killing)
  }
  if (point.startsWith('batch.')) {
    const stopping = new AbortController()
    const submitting = submitBatches(scene, stopping.signal)
    return async () => {
      stopping.abort()
      await submitting
    }
  }
  if (point.endsWith('_postpone')) {
    scene.slowReceiver(slowMilliseconds)
    return async () => scene.slowReceiver(0)
  }
  if (point === 'sweep.after_commit') {
    await Promise.all(armed.map((service) => service.ready()))
    await sleep(1500)
    // Repeated, because a run may end at the moment of the loss, and because the restarted worker sweeps as well.
    const lose = (): Promise<void> => scene.lose(worker, 'SIGKILL', 'killed')
    await lose()
    let losing = Promise.resolve()
    const again = setInterval(() => {
      losing = lose()
    }, betweenLossesMilliseconds)
    return async () => {
      clearInterval(again)
      await losing
    }
  }
  return async () => {}
}

/** Submits one batch after another, until the process that will die has received one. */
async function submitBatches({ submitMany }: Scene, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await submitMany(20)
    await sleep(betweenBatchesMilliseconds)
  }
}

/** Kills the keepers and the boxes that they make or run. */
export function killBoxes({ workers }: Scene): number {
  const boxes = findChildren(workers.map(({ pid }) => pid)).filter(({ name }) => name === 'keeper')
  for (const { pid } of boxes) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // it has ended by itself
    }
  }
  return boxes.length
}

export async function openConnections(
  url: string,
  count: number,
): Promise<{ close(): Promise<void> }> {
  const { Client } = (await import('pg')).default
  const clients = Array.from({ length: count }, () => new Client({ connectionString: url }))
  await Promise.allSettled(
    clients.map((client) => {
      client.on('error', () => {})
      return client.connect()
    }),
  )
  return {
    close: async () => void (await Promise.allSettled(clients.map((client) => client.end()))),
  }
}

/** Returns the descendants of these processes. */
function findChildren(roots: readonly number[]): { pid: number; name: string }[] {
  const processes = readdirSync('/proc').flatMap((entry) => {
    if (!/^\d+$/.test(entry)) return []
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, 'utf8')
      const end = stat.lastIndexOf(')')
      const name = stat.slice(stat.indexOf('(') + 1, end)
      return [{ pid: Number(entry), name, parent: Number(stat.slice(end + 2).split(' ')[1]) }]
    } catch {
      return []
    }
  })
  const found: { pid: number; name: string }[] = []
  let parents = new Set(roots)
  while (parents.size > 0) {
    const children = processes.filter(({ parent }) => parents.has(parent))
    found.push(...children)
    parents = new Set(children.map(({ pid }) => pid))
  }
  return found
}
