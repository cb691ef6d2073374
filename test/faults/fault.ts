// The faults, one row each: its name, and how it strikes. A row undoes its damage before it ends. Then the suite waits until
// the service answers, and at the very end it judges the log.
import { setTimeout as sleep } from 'node:timers/promises'
import { errorCode } from '#database'
import { rebuildProjections } from '#result'
import { failpoints } from '../../src/job/failpoint.ts'
import { hostFaults } from './host-fault.ts'
import { serverFaults } from './server-fault.ts'
import {
  crash,
  cutOff,
  everybody,
  fault,
  killBoxes,
  killUntilGivenUp,
  loseAnswers,
  openConnections,
  restart,
  stop,
  struck,
} from './strike.ts'
import type { Fault, Scene } from './strike.ts'

/** Waits until all workers can take over from each other, also from the worker that was killed last. */
const untilReady = async ({ workers }: Scene): Promise<unknown> =>
  Promise.all(workers.map((worker) => worker.ready()))

export const faults: readonly Fault[] = [
  fault('worker killed', async (scene) => {
    await untilReady(scene)
    await scene.lose(scene.random.pick(scene.workers), 'SIGKILL', 'killed')
  }),
  fault('all workers killed', async (scene) => {
    await untilReady(scene)
    await Promise.all(scene.workers.map((worker) => scene.lose(worker, 'SIGKILL', 'alone')))
    return scene.workers.length
  }),
  fault('a run loses its worker until it is given up', killUntilGivenUp),
  fault('worker frozen past its lease, then woken', async (scene) => {
    const worker = scene.random.pick(scene.workers)
    await scene.lose(worker, 'SIGSTOP', 'frozen')
    await sleep(scene.leaseSeconds * 1000 + 2500)
    worker.kill('SIGCONT')
  }),
  fault('worker frozen for a moment', async ({ random, workers, leaseSeconds }) => {
    const worker = random.pick(workers)
    worker.kill('SIGSTOP')
    await sleep((leaseSeconds * 1000) / 2)
    worker.kill('SIGCONT')
  }),
  fault('worker told to stop', (scene) => stop(scene, scene.workers, 1)),
  fault('worker told to stop twice', (scene) => stop(scene, scene.workers, 2)),
  fault('web told to stop', (scene) => stop(scene, scene.webs, 1)),
  fault('web killed', async ({ random, webs }) => random.pick(webs).kill('SIGKILL')),
  fault('web frozen for a moment', async ({ random, webs }) => {
    const web = random.pick(webs)
    web.kill('SIGSTOP')
    await sleep(random.between(500, 4000))
    web.kill('SIGCONT')
  }),
  fault('everything killed at once', async (scene) => {
    for (const service of everybody(scene)) service.kill('SIGKILL')
    return everybody(scene).length
  }),
  ...failpoints.map((point) => fault(`killed at ${point}`, (scene: Scene) => crash(scene, point))),

  fault('PostgreSQL crashes (immediate shutdown)', (scene) => restart(scene, 'immediate')),
  fault('PostgreSQL restarts (fast shutdown)', (scene) => restart(scene, 'fast')),
  fault('a backend of PostgreSQL is killed, and it recovers', async ({ sql, random }) => {
    const backends = await sql`
        select pid from pg_stat_activity where application_name like 'runledger %'`
    process.kill(Number(random.pick(backends)['pid']), 'SIGKILL')
  }),
  ...['lease', 'queue', 'worker', 'web', '%'].map((kind) =>
    fault(`connections terminated (${kind === '%' ? 'all' : kind})`, async ({ sql }: Scene) => {
      const rows = await sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where application_name like ${`runledger ${kind}`}`
      return rows.length
    }),
  ),
  fault('database refuses connections', (scene) => cutOff(scene, everybody(scene), 'refuse')),
  fault('database answers nothing', (scene) => cutOff(scene, everybody(scene), 'hold')),
  fault('connections are hung up on at once', (scene) =>
    cutOff(scene, everybody(scene), 'hang_up'),
  ),
  fault('one worker is cut off', (scene) =>
    cutOff(scene, [scene.random.pick(scene.workers)], scene.random.pick(['refuse', 'hold'])),
  ),
  fault('one web is cut off', (scene) =>
    cutOff(scene, [scene.random.pick(scene.webs)], scene.random.pick(['refuse', 'hold'])),
  ),
  ...['lease', 'queue', 'worker', 'web'].map((kind) =>
    fault(`connections go silent for good (${kind})`, async (scene: Scene) =>
      struck(everybody(scene), async ({ proxy }) =>
        proxy.silence(new RegExp(`^runledger ${kind}$`)),
      ),
    ),
  ),
  fault('connections that only listen go silent for good', async (scene) =>
    struck(everybody(scene), async ({ proxy }) => proxy.silence(/./, { listening: true })),
  ),
  fault('every answer comes late', async (scene) => {
    for (const { proxy } of everybody(scene)) proxy.delay(200)
    await sleep(4000)
    for (const { proxy } of everybody(scene)) proxy.delay(0)
  }),
  fault('connections break in the middle of a message', async (scene) => {
    const { random } = scene
    return struck(everybody(scene), async ({ proxy }) => {
      proxy.cutAfter(() => random.between(0, 4000))
      await sleep(2000)
    })
  }),
  ...[
    ['submit', /runledger\.receive\(/],
    ['start', /runledger\.start\(/],
    ['complete', /runledger\.conclude_and_notify\(/],
    ['cancel', /runledger\.cancel\(/],
    ['take delivery', /get_job|locked_by/],
    ['finish job', /delete from .*jobs/],
    ['record delivery', /record_attempt/],
    ['renew', /renew_worker|register_worker/],
  ].map(([name, statement]) =>
    fault(`answer of a commit lost (${String(name)})`, async (scene: Scene) =>
      loseAnswers(everybody(scene), statement as RegExp),
    ),
  ),
  fault('database turns read-only', async ({ sql, random }) => {
    await sql`alter system set default_transaction_read_only = on`
    await sql`select pg_reload_conf()`
    await sleep(random.between(1000, 3000))
    await sql`alter system reset default_transaction_read_only`
    await sql`select pg_reload_conf()`
  }),
  fault('connection slots run out', async ({ sql, cluster, random }) => {
    const [limit] = await sql`
        select current_setting('max_connections')::integer - count(*)::integer as free
        from pg_stat_activity where backend_type = 'client backend'`
    const greedy = await openConnections(cluster.url('postgres'), Number(limit?.['free']))
    await sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where application_name in ('runledger web', 'runledger worker')`
    await sleep(random.between(1000, 3000))
    await greedy.close()
  }),
  fault('tables locked', async ({ sql, random }) => {
    const lock = (): Promise<unknown> =>
      sql.begin(async (transaction) => {
        await transaction`lock table runledger.result, runledger.pending in access exclusive mode`
        await sleep(random.between(500, 3000))
      })
    // PostgreSQL may pick this transaction, which waits for the second table, to end a deadlock with the service.
    for (let tries = 1; ; tries += 1) {
      try {
        await lock()
        return
      } catch (error) {
        if (tries === 5 || errorCode(error) !== '40P01') throw error
      }
    }
  }),
  fault('jobs vanish from the queue', async ({ sql, submitMany }) => {
    await submitMany(40)
    const rows = await sql`
        select graphile_worker.complete_jobs(array(
          select id from graphile_worker.jobs where task_identifier like 'execute%' or task_identifier = 'deliver' limit 5))`
    return rows.length
  }),
  fault('job rows are deleted by hand, locked or not', async ({ sql, submitMany }) => {
    await submitMany(40)
    const rows = await sql`
        delete from graphile_worker._private_jobs where id in (
          select id from graphile_worker.jobs
          where task_identifier like 'execute%' or task_identifier = 'deliver'
          order by locked_at nulls last limit 10
        ) returning id`
    return rows.length
  }),
  fault('job rows are added by hand for what has ended', async ({ sql }) => {
    const rows = await sql<{ id: string; task: string; key: string | null }[]>`
        select id, task, key
        from (select id from runledger.result order by id desc limit 5) ended
        cross join (values ('execute:python'), ('execute:java')) tasks (task)
        cross join lateral (values (null), (id::text)) keys (key)`
    // One by one, because several in a transaction can deadlock with workers that remove jobs.
    for (const { id, task, key } of rows)
      await sql`
          select graphile_worker.add_job(${task}, json_build_object('submission', ${id}::uuid), job_key => ${key})`
    return rows.length
  }),
  fault('jobs are unlocked while they run', async ({ sql }) => {
    const rows = await sql`
        select graphile_worker.force_unlock_workers(array(
          select distinct locked_by from graphile_worker.jobs where locked_by is not null))`
    return rows.length
  }),
  fault('jobs are locked by nobody', async ({ sql, submitMany }) => {
    await submitMany(40)
    const rows = await sql`
        update graphile_worker._private_jobs set locked_at = now() - interval '1 minute', locked_by = 'nobody'
        where locked_at is null returning id`
    return rows.length
  }),
  fault('jobs come twice', async ({ sql }) => {
    const rows = await sql`
        select graphile_worker.add_job('execute:python', json_build_object('submission', submission_id))
        from runledger.pending limit 5`
    return rows.length
  }),
  fault('jobs are poisoned', async ({ sql }) => {
    for (const payload of [
      '{"submission": 7}',
      'null',
      '[]',
      '{"submission": "00000000-0000-7000-8000-000000000000"}',
    ]) {
      await sql`select graphile_worker.add_job('execute:python', ${payload}::text::json)`
      await sql`select graphile_worker.add_job('deliver', ${payload}::text::json)`
    }
    return 8
  }),
  fault('projections of the unfinished are edited by hand', async ({ sql }) => {
    const rows = await sql`
        update runledger.pending set version = 0, language = 'java', runtime = 'none', created_at = now()
        where submission_id in (select submission_id from runledger.pending where attempts = 0 limit 4) returning submission_id`
    return rows.length
  }),
  fault(
    'projections are made anew while everything runs',
    async ({ sql }) => void (await rebuildProjections(sql)),
  ),
  fault('hundreds of submissions wait when the workers start', async (scene) => {
    for (const worker of scene.workers) {
      worker.kill('SIGKILL')
    }
    await scene.submitMany(200)
    for (const worker of scene.workers) worker.kill('SIGKILL')
    return 2 * scene.workers.length
  }),
  fault('a sandbox is killed', async (scene) => {
    let killed = 0
    for (let tries = 0; tries < 100 && killed === 0; tries += 1) {
      killed = killBoxes(scene)
      await sleep(20)
    }
    return killed
  }),

  ...hostFaults,
  ...serverFaults,
]
