// The release makes the roles of each process on a server that has none, and may be repeated.
import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import t from 'tap'
import { createDatabase } from '#database'
import { bareEnvironment } from '../helper/bare-environment.ts'
import { startTestCluster, withDatabase } from '../helper/database.ts'

const cluster = await startTestCluster({ template: false })
t.teardown(() => cluster.stop())

/** Returns the address of the database `made` for a login. */
function addressOf(login: string, password: string): string {
  const address = new URL(withDatabase(cluster.url, 'made'))
  address.username = login
  address.password = password
  return address.href
}

const release = (
  more: Readonly<Record<string, string>>,
): Promise<{ status: number; out: string }> =>
  new Promise((done) => {
    const env = {
      ...bareEnvironment,
      DATABASE_URL: addressOf('release', "o'er"),
      ADMIN_DATABASE_URL: cluster.url,
      WORKER_PASSWORD: 'work',
      ...more,
    }
    const options = { cwd: resolve(import.meta.dirname, '../..'), env }
    execFile(process.execPath, ['src/migration/migrate.ts'], options, (error, out, err) =>
      done({ status: error === null ? 0 : Number(error.code), out: out + err }),
    )
  })

/** Runs a statement. @returns null, or the error's code. */
async function attempt(url: string, statement: string): Promise<string | null> {
  const sql = createDatabase({ url, connections: 1, name: 'test' })
  try {
    await sql.unsafe(statement)
    return null
  } catch (error) {
    return (error as { code: string }).code
  } finally {
    await sql.end({ timeout: 1 })
  }
}

t.test('each process has a login with its own rights alone', async (t) => {
  t.match(await release({ WEB_PASSWORD: 'first' }), { status: 0, out: /database\.roles_made/ })
  const again = await release({ WEB_PASSWORD: 'second' })
  t.match(again, { status: 0, out: /"applied":\[\]/ }, 'it may be repeated')
  t.notMatch(again.out, /o'er|second|"work"/)
  const web = addressOf('web', 'second')
  t.equal(await attempt(addressOf('web', 'first'), 'select'), '28P01', 'passwords are set anew')
  const worker = addressOf('worker', 'work')
  const cases = [
    [web, 'select from runledger.event', null],
    [web, 'select digest from runledger.api_key', '42501'],
    [web, 'select url from runledger.delivery', '42501'],
    [web, 'delete from runledger.event', '42501'],
    [web, 'create table runledger.mine ()', '42501'],
    [web, 'select from graphile_worker._private_jobs', '42501'],
    [worker, 'select from graphile_worker._private_jobs', null],
    [worker, 'select from runledger.event', '42501'],
    [worker, 'set role runledger_owner', '42501'],
    [addressOf('release', "o'er"), 'select digest from runledger.api_key', null],
  ] as const
  for (const [url, statement, code] of cases)
    t.equal(await attempt(url, statement), code, `${new URL(url).username}: ${statement}`)
  const admin = createDatabase({
    url: withDatabase(cluster.url, 'made'),
    connections: 1,
    name: 'test',
  })
  const owners = await admin`
    select distinct tableowner from pg_tables where schemaname in ('runledger', 'graphile_worker')`
  await admin.end()
  t.strictSame([...owners], [{ tableowner: 'runledger_owner' }])
})

t.test('a release that has no login of its own is refused', async (t) => {
  for (const url of [cluster.url, addressOf('release', ''), 'postgres://release:x@localhost'])
    t.match(await release({ DATABASE_URL: url }), {
      status: 78,
      out: /DATABASE_URL: with ADMIN_DATABASE_URL set, it must name another user/,
    })
})
