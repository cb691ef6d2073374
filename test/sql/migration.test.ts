// Releases may race, may be repeated, refuse an edited history, and work with a single database role.
import { cp, mkdtemp, rm, writeFile, appendFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { createDatabase } from '#database'
import type { Database } from '#database'
import { migrate } from '#migration'
import { openTestDatabase, startTestCluster, withDatabase } from '../helper/database.ts'
import { finish } from '../helper/execution.ts'
import { describeSchema } from '../helper/schema.ts'
import { createCaller, describeSubmission, submitNew } from '../helper/submission.ts'

const { sql, url } = await openTestDatabase(t)

/** Creates an empty database, which is dropped after the tests. */
async function createEmpty(name: string): Promise<{ url: string; sql: Database }> {
  const unique = `${name}_${process.pid}`
  await sql`create database ${sql(unique)}`
  const emptyUrl = withDatabase(url, unique)
  const pool = createDatabase({ url: emptyUrl, connections: 5, name: 'test', statementSeconds: 60 })
  t.teardown(async () => {
    await pool.end({ timeout: 2 })
    await sql`drop database ${sql(unique)} with (force)`
  })
  return { url: emptyUrl, sql: pool }
}

/** Copies sql/ to a folder that a test may change. @returns the folder. */
async function copySql(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'runledger-sql-'))
  t.teardown(() => rm(directory, { recursive: true }))
  await cp(new URL('../../sql', import.meta.url), directory, { recursive: true })
  return directory
}

t.test('five releases at once make one schema, and each migration is applied once', async (t) => {
  const empty = await createEmpty('race')
  const releases = await Promise.all(
    Array.from({ length: 5 }, async () => {
      const pool = createDatabase({
        url: empty.url,
        connections: 1,
        name: 'release',
        statementSeconds: 0,
      })
      const migrated = await migrate(pool, empty.url)
      await pool.end()
      return migrated
    }),
  )
  const applied = releases.flatMap((release) => release.applied)
  t.ok(applied.length >= 1)
  t.equal(new Set(applied).size, applied.length, 'none twice')
  t.equal(releases.filter((release) => release.applied.length > 0).length, 1)
  t.equal(await describeSchema(empty.sql), await describeSchema(sql))
})

t.test('a release repeated changes nothing', async (t) => {
  const before = await describeSchema(sql)
  t.match(await migrate(sql, url), { applied: [], oneRole: false })
  t.equal(await describeSchema(sql), before)
})

t.test('a landed migration that was edited is refused, and nothing is changed', async (t) => {
  const directory = await copySql()
  await appendFile(`${directory}/migrations/000001-initial.sql`, '-- a word\n')
  await writeFile(`${directory}/migrations/999999-more.sql`, 'create table runledger.more ()')
  await t.rejects(migrate(sql, url, directory), {
    name: 'MigrationError',
    message: /000001-initial\.sql was edited after it was applied/,
  })
  const [more] = await sql`select to_regclass('runledger.more') as more`
  t.equal(more?.['more'], null)
})

t.test('a landed migration that is gone is refused', async (t) => {
  const directory = await copySql()
  await rm(`${directory}/migrations/000001-initial.sql`)
  await writeFile(`${directory}/migrations/000002-more.sql`, 'select 1')
  await t.rejects(migrate(sql, url, directory), {
    name: 'MigrationError',
    message: /000001-initial\.sql was removed/,
  })
})

t.test(
  'a database of before the first release is refused with the remedy, and left alone',
  async (t) => {
    const old = await createEmpty('old')
    await old.sql.unsafe(`
    create schema runledger;
    create table runledger.schema_migration (name text primary key, sha256 text not null, applied_at timestamptz);
    insert into runledger.schema_migration values ('000001-schemas.sql', '', now()), ('000038-true-comments.sql', '', now())`)
    await t.rejects(migrate(old.sql, old.url), {
      name: 'MigrationError',
      message: /made before the first release.*new database/,
    })
    const [left] = await old.sql`select to_regclass('runledger.event') as event`
    t.equal(left?.['event'], null)
  },
)

t.test('an older release may be run again over a newer schema', async (t) => {
  const directory = await copySql()
  await writeFile(
    `${directory}/migrations/999999-more.sql`,
    "create table runledger.more (); comment on table runledger.more is 'Expanded.'",
  )
  await writeFile(
    `${directory}/functions/redefined.sql`,
    `drop function if exists runledger.flush_log();
    create or replace function runledger.flush_log(more integer default 0) returns void language sql as '';
    comment on function runledger.flush_log is 'Takes more.'`,
  )
  const empty = await createEmpty('older')
  t.match((await migrate(empty.sql, empty.url, directory)).applied.at(-1), '999999-more.sql')
  t.strictSame((await migrate(empty.sql, empty.url)).applied, [])
  const [more] = await empty.sql`select to_regclass('runledger.more') is not null as there`
  t.equal(more?.['there'], true)
  await empty.sql`select runledger.flush_log()` // there is one function, which serves the older release's processes too
})

t.test('a migration that fails leaves nothing behind', async (t) => {
  const directory = await copySql()
  await writeFile(
    `${directory}/migrations/999999-more.sql`,
    'create table runledger.half (); select 1/0',
  )
  await t.rejects(migrate(sql, url, directory), { code: '22012' })
  const [left] = await sql`
    select to_regclass('runledger.half') as half,
      (select count(*) from runledger.schema_migration where name like '9%') as recorded`
  t.strictSame({ ...left }, { half: null, recorded: 0 })
})

t.test('a release by a member of the owner leaves everything to the owner', async (t) => {
  const [owner, release] = [`test_owner_${process.pid}`, `test_release_${process.pid}`]
  const empty = await createEmpty('owned')
  await sql.unsafe(`
    create role ${owner};
    create role ${release} login password 'secret' in role ${owner};
    alter role ${release} set role to ${owner}`)
  const [name] = await empty.sql`select current_database() as name`
  await sql`alter database ${sql(name?.['name'] as string)} owner to ${sql(owner)}`
  const login = new URL(empty.url)
  login.username = release
  login.password = 'secret'
  const pool = createDatabase({ url: login.href, connections: 1, name: 'release' })
  t.equal((await migrate(pool, login.href)).oneRole, false, 'others made the roles')
  await pool.end()
  const others = await empty.sql`
    select c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname in ('runledger', 'audit', 'job', 'graphile_worker')
      and pg_get_userbyid(c.relowner) <> ${owner}`
  t.strictSame([...others], [])
  t.equal(await describeSchema(empty.sql), await describeSchema(sql))
  await empty.sql`drop owned by ${sql(owner)}`
  await sql`alter database ${sql(name?.['name'] as string)} owner to postgres`
  await sql.unsafe(`drop role ${release}; drop role ${owner}`)
})

t.test('a role that owns its database and nothing else is enough', async (t) => {
  const cluster = await startTestCluster({ template: false })
  t.teardown(() => cluster.stop())
  const admin = createDatabase({ url: cluster.url, connections: 1, name: 'test admin' })
  await admin`create role platform login password 'platform' nosuperuser nocreaterole nocreatedb`
  await admin`create database platform owner platform`
  await admin.end()
  const platform = new URL(withDatabase(cluster.url, 'platform'))
  platform.username = 'platform'
  platform.password = 'platform'
  const own = createDatabase({
    url: platform.href,
    connections: 2,
    name: 'test',
    statementSeconds: 60,
  })
  t.teardown(() => own.end({ timeout: 1 }))

  t.equal((await migrate(own, platform.href)).oneRole, true)
  t.strictSame((await migrate(own, platform.href)).applied, [])
  const caller = await createCaller(own)
  const id = await submitNew(own, caller, describeSubmission({ code: 'print(1)' }))
  await finish(own, id, { stdout: '1\n' })
  t.match(
    [...(await own`select status, verdict from audit.submission`)],
    [{ status: 'completed', verdict: 'AC' }],
  )
  t.strictSame([...(await own`select * from audit.invariant`)], [])
  await t.rejects(
    own`delete from runledger.event`,
    { code: 'RL001' },
    'the log is append only all the same',
  )
  const [roles] = await own`select count(*) from pg_roles where rolname like 'runledger%'`
  t.equal(roles?.['count'], 0)
})

t.test('a reader who is in the way of new partitions delays nobody, and no release', async (t) => {
  const busy = await openTestDatabase(t)
  const reader = await busy.sql.reserve()
  await reader`begin`
  // The release may take longer than a transaction may be idle.
  await reader`set local idle_in_transaction_session_timeout = 0`
  await reader`select count(*) from runledger.event_default`
  await busy.sql`update runledger.partitioning set ahead = ahead + 2`
  await t.rejects(busy.sql`select runledger.make_partitions()`, { code: '55P03' })
  t.strictSame((await migrate(busy.sql, busy.url)).partitions, [])
  await reader`commit`
  reader.release()
  t.ok((await migrate(busy.sql, busy.url)).partitions.length >= 2)
})
