// Makes a database for each test file from a template that is migrated once in a test run.
import { randomBytes } from 'node:crypto'
import { constants, existsSync } from 'node:fs'
import { access, glob, mkdtemp, readFile, rm, stat, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { createDatabase, surviveLostConnections } from '#database'
import type { Database } from '#database'
import { startEmbeddedPostgres } from '#embedded-postgres'
import type { EmbeddedPostgres } from '#embedded-postgres'
import { migrate } from '#migration'

const template = 'runledger_template'

const prefix = 'runledger-test-'

/** The databases of the files that run at once, and the write-ahead log, are some 600 MB. */
const roomBytes = 2 * 1024 ** 3

surviveLostConnections(() => {}) // as src/server/server.ts and src/worker/worker.ts do, because tests take databases away

/** A running server with a migrated template. */
export interface TestCluster {
  /** The address of its maintenance database. */
  readonly url: string
  stop(): Promise<void>
}

/** A database that only one test file uses. */
export interface TestDatabase {
  readonly url: string
  readonly sql: Database
  /** Ends the pool and drops the database. A server that was started for this file only is stopped too. */
  readonly drop: () => Promise<void>
}

/**
 * Starts a PostgreSQL in a temporary directory and migrates the template.
 * @param options.template false: nothing is migrated, so that the cluster has none of the service's roles.
 */
export async function startTestCluster({ template: migrated = true } = {}): Promise<TestCluster> {
  const directory = await mkdtemp(join(await findFastDirectory(), prefix))
  const server: EmbeddedPostgres = await startEmbeddedPostgres({
    directory,
    port: 0,
    // No data is needed after the run, so no write has to reach the disk.
    settings: {
      fsync: 'off',
      full_page_writes: 'off',
      max_connections: '200',
      max_wal_size: '256MB',
    },
  })
  const url = server.url('postgres')
  if (migrated) {
    await query(url, (sql) => sql`create database ${sql(template)}`)
    const templateUrl = withDatabase(url, template)
    await query(templateUrl, (sql) => migrate(sql, templateUrl))
  }
  return {
    url,
    async stop() {
      await server.stop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

/** Returns a directory in memory if there is room, because a new database is more than a thousand new files. */
async function findFastDirectory(): Promise<string> {
  const memory = '/dev/shm'
  try {
    await access(memory, constants.W_OK)
    // Another run may remove it, too.
    for await (const left of glob(`${memory}/${prefix}*`)) await removeIfLeft(left).catch(() => {})
    const { bavail, bsize } = await statfs(memory)
    return bavail * bsize >= roomBytes ? memory : tmpdir()
  } catch {
    return tmpdir()
  }
}

/** Removes the directory of a server that was killed, or whose run was. */
async function removeIfLeft(directory: string): Promise<void> {
  // A server that is being made has no process for moments.
  const { mtimeMs } = await stat(directory)
  if (Date.now() - mtimeMs < 600_000) return
  const file = await readFile(join(directory, 'data/postmaster.pid'), 'utf8').catch(() => '')
  const pid = Math.abs(Number.parseInt(file, 10))
  if (!existsSync(`/proc/${pid}`)) await rm(directory, { recursive: true, force: true })
}

/**
 * Creates a fresh database. Under test/run.ts all test files share a server; a test file that runs alone starts one.
 * @param options.ownServer true: always starts a server, for a test that stops or changes it.
 */
export async function createTestDatabase({ ownServer = false } = {}): Promise<TestDatabase> {
  const shared = ownServer ? undefined : process.env['TEST_CLUSTER_URL']
  const own = shared === undefined ? await startTestCluster() : null
  const clusterUrl = shared ?? own?.url ?? ''
  const name = `test_${randomBytes(6).toString('hex')}`
  await query(clusterUrl, (sql) => sql`create database ${sql(name)} template ${sql(template)}`)
  const url = withDatabase(clusterUrl, name)
  const sql = createDatabase({ url, connections: 10, name: 'test' })
  return {
    url,
    sql,
    async drop() {
      await sql.end({ timeout: 2 })
      await query(clusterUrl, (admin) => admin`drop database ${admin(name)} with (force)`)
      await own?.stop()
    },
  }
}

/** Creates a fresh database, as createTestDatabase does, which is dropped when the test has ended. */
export async function openTestDatabase(
  t: Test,
  options: { readonly ownServer?: boolean } = {},
): Promise<Omit<TestDatabase, 'drop'>> {
  const { url, sql, drop } = await createTestDatabase(options)
  t.teardown(drop)
  return { url, sql }
}

/** Drops the databases of test files that were interrupted. No test file may run meanwhile. */
export async function dropTestDatabases(clusterUrl: string): Promise<void> {
  await query(clusterUrl, async (sql) => {
    const left = await sql<{ name: string }[]>`
      select datname as name from pg_database where datname ~ '^test_[0-9a-f]{12}$'`
    for (const { name } of left) await sql`drop database ${sql(name)} with (force)`
  })
}

/** Returns the address of another database of the same server. */
export function withDatabase(url: string, name: string): string {
  const parsed = new URL(url)
  parsed.pathname = `/${name}`
  return parsed.href
}

async function query<T>(url: string, work: (sql: Database) => PromiseLike<T>): Promise<T> {
  const sql = createDatabase({ url, connections: 1, name: 'test admin', statementSeconds: 60 })
  try {
    return await work(sql)
  } finally {
    await sql.end({ timeout: 5 })
  }
}
