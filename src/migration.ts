// Applies sql/ to a database: graphile-worker's own schema, each of our migrations once, then functions, views and
// grants as they stand today. Everything of ours in one transaction under one lock, so that releases may race.
import { createHash } from 'node:crypto'
import { readFile, readdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { Logger, runMigrations } from 'graphile-worker'
import type { Database } from '#database'

const directory = fileURLToPath(new URL('../sql/', import.meta.url))

// Views that functions read come before them; auditors' views may use both; grants name all of them.
const definitions = ['views', 'functions', 'audit', 'grants'] as const

/** A landed migration's file was edited or removed: history must not change. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError'
}

/**
 * Brings a database up to this code. Safe to run from several processes at once and any number of times.
 * @param database a pool whose role owns, or may create, the schemas.
 * @param url the same database, for graphile-worker's own driver.
 * @returns the names of the migrations that were applied now.
 * @throws {MigrationError} when a migration that was applied earlier has been edited since.
 */
export async function migrate(database: Database, url: string): Promise<string[]> {
  await runMigrations({ connectionString: url, logger: new Logger(() => () => {}) })
  const migrations = await readSql('migrations')
  const present = (await Promise.all(definitions.map(readSql))).flat()

  return database.begin(async (sql) => {
    await sql`select pg_advisory_xact_lock(71830, -1)`
    await sql`create schema if not exists runledger`
    await sql`
      create table if not exists runledger.schema_migration (
        name text primary key,
        sha256 text not null,
        applied_at timestamptz not null default now()
      )`
    const applied = await sql<
      { name: string; sha256: string }[]
    >`select name, sha256 from runledger.schema_migration`
    const landed = new Map(applied.map((row) => [row.name, row.sha256]))
    const added: string[] = []

    for (const { name, text, sha256 } of migrations) {
      const earlier = landed.get(name)
      if (earlier === sha256) continue
      if (earlier !== undefined)
        throw new MigrationError(
          `${name} was edited after it was applied: add a new migration instead`,
        )
      await sql.unsafe(text)
      await sql`insert into runledger.schema_migration (name, sha256) values (${name}, ${sha256})`
      added.push(name)
    }
    for (const { text } of present) await sql.unsafe(text)
    return added
  })
}

async function readSql(folder: string): Promise<{ name: string; text: string; sha256: string }[]> {
  const names = (await readdir(directory + folder))
    .filter((name) => name.endsWith('.sql'))
    .toSorted()
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(`${directory}${folder}/${name}`, 'utf8')
      return { name, text, sha256: createHash('sha256').update(text).digest('hex') }
    }),
  )
}
