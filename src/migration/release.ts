// Decides whether this release may work on a database that a newer release has migrated. The release just before the newer one
// may, because a release only adds to the schema (expand). An older one does not start, because a later release may have
// removed something (contract) that it would miss in the middle of its work.
import { lt } from 'semver'
import { exitForConfig } from '#config'
import { errorCode, isUnavailable, isUnmigrated, sqlState } from '#database'
import type { Queryable } from '#database'
import type { Logger } from '#log'
import metadata from '#package' with { type: 'json' }
import { listMigrations } from './file.ts'

interface NewerSchema {
  /** True when the schema no longer supports this release. */
  readonly isRefused: boolean
  /** Which migrations this release does not know, and what to do. */
  readonly reason: string
}

/** Describes a schema that is newer than this release. @returns null when this release knows all migrations of the database. */
export async function findNewerSchema(
  sql: Queryable,
  known: readonly string[] = listMigrations(),
): Promise<NewerSchema | null> {
  const [row] = await sql<{ names: string[]; says: boolean }[]>`
    select array_agg(name order by name) as names, to_regproc('runledger.oldest_release') is not null as says
    from runledger.schema_migration where name > ${known.at(-1) ?? ''} having count(*) > 0`
  if (row === undefined) return null
  const [served] = row.says ? await sql`select runledger.oldest_release() as oldest` : []
  const oldest = String(served?.['oldest'] ?? metadata.version)
  const isRefused = lt(metadata.version, oldest)
  const found = `this is release ${metadata.version}, older than the database: it does not know ${row.names.join(', ')}`
  return {
    isRefused,
    reason: isRefused
      ? `${found}, which only ${oldest} and later support. Start one of these releases, or restore a backup from before that upgrade (docs/operate.md)`
      : `${found}. It can still use this database, until a later release than that is migrated`,
  }
}

/**
 * Ends the process if this release may not work on this database. Other checks handle a database that is away, not migrated or
 * refuses the login.
 */
export async function exitIfOlder(sql: Queryable, log: Logger): Promise<void> {
  const newer = await findNewerSchema(sql).catch((error: unknown) => {
    const isOthers = errorCode(error) === sqlState.insufficientPrivilege
    if (isOthers || isUnavailable(error) || isUnmigrated(error)) return null
    throw error
  })
  if (newer?.isRefused === true) exitForConfig(`DATABASE_URL: ${newer.reason}`)
  if (newer !== null) log.warn({ reason: newer.reason }, 'database.newer')
}
