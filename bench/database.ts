// A PostgreSQL server for a bench, as durable as production's: every commit waits for the disk. And the floor of everything
// that is stored: one row, inserted in one transaction.
import { appendFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { v7 as uuidv7 } from 'uuid'
import { createDatabase } from '#database'
import type { Database } from '#database'
import { startEmbeddedPostgres } from '#embedded-postgres'
import { migrate } from '#migration'

/** A running PostgreSQL server. */
export interface Cluster extends AsyncDisposable {
  /** Makes a migrated database and the table `floor`; returns its address. */
  createDatabase(name: string): Promise<string>
}

/** What a bench needs beyond PostgreSQL's defaults. */
export interface ClusterOptions {
  readonly settings?: Readonly<Record<string, string>>
  /** A network, as `address/bits`, whose hosts may also connect with the password. The server must listen there as well. */
  readonly network?: string
}

/** Starts a server with PostgreSQL's defaults. Its data is below the checkout: a temporary directory may be in memory. */
export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const { settings = {}, network } = options
  mkdirSync('.data', { recursive: true, mode: 0o700 })
  const directory = mkdtempSync('.data/bench-')
  const server = await startEmbeddedPostgres({ directory, port: 0, settings })
  if (network !== undefined) {
    appendFileSync(`${directory}/data/pg_hba.conf`, `host all all ${network} scram-sha-256\n`)
    await query(server.url('postgres'), (sql) => sql`select pg_reload_conf()`)
  }
  return {
    async createDatabase(name) {
      await query(server.url('postgres'), (sql) => sql`create database ${sql(name)}`)
      const url = server.url(name)
      await query(url, async (sql) => {
        const [row] = await sql`
          select current_setting('fsync') || current_setting('synchronous_commit') as durable`
        if (row?.['durable'] !== 'onon') throw new Error('this PostgreSQL is not durable')
        await migrate(sql, url)
        await sql`create table public.floor (id uuid primary key, body bytea not null)`
      })
      return url
    },
    async [Symbol.asyncDispose]() {
      await server.stop()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** The floor: inserts one row of these bytes, which is on disk when the promise resolves. */
export async function insertDurably(sql: Database, body: Buffer): Promise<void> {
  await sql`insert into public.floor (id, body) values (${uuidv7()}, ${body})`
}

async function query(url: string, work: (sql: Database) => PromiseLike<unknown>): Promise<void> {
  const sql = createDatabase({ url, connections: 1, name: 'bench admin', statementSeconds: 60 })
  try {
    await work(sql)
  } finally {
    await sql.end({ timeout: 5 })
  }
}
