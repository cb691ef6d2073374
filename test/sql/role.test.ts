// The processes log in with roles that are members of the service's roles and nothing more. These minimal rights suffice.
import { execFile, spawn } from 'node:child_process'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import t from 'tap'
import { createDatabase } from '#database'
import { bareEnvironment } from '../helper/bare-environment.ts'
import { openTestDatabase } from '../helper/database.ts'
import { startExecution } from '../helper/execution.ts'
import { createCaller, describeSubmission, submitNew } from '../helper/submission.ts'
import { startWorkerProcess } from '../helper/worker.ts'

const root = resolve(import.meta.dirname, '../..')
const { sql, url } = await openTestDatabase(t)

/** Creates a login role that has the given roles' rights. @returns the database's address for it. */
async function createLogin(...roles: readonly string[]): Promise<string> {
  const name = `test_${process.pid}_${roles.join('_')}`
  await sql.unsafe(`create role ${name} login password 'secret' in role ${roles.join(', ')}`)
  t.teardown(() => sql.unsafe(`drop role ${name}`))
  const login = new URL(url)
  login.username = name
  login.password = 'secret'
  return login.href
}

const [webUrl, workerUrl, auditorUrl] = [
  await createLogin('runledger_api'),
  await createLogin('runledger_worker', 'runledger_queue'),
  await createLogin('runledger_auditor'),
]

t.test('web and worker serve a submission, each with its own rights alone', async (t) => {
  const { key } = await createCaller(sql)
  const worker = await startWorkerProcess(t, workerUrl)
  const web = spawn('node', ['src/server/server.ts'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...bareEnvironment, DATABASE_URL: webUrl, PORT: '0' },
  })
  t.teardown(() => web.kill('SIGKILL'))
  const logged: { level: string; msg: string; port?: number }[] = []
  const started = new Promise<number>((done) => {
    createInterface({ input: web.stdout }).on('line', (line) => {
      const entry = JSON.parse(line) as (typeof logged)[number]
      logged.push(entry)
      if (entry.msg === 'web.started' && entry.port !== undefined) done(entry.port)
    })
  })
  const call = async (path: string, body?: object): Promise<Response> => {
    for (;;) {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      // A busy machine may cause this answer. One for lack of a right says so.
      if (!(await answer.clone().text()).includes('cannot reach its database')) return answer
    }
  }
  const port = await started
  const answer = await call('/api/submit?wait=true', { language: 'python', code: 'print(6 * 7)' })
  t.equal(answer.status, 200)
  const record = (await answer.json()) as { id: string }
  t.match(record, { status: 'completed', verdict: 'AC', stdout: '42\n', purged_at: null })
  for (const path of [
    `/api/result/${record.id}`,
    `/api/result/${record.id}/events`,
    '/api/submissions',
    '/api/languages',
    '/readyz',
    '/metrics',
  ]) {
    t.equal((await call(path)).status, 200, path)
  }
  t.equal(
    (await call('/api/submit/batch', { submissions: [{ language: 'python', code: '' }] })).status,
    202,
  )
  // After an outage, and so at its start, a process sweeps only after five seconds.
  await sleep(7000)
  for (const asRole of [webUrl, workerUrl]) {
    const role = createDatabase({ url: asRole, connections: 1, name: 'test' })
    await role`select runledger.reconcile_queue()`
    await role`select runledger.check_ledger(1000)`
    await role.end()
  }
  t.strictSame(
    // A busy machine delays a sweep, which is no refusal.
    logged.filter(({ level, msg }) => level !== 'info' && msg !== 'sweep.delayed'),
    [],
    'nothing was refused to the web process',
  )
  const refused = [
    'queue.error',
    'sweep.failed',
    'ledger.check_failed',
    'retention.failed',
    'worker.lease_not_renewed',
    'queue.failed',
  ]
  t.strictSame(
    worker.logged.filter((message) => refused.includes(message)),
    [],
    'nor to the worker',
  )
  worker.child.kill('SIGTERM')
  t.strictSame(await worker.ended, [0, null])
  t.strictSame([...(await sql`select * from audit.invariant`)], [])
})

t.test('an auditor has a life told and the log verified with his own rights', async (t) => {
  const [submission] = await sql`select id from audit.submission limit 1`
  const environment = { ...bareEnvironment, DATABASE_URL: auditorUrl }
  for (const id of [String(submission?.['id']), 'verify']) {
    const { stdout } = await promisify(execFile)('node', ['src/cli/cli.ts', 'audit', id], {
      cwd: root,
      env: environment,
    })
    t.match(stdout, /every hash fits|hashes of its \d events fit/)
  }
  const auditor = createDatabase({ url: auditorUrl, connections: 1, name: 'test' })
  t.teardown(() => auditor.end({ timeout: 1 }))
  await t.rejects(auditor`select * from runledger.event`, { code: '42501' })
})

t.test('a worker reads code only by starting it', async (t) => {
  const worker = createDatabase({ url: workerUrl, connections: 1, name: 'test' })
  t.teardown(() => worker.end({ timeout: 1 }))
  await t.rejects(worker`select * from runledger.body`, { code: '42501' })
})

t.test('nobody becomes the owner by types of his own', async (t) => {
  const id = await submitNew(sql, await createCaller(sql), describeSubmission({ code: '' }))
  await startExecution(sql, id)
  for (const login of [auditorUrl, webUrl, workerUrl]) {
    const role = createDatabase({ url: login, connections: 1, name: 'test' })
    await role.unsafe(`
      create temporary table seen (name pg_catalog.name);
      grant all on seen to public;
      create function pg_temp.note(anyelement) returns bool language plpgsql as
        'begin insert into pg_temp.seen values (current_user); return true; end'`)
    for (const type of ['uuid', 'text', 'jsonb', 'timestamptz', 'bytea', 'regclass', 'name'])
      await role.unsafe(
        `create domain pg_temp.${type} as pg_catalog.${type} check (pg_temp.note(value))`,
      )
    const statement =
      login === auditorUrl
        ? 'select * from audit.overview'
        : login === webUrl
          ? 'select runledger.read_overview()'
          : 'select runledger.sweep_workers()'
    await role.unsafe(statement).catch(() => {})
    t.strictSame([...(await role.unsafe('select * from pg_temp.seen'))], [], statement)
    await role.end()
  }
})
