// What src/job/queue/graphile-inside.ts and some SQL functions take for granted of graphile-worker and pg, held against
// the versions that are installed. Red after an upgrade: read that file, and docs/decisions/0002 for what each is worth.
import { readFileSync, readdirSync } from 'node:fs'
import { Socket } from 'node:net'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { run, Logger } from 'graphile-worker'
import { Pool } from 'pg'
import type { PoolClient } from 'pg'
import t from 'tap'
import metadata from '#package' with { type: 'json' }
import {
  asksForJob,
  giveBackOnce,
  ignoreListening,
  listenAlso,
  readAnnouncement,
  throwWithCode,
} from '../../../src/job/queue/graphile-inside.ts'
import { createTestDatabase } from '../../helper/database.ts'

const { sql, url, drop } = await createTestDatabase()
t.teardown(drop)
const root = resolve(import.meta.dirname, '../../..')
const quiet = new Logger(() => () => {})

interface Statement {
  readonly name?: string
  readonly text: string
  readonly values?: unknown[]
}

t.test('the versions are the ones that were read', (t) => {
  const installed = (name: string): unknown => {
    const text = readFileSync(`${root}/node_modules/${name}/package.json`, 'utf8')
    return (JSON.parse(text) as { version: unknown }).version
  }
  for (const [name, version] of [
    ['graphile-worker', '0.18.0'],
    ['pg', '8.23.1'],
  ] as const) {
    t.equal(metadata.dependencies[name], version, 'no range')
    t.equal(installed(name), version)
  }
  t.end()
})

t.test('only the functions that say so name a private table', async (t) => {
  const naming = readdirSync(`${root}/sql`, { recursive: true, encoding: 'utf8' })
    .filter((name) => /^(functions|views|audit)\/.*\.sql$/.test(name))
    .filter((name) => readFileSync(`${root}/sql/${name}`, 'utf8').includes('_private_'))
  t.strictSame(naming.toSorted(), [
    'functions/queue/displace-low.sql',
    'functions/queue/enqueue-first.sql',
    'functions/queue/find-task.sql',
    'functions/queue/lock-jobs.sql',
    'functions/queue/remove-execute.sql',
    'functions/queue/take-jobs.sql',
  ])
})

t.test('the private tables have the columns and indexes that they had', async (t) => {
  const readColumns = async (table: string): Promise<string[]> => {
    const rows = await sql`
      select column_name || ' ' || data_type as known from information_schema.columns
      where table_schema = 'graphile_worker' and table_name = ${table} order by ordinal_position`
    return rows.map(({ known }) => known as string)
  }
  t.strictSame(await readColumns('_private_tasks'), ['id integer', 'identifier text'])
  t.strictSame(await readColumns('_private_jobs'), [
    'id bigint',
    'job_queue_id integer',
    'task_id integer',
    'payload json',
    'priority smallint',
    'run_at timestamp with time zone',
    'attempts smallint',
    'max_attempts smallint',
    'last_error text',
    'created_at timestamp with time zone',
    'updated_at timestamp with time zone',
    'key text',
    'locked_at timestamp with time zone',
    'locked_by text',
    'revision integer',
    'flags jsonb',
    'is_available boolean',
  ])
  const indexes = await sql`
    select indexname || substring(indexdef from ' USING .*') as known from pg_indexes
    where schemaname = 'graphile_worker' and tablename = '_private_jobs' order by indexname`
  t.strictSame(
    indexes.map(({ known }) => known as string),
    [
      'jobs_key_key1 USING btree (key)',
      'jobs_main_index USING btree (priority, run_at) INCLUDE (id, task_id, job_queue_id) WHERE (is_available = true)',
      'jobs_no_queue_index USING btree (priority, run_at) INCLUDE (id, task_id) WHERE ((is_available = true) AND (job_queue_id IS NULL))',
      'jobs_pkey1 USING btree (id)',
      'runledger_by_task USING btree (task_id, priority, run_at) WHERE is_available',
    ],
  )
})

/** True for the statement that removes the job by its id. */
function removes({ text, values }: Statement): boolean {
  return /delete from .*_private_jobs/.test(text) && String(values) === '7'
}

t.test(
  'a job is asked for by a statement of this name, and what is answered is run and removed',
  async (t) => {
    const pool = new Pool({ connectionString: url, max: 3 })
    const statements: Statement[] = []
    const listens = Promise.withResolvers<void>()
    const [task] = await sql`
    insert into graphile_worker._private_tasks (identifier) values ('test') returning id`
    let rows: object[] = [{ id: '7', task_id: task?.['id'] as number, payload: { of: 'ours' } }]
    pool.on('connect', (client) => {
      const query = client.query.bind(client) as (...parameters: unknown[]) => Promise<unknown>
      client.query = ((statement: unknown, ...rest: unknown[]) => {
        if (typeof statement === 'string') {
          if (statement.startsWith('LISTEN "jobs:insert"')) listens.resolve()
        } else statements.push(statement as Statement)
        if (removes(statement as Statement)) removed.resolve()
        if (!asksForJob(statement)) return query(statement, ...rest)
        const answer = { rows }
        rows = []
        return Promise.resolve(answer)
      }) as PoolClient['query']
    })
    const ran = Promise.withResolvers<unknown>()
    const removed = Promise.withResolvers<void>()
    const runner = await run({
      pgPool: pool,
      noHandleSignals: true,
      logger: quiet,
      concurrency: 1,
      taskList: { test: (payload) => ran.resolve(payload) },
    })
    t.strictSame(await ran.promise, { of: 'ours' })
    // It stops without waiting for its last statement. Were that another one, the test would wait in vain.
    await removed.promise
    // It begins to listen beside its first job. Did it not, the test would wait in vain.
    await listens.promise
    await runner.stop()
    while (pool.idleCount < pool.totalCount) await sleep(10)
    await pool.end()

    const asking = statements.filter((statement) => asksForJob(statement))
    t.ok(asking.length > 0)
    for (const { name, text } of asking) {
      t.equal(name, 'get_job/graphile_worker')
      t.match(text, /for update\s+skip locked[^]*update .*_private_jobs[^]*returning \*/)
    }
    for (const { text } of statements.filter((statement) => !asksForJob(statement)))
      t.notMatch(text, /skip locked/, 'nothing else hands out a job')
  },
)

t.test('who ignores listening is told nothing, and everything else is asked', async (t) => {
  const pool = new Pool({ connectionString: url, max: 1 })
  const client = await pool.connect()
  let told = 0
  client.on('notification', () => (told += 1))
  ignoreListening(client)
  await client.query('LISTEN "jobs:insert"; LISTEN "worker:migrate";')
  t.strictSame((await client.query('select pg_listening_channels()')).rows, [])
  await client.query(`select pg_notify('jobs:insert', '')`)
  await client.query('select 1')
  t.equal(told, 0)
  client.release()
  await pool.end()
})

t.test('further channels are listened to with the ones that were asked for', async (t) => {
  const pool = new Pool({ connectionString: url, max: 1 })
  const client = await pool.connect()
  const told = new Promise((resolve) => client.on('notification', resolve))
  let isListening = false
  listenAlso(client, ['one_more', 'and_another'], () => (isListening = true))
  await client.query('select 1')
  t.equal(isListening, false)
  await client.query('LISTEN "jobs:insert"; LISTEN "worker:migrate";')
  t.equal(isListening, true)
  t.strictSame((await client.query('select pg_listening_channels() as name')).rows, [
    { name: 'jobs:insert' },
    { name: 'worker:migrate' },
    { name: 'one_more' },
    { name: 'and_another' },
  ])
  await client.query(`select pg_notify('one_more', 'x')`)
  t.match(await told, { channel: 'one_more', payload: 'x' })
  client.release(true)
  await pool.end()
})

t.test('jobs are announced on this channel with this count, by add_job as by us', async (t) => {
  const told: ReturnType<typeof readAnnouncement>[] = []
  const { unlisten } = await sql.listen('jobs:insert', (payload) =>
    told.push(readAnnouncement(payload)),
  )
  await sql`select graphile_worker.add_job('a task')`
  await sql`select job.wake_workers(3)`
  while (told.length < 2) await sleep(10)
  t.strictSame(told, [
    { task: undefined, count: 1 },
    { task: 'execute', count: 3 },
  ])
  await unlisten()
  for (const anything of ['', '7', 'null', '{"count": "many"}', '{"count": -1}'])
    t.notOk(readAnnouncement(anything).count, anything)
})

t.test('a row that we write is the one that add_job writes', async (t) => {
  const id = '00000000-0000-7000-8000-000000000001'
  const read = async (): Promise<object> => {
    const [row] = await sql`
      select to_jsonb(j) - '{id,run_at,created_at,updated_at}'::text[] as job
      from graphile_worker._private_jobs j where key = ${id}`
    return { ...row }
  }
  await sql`
    select graphile_worker.add_job('execute:python', json_build_object('submission', ${id}::text, 'language', 'python'), job_key => ${id})`
  const theirs = await read()
  await sql`select graphile_worker.remove_job(${id})`
  await sql`select job.enqueue_first(array[row(${id}, 'python', false, null, null, null, null)::job.place])`
  t.strictSame(await read(), theirs)
})

t.test('a connection that is given back twice ends nothing', async (t) => {
  const pool = new Pool({ connectionString: url, max: 1 })
  const bare = await pool.connect()
  bare.release()
  t.throws(() => bare.release(), 'pg itself throws')
  const client = await pool.connect()
  const release = giveBackOnce((because) => client.release(because))
  release()
  t.doesNotThrow(() => release())
  giveBackOnce(undefined)()
  await pool.end()
})

t.test('what pg says in words alone of a connection that is gone has a code', async (t) => {
  let socket = new Socket()
  const stream = (): Socket => (socket = new Socket())
  const pool = new Pool({ connectionString: url, max: 1, connectionTimeoutMillis: 2000, stream })
  pool.on('error', () => {})
  const client = await pool.connect()
  client.on('error', () => {})
  const fail = async (work: Promise<unknown>): Promise<Error & { code?: string }> =>
    work.then(
      () => new Error('it did not fail'),
      (error: unknown) => error as Error,
    )
  const check = async (words: RegExp, work: Promise<unknown>): Promise<void> => {
    const error = await fail(work)
    t.match(error.message, words)
    t.notOk('code' in error, 'pg gives none')
    t.throws(() => throwWithCode(error), { code: 'ECONNRESET' })
  }
  await check(/^timeout exceeded when trying to connect/, pool.connect())
  const broken = check(/^Connection terminated/, client.query('select pg_sleep(60)'))
  socket.destroy()
  await broken
  await check(/^Client has encountered a connection error/, client.query('select 1'))
  client.release(true)
  const closed = new Pool({ connectionString: url, max: 1 })
  const last = await closed.connect()
  last.release(true)
  await check(/^Client was closed/, last.query('select 1'))
  await Promise.all([pool.end(), closed.end()])
  const other = new Error('syntax')
  t.throws(() => throwWithCode(other), other)
  t.notOk('code' in other)
})

t.test('thousands that a worker cannot run are passed by with an index', async (t) => {
  await sql`
    insert into graphile_worker._private_jobs (task_id, payload)
    select 99, '{}' from generate_series(1, 5000)`
  await sql`analyze graphile_worker._private_jobs`
  const plan = await sql`
    explain select j.id from graphile_worker._private_jobs j
    where j.task_id = 98 and j.is_available and (j.priority, j.run_at) >= (0, '-infinity') and j.run_at <= now()
    order by j.priority, j.run_at limit 1`
  t.match(JSON.stringify(plan), /Index Scan using runledger_by_task/)
  await sql`delete from graphile_worker._private_jobs`
})
