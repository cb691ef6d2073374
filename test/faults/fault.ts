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
  killBoxes,
  killUntilGivenUp,
  loseAnswers,
  openConnections,
  restart,
  stop,
  struck,
} from './strike.ts'
import type { Scene } from './strike.ts'

export interface Fault {
  readonly name: string
  /** @returns the number of faults that took effect; 1 when it returns nothing. */
  readonly strike: (scene: Scene) => Promise<number | void>
}

/** Waits until all workers can take over from each other, also from the worker that was killed last. */
const untilReady = async ({ workers }: Scene): Promise<unknown> =>
  Promise.all(workers.map((worker) => worker.ready()))

export const faults: readonly Fault[] = [
  {
    name: 'worker killed',
    async strike(scene) {
      await untilReady(scene)
      await scene.lose(scene.random.pick(scene.workers), 'SIGKILL', 'killed')
    },
  },
  {
    name: 'all workers killed',
    async strike(scene) {
      await untilReady(scene)
      await Promise.all(scene.workers.map((worker) => scene.lose(worker, 'SIGKILL', 'alone')))
      return scene.workers.length
    },
  },
  { name: 'a run loses its worker until it is given up', strike: killUntilGivenUp },
  {
    name: 'worker frozen past its lease, then woken',
    async strike(scene) {
      const worker = scene.random.pick(scene.workers)
      await scene.lose(worker, 'SIGSTOP', 'frozen')
      await sleep(scene.leaseSeconds * 1000 + 2500)
      worker.kill('SIGCONT')
    },
  },
  {
    name: 'worker frozen for a moment',
    async strike({ random, workers, leaseSeconds }) {
      const worker = random.pick(workers)
      worker.kill('SIGSTOP')
      await sleep((leaseSeconds * 1000) / 2)
      worker.kill('SIGCONT')
    },
  },
  { name: 'worker told to stop', strike: (scene) => stop(scene, scene.workers, 1) },
  { name: 'worker told to stop twice', strike: (scene) => stop(scene, scene.workers, 2) },
  { name: 'web told to stop', strike: (scene) => stop(scene, scene.webs, 1) },
  { name: 'web killed', strike: async ({ random, webs }) => random.pick(webs).kill('SIGKILL') },
  {
    name: 'web frozen for a moment',
    async strike({ random, webs }) {
      const web = random.pick(webs)
      web.kill('SIGSTOP')
      await sleep(random.between(500, 4000))
      web.kill('SIGCONT')
    },
  },
  {
    name: 'everything killed at once',
    async strike(scene) {
      for (const service of everybody(scene)) service.kill('SIGKILL')
      return everybody(scene).length
    },
  },
  ...failpoints.map((point) => ({
    name: `killed at ${point}`,
    strike: (scene: Scene) => crash(scene, point),
  })),

  {
    name: 'PostgreSQL crashes (immediate shutdown)',
    strike: (scene) => restart(scene, 'immediate'),
  },
  { name: 'PostgreSQL restarts (fast shutdown)', strike: (scene) => restart(scene, 'fast') },
  {
    name: 'a backend of PostgreSQL is killed, and it recovers',
    async strike({ sql, random }) {
      const backends = await sql`
        select pid from pg_stat_activity where application_name like 'runledger %'`
      process.kill(Number(random.pick(backends)['pid']), 'SIGKILL')
    },
  },
  ...['lease', 'queue', 'worker', 'web', '%'].map((kind) => ({
    name: `connections terminated (${kind === '%' ? 'all' : kind})`,
    strike: async ({ sql }: Scene) => {
      const rows = await sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where application_name like ${`runledger ${kind}`}`
      return rows.length
    },
  })),
  { name: 'database refuses connections', strike: (scene) => cutOff(scene, everybody(scene), 'refuse') }, // prettier-ignore
  { name: 'database answers nothing', strike: (scene) => cutOff(scene, everybody(scene), 'hold') },
  { name: 'connections are hung up on at once', strike: (scene) => cutOff(scene, everybody(scene), 'hang_up') }, // prettier-ignore
  {
    name: 'one worker is cut off',
    strike: (scene) =>
      cutOff(scene, [scene.random.pick(scene.workers)], scene.random.pick(['refuse', 'hold'])),
  },
  {
    name: 'one web is cut off',
    strike: (scene) =>
      cutOff(scene, [scene.random.pick(scene.webs)], scene.random.pick(['refuse', 'hold'])),
  },
  ...['lease', 'queue', 'worker', 'web'].map((kind) => ({
    name: `connections go silent for good (${kind})`,
    strike: async (scene: Scene) =>
      struck(everybody(scene), async ({ proxy }) =>
        proxy.silence(new RegExp(`^runledger ${kind}$`)),
      ),
  })),
  {
    name: 'connections that only listen go silent for good',
    strike: async (scene) =>
      struck(everybody(scene), async ({ proxy }) => proxy.silence(/./, { listening: true })),
  },
  {
    name: 'every answer comes late',
    async strike(scene) {
      for (const { proxy } of everybody(scene)) proxy.delay(200)
      await sleep(4000)
      for (const { proxy } of everybody(scene)) proxy.delay(0)
    },
  },
  {
    name: 'connections break in the middle of a message',
    async strike(scene) {
      const { random } = scene
      return struck(everybody(scene), async ({ proxy }) => {
        proxy.cutAfter(() => random.between(0, 4000))
        await sleep(2000)
      })
    },
  },
  ...[
    ['submit', /runledger\.receive\(/],
    ['start', /runledger\.start\(/],
    ['complete', /runledger\.conclude\(/],
    ['cancel', /runledger\.cancel\(/],
    ['take delivery', /get_job|locked_by/],
    ['finish job', /delete from .*jobs/],
    ['record delivery', /record_attempt/],
    ['renew', /renew_worker|register_worker/],
  ].map(([name, statement]) => ({
    name: `answer of a commit lost (${String(name)})`,
    strike: async (scene: Scene) => loseAnswers(everybody(scene), statement as RegExp),
  })),
  {
    name: 'database turns read-only',
    async strike({ sql, random }) {
      await sql`alter system set default_transaction_read_only = on`
      await sql`select pg_reload_conf()`
      await sleep(random.between(1000, 3000))
      await sql`alter system reset default_transaction_read_only`
      await sql`select pg_reload_conf()`
    },
  },
  {
    name: 'connection slots run out',
    async strike({ sql, cluster, random }) {
      const [limit] = await sql`
        select current_setting('max_connections')::integer - count(*)::integer as free
        from pg_stat_activity where backend_type = 'client backend'`
      const greedy = await openConnections(cluster.url('postgres'), Number(limit?.['free']))
      await sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where application_name in ('runledger web', 'runledger worker')`
      await sleep(random.between(1000, 3000))
      await greedy.close()
    },
  },
  {
    name: 'tables locked',
    async strike({ sql, random }) {
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
    },
  },
  {
    name: 'jobs vanish from the queue',
    async strike({ sql, submitMany }) {
      await submitMany(40)
      const rows = await sql`
        select graphile_worker.complete_jobs(array(
          select id from graphile_worker.jobs where task_identifier like 'execute%' or task_identifier = 'deliver' limit 5))`
      return rows.length
    },
  },
  {
    name: 'job rows are deleted by hand, locked or not',
    async strike({ sql, submitMany }) {
      await submitMany(40)
      const rows = await sql`
        delete from graphile_worker._private_jobs where id in (
          select id from graphile_worker.jobs
          where task_identifier like 'execute%' or task_identifier = 'deliver'
          order by locked_at nulls last limit 10
        ) returning id`
      return rows.length
    },
  },
  {
    name: 'job rows are added by hand for what has ended',
    async strike({ sql }) {
      const rows = await sql`
        select graphile_worker.add_job(task, json_build_object('submission', submission_id), job_key => key)
        from (select id as submission_id from runledger.result order by id desc limit 5) ended
        cross join (values ('execute:python'), ('execute:java')) tasks (task)
        cross join lateral (values (null), (submission_id::text)) keys (key)`
      return rows.length
    },
  },
  {
    name: 'jobs are unlocked while they run',
    async strike({ sql }) {
      const rows = await sql`
        select graphile_worker.force_unlock_workers(array(
          select distinct locked_by from graphile_worker.jobs where locked_by is not null))`
      return rows.length
    },
  },
  {
    name: 'jobs are locked by nobody',
    async strike({ sql, submitMany }) {
      await submitMany(40)
      const rows = await sql`
        update graphile_worker._private_jobs set locked_at = now() - interval '1 minute', locked_by = 'nobody'
        where locked_at is null returning id`
      return rows.length
    },
  },
  {
    name: 'jobs come twice',
    async strike({ sql }) {
      const rows = await sql`
        select graphile_worker.add_job('execute:python', json_build_object('submission', submission_id))
        from runledger.pending limit 5`
      return rows.length
    },
  },
  {
    name: 'jobs are poisoned',
    async strike({ sql }) {
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
    },
  },
  {
    name: 'projections of the unfinished are edited by hand',
    async strike({ sql }) {
      const rows = await sql`
        update runledger.pending set version = 0, language = 'java', runtime = 'none', created_at = now()
        where submission_id in (select submission_id from runledger.pending where attempts = 0 limit 4) returning submission_id`
      return rows.length
    },
  },
  {
    name: 'projections are made anew while everything runs',
    strike: async ({ sql }) => void (await rebuildProjections(sql)),
  },
  {
    name: 'hundreds of submissions wait when the workers start',
    async strike(scene) {
      for (const worker of scene.workers) {
        worker.kill('SIGKILL')
      }
      await scene.submitMany(200)
      for (const worker of scene.workers) worker.kill('SIGKILL')
      return 2 * scene.workers.length
    },
  },
  {
    name: 'a sandbox is killed',
    async strike(scene) {
      let killed = 0
      for (let tries = 0; tries < 100 && killed === 0; tries += 1) {
        killed = killBoxes(scene)
        await sleep(20)
      }
      return killed
    },
  },

  ...hostFaults,
  ...serverFaults,
]
