// Applies sql/ to a database: graphile-worker's schema, each migration once, then functions, views and grants. All but
// graphile-worker's part runs in one transaction under one lock, so that several releases may migrate at once.
import { Logger, runMigrations } from 'graphile-worker'
import type postgres from 'postgres'
import { errorCode, findWritable, sqlState } from '#database'
import type { Database } from '#database'
import { readSql, shippedSql } from './file.ts'
import type { SqlFile } from './file.ts'
import { findNewerSchema } from './release.ts'

// The order matters: functions read views, audit views use both, grants name all.
const definitions = ['views', 'functions', 'audit', 'grants'] as const

/**
 * Thrown when an applied migration's file was edited or removed, or when the database of a newer release no longer supports
 * this release. Nothing was changed then.
 */
export class MigrationError extends Error {
  override readonly name = 'MigrationError'
}

interface Migrated {
  /** Names of migrations. */
  readonly applied: readonly string[]
  /** Names of partitions. */
  readonly partitions: readonly string[]
  /** True when the service's roles do not exist, so that everything runs as one role. */
  readonly oneRole: boolean
  /** After a newer release's migration: which migrations this release does not know, and what that means. Otherwise null. */
  readonly newer: string | null
}

/**
 * Migrates a database to this release. It may be repeated, and run more than once at the same time.
 * @param database a pool whose role owns, or may create, the schemas.
 * @param url the same database, for graphile-worker's driver.
 * @throws {MigrationError}
 */
export async function migrate(
  database: Database,
  url: string,
  directory = shippedSql,
): Promise<Migrated> {
  const migrations = await readSql(directory, 'migrations')
  const present = (
    await Promise.all(definitions.map((folder) => readSql(directory, folder)))
  ).flat()

  return database.begin(async (sql) => {
    // No timeouts here: another release may hold the lock for long, and graphile-worker migrates on a connection of its own.
    await sql`set local lock_timeout = 0`
    await sql`set local idle_in_transaction_session_timeout = 0`
    await sql`select pg_advisory_xact_lock(71830, -1)`
    const pending = await findPending(sql, migrations)
    const shipped = migrations.map(({ name }) => name)
    const newer = await findNewerSchema(sql, shipped)
    if (newer?.isRefused === true) throw new MigrationError(newer.reason)
    const { url: connectionString } = await findWritable(url)
    await runMigrations({ connectionString, logger: new Logger(() => () => {}) })

    // A limit, because the whole service would wait behind this transaction while it waits for a table that somebody reads.
    await sql`set local lock_timeout = '5s'`
    for (const { name, text, sha256 } of pending) {
      await sql.unsafe(text)
      await sql`insert into runledger.schema_migration (name, sha256) values (${name}, ${sha256})`
    }
    // A newer release's functions also serve this release. Adding this release's functions would make calls ambiguous.
    if (newer === null) for (const { text } of present) await sql.unsafe(text)
    const partitions = await makePartitions(sql)
    const [role] = await sql`
      select not exists (select from pg_catalog.pg_roles where rolname = 'runledger_api') as missing`
    return {
      applied: pending.map(({ name }) => name),
      partitions: partitions.map(({ name }) => name as string),
      oneRole: role?.['missing'] === true,
      newer: newer?.reason ?? null,
    }
  })
}

/** Makes future partitions. They are made long before they are needed, so a lock held by a reader is no failure. */
async function makePartitions(
  sql: postgres.TransactionSql<{ bigint: number }>,
): Promise<readonly postgres.Row[]> {
  try {
    return await sql.savepoint(
      (inside) => inside`select name from runledger.make_partitions() name`,
    )
  } catch (error) {
    if (errorCode(error) !== sqlState.lockNotAvailable) throw error
    return []
  }
}

async function findPending(
  sql: postgres.TransactionSql<{ bigint: number }>,
  migrations: readonly SqlFile[],
): Promise<readonly SqlFile[]> {
  await sql`create schema if not exists runledger`
  await sql`
    create table if not exists runledger.schema_migration (
      name text primary key,
      sha256 text not null,
      applied_at timestamptz not null default now()
    )`
  await sql`
    comment on table runledger.schema_migration is 'Which migrations were applied, and the hash of each file: an edited one is refused.'`
  const rows = await sql<{ name: string; sha256: string }[]>`
    select name, sha256 from runledger.schema_migration order by name`
  if (rows.some(({ name }) => name === '000001-schemas.sql'))
    throw new MigrationError(
      'this database was made before the first release, with other tables: make a new database',
    )
  const shipped = new Map(migrations.map(({ name, sha256 }) => [name, sha256]))
  const newest = migrations.at(-1)?.name ?? ''
  for (const { name, sha256 } of rows) {
    const present = shipped.get(name)
    // A name after this release's newest migration belongs to a newer release, whose schema may allow this release.
    if (present === undefined && name < newest)
      throw new MigrationError(`${name} was removed after it was applied: put it back`)
    if (present !== undefined && present !== sha256)
      throw new MigrationError(
        `${name} was edited after it was applied: put it back as it was and add a new migration instead`,
      )
  }
  const landed = new Set(rows.map(({ name }) => name))
  return migrations.filter(({ name }) => !landed.has(name))
}
