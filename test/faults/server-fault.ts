// Faults of the database's own host: a full disk, a long outage, a crash that makes a standby take over.
import { setTimeout as sleep } from 'node:timers/promises'
import { cutOff, fault } from './strike.ts'
import type { Fault } from './strike.ts'

const longOutageMilliseconds = 30_000

export const serverFaults: readonly Fault[] = [
  fault('PostgreSQL’s disk is full', async ({ cluster, random }) => {
    cluster.disk.fill()
    await sleep(random.between(2000, 4000))
    cluster.disk.free()
    await cluster.revive()
  }),
  fault('PostgreSQL crashes of its full disk, and cannot recover', async ({ cluster, sql }) => {
    cluster.disk.fill()
    // A server ends when it cannot write its log any further.
    for (let segments = 0; segments < 8; segments += 1) {
      const written = sql`
          select pg_logical_emit_message(true, 'faults', 'more'), pg_switch_wal()`
      await written.catch(() => {})
    }
    await sleep(2000)
    cluster.disk.free()
    await sleep(500)
    await cluster.revive()
  }),
  fault('PostgreSQL dies, and its standby takes its place', async ({ cluster, random }) => {
    await cluster.addStandby()
    await sleep(random.between(1000, 2000))
    await cluster.failOver()
    await sleep(random.between(500, 2000))
    await cluster.promote()
  }),
  fault('database is away for half a minute', async (scene) => {
    // Every process loses it; one web and one worker are refused, the others wait for an answer.
    const { random, webs, workers } = scene
    const [web, ...otherWebs] = random.shuffle(webs)
    const [worker, ...otherWorkers] = random.shuffle(workers)
    const counts = await Promise.all([
      cutOff(scene, [web!, worker!], 'refuse', longOutageMilliseconds),
      cutOff(scene, [...otherWebs, ...otherWorkers], 'hold', longOutageMilliseconds),
    ])
    return counts.reduce((sum, count) => sum + count)
  }),
]
