// The doctor's findings on a worker's settings, its database and the web process's certificate; and that the command's last
// line and its exit status agree.
import { execFileSync, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { createDatabase } from '#database'
import { examineDatabase, examineSettings, examineTls } from '../../src/doctor/doctor.ts'
import { openTestDatabase } from '../helper/database.ts'
import { makeDirectory } from '../helper/directory.ts'

const { sql, url } = await openTestDatabase(t)

const none = (): string => {
  throw new Error('DATABASE_URL is not set')
}

t.test('a database that a worker can use', async (t) => {
  t.match(await examineDatabase(url, none), { level: 'ok', remedy: null })
  t.match(await examineDatabase(undefined, () => url), { level: 'ok' }, 'of make run')
})

t.test('without an address nothing is missing, as make run makes a database', async (t) => {
  const finding = await examineDatabase(undefined, none)
  t.match(finding, { level: 'warning', detail: 'DATABASE_URL is not set', remedy: /make run/ })
})

/** Creates a login with these roles. @returns its URL. */
async function createLogin(t: Test, roles: readonly string[]): Promise<string> {
  const name = `doctor_${process.pid}_${roles.join('_')}`
  await sql.unsafe(`create role ${name} login password 'hunter2' in role ${roles.join(', ')}`)
  t.teardown(() => sql.unsafe(`drop role ${name}`))
  const login = new URL(url)
  login.username = name
  login.password = 'hunter2'
  return login.href
}

t.test('a login without a worker’s rights, and one with them', async (t) => {
  const api = await examineDatabase(await createLogin(t, ['runledger_api']), none)
  t.match(api, { level: 'missing', detail: /may not call runledger\./, remedy: /deploy\.md/ })
  t.notMatch(api.detail, /hunter2/)
  const worker = await createLogin(t, ['runledger_worker', 'runledger_queue'])
  t.match(await examineDatabase(worker, none), { level: 'ok' })
})

t.test('a database that refuses, is away, or is older', async (t) => {
  const other = new URL(url)
  other.pathname = '/nowhere'
  const refused = await examineDatabase(other.href, none)
  t.match(refused, { level: 'missing', detail: /refuses this login: .* does not exist/ })
  const away = 'postgres://x:hunter2@127.0.0.1:1/x'
  const absent = await examineDatabase(away, none)
  t.match(absent, { level: 'missing', detail: /127\.0\.0\.1:1 cannot be reached/ })
  t.notMatch(absent.detail, /hunter2/)
  const kept = await examineDatabase(undefined, () => away)
  t.match(kept, { level: 'warning', remedy: 'make run' }, 'make run starts its own')

  const older = await openTestDatabase(t)
  const owner = createDatabase({ url: older.url, connections: 1, name: 'test' })
  t.teardown(() => owner.end())
  await owner`delete from runledger.schema_migration`
  const finding = await examineDatabase(older.url, none)
  t.match(finding, { level: 'missing', detail: /older/, remedy: 'make migrate' })

  const newer = await openTestDatabase(t)
  await newer.sql`insert into runledger.schema_migration (name, sha256) values ('999999-last.sql', '')`
  t.match(await examineDatabase(newer.url, none), { level: 'ok' })
  await newer.sql.unsafe(`
    create or replace function runledger.oldest_release() returns text language sql immutable as $$ select '99.10.0' $$`)
  const beyond = await examineDatabase(newer.url, none)
  t.match(beyond, {
    level: 'missing',
    detail: /does not know 999999-last\.sql/,
    remedy: 'a newer release',
  })
})

t.test('a worker’s variables', async (t) => {
  t.match(examineSettings({}), { level: 'ok' }, 'what is not set has a default')
  t.match(examineSettings({ DATABASE_URL: '' }), { level: 'ok' }, 'empty is not set')
  t.match(examineSettings({ SLOTS: 'many', DATABASE_URL: 'mysql://x' }), {
    level: 'missing',
    detail: /^DATABASE_URL: must start with postgres:\/\/; SLOTS: must be a whole number$/,
  })
  t.match(examineSettings({ WEBHOOK_CA: '/nonexistent' }), { detail: /WEBHOOK_CA: ENOENT/ })
})

t.test('the certificate and its key', async (t) => {
  const directory = makeDirectory(t, 0o755)
  const make = (name: string): { cert: string; key: string } => {
    const [cert, key] = [join(directory, `${name}.crt`), join(directory, `${name}.key`)]
    const words = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 90 -subj /CN=localhost`
    execFileSync('openssl', [...words.split(' '), '-keyout', key, '-out', cert], {
      stdio: 'ignore',
    })
    return { cert, key }
  }
  const [one, other] = [make('one'), make('other')]
  const inDays = (days: number): number => Date.now() + days * 86_400_000
  t.strictSame(examineTls(), [], 'none is needed')
  t.match(examineTls(one.cert, one.key), [{ level: 'ok', detail: /is valid until 20/ }])
  t.match(examineTls(one.cert, one.key, inDays(80)), [{ level: 'warning', detail: /until/ }])
  t.match(examineTls(one.cert, one.key, inDays(91)), [{ level: 'warning', detail: /expired/ }])
  t.match(examineTls(one.cert, other.key), [{ level: 'warning', detail: /key values mismatch/ }])
  t.match(examineTls(one.cert, '/nonexistent'), [{ level: 'warning', detail: /ENOENT/ }])
  t.match(examineTls(one.cert), [{ level: 'warning', detail: /only one of TLS_CERT and TLS_KEY/ }])
})

t.test('the command’s last line and its status agree', async (t) => {
  const run = (environment: NodeJS.ProcessEnv): { last: string | undefined; status: unknown } => {
    const { stdout, status } = spawnSync('node', ['src/cli/cli.ts', 'doctor'], {
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], LANGUAGES: 'bash', ...environment },
    })
    return { last: stdout.trimEnd().split('\n').at(-1), status }
  }
  const cache = { CACHE_DIRECTORY: makeDirectory(t, 0o755) }
  t.strictSame(run({ ...cache, DATABASE_URL: url }), { last: 'A worker starts here.', status: 0 })
  const broken = run({ ...cache, DATABASE_URL: url, SLOTS: '0' })
  t.equal(broken.status, 1)
  t.equal(broken.last, 'No worker starts here: settings: SLOTS: must be at least 1')
})
