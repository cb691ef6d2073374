// Checks the database's address and the login. Waiting mends neither, so processes report the reason and exit.
import type { Queryable } from './database.ts'
import { splitHosts } from './hosts.ts'
import { errorCode, sqlState } from './sql-state.ts'

/** A login is a member of the roles whose work it does. */
type Role = 'runledger_api' | 'runledger_worker' | 'runledger_queue'

/** The roles of a worker's login. */
export const workerRoles = ['runledger_worker', 'runledger_queue'] as const satisfies Role[]

// Wrong password or unknown role; login not permitted; no such database.
const refusals = ['28P01', '28000', '3D000']

/** Explains in one sentence why a login was refused; null for other failures. */
export function explainRefusal(error: unknown, url: string): string | null {
  const code = errorCode(error) ?? ''
  if (!(error instanceof Error)) return null
  if (refusals.includes(code)) return `${describeServer(url)} refuses this login: ${error.message}`
  if (code === sqlState.insufficientPrivilege)
    return `${describeServer(url)} lets this login in, but not do this: ${error.message}`
  return null
}

/** Explains in one sentence that a server cannot be reached; null for other failures. */
export function explainAbsence(error: unknown, url: string): string | null {
  const code = errorCode(error) ?? ''
  if (!/^(CONNECT|E(CONN|HOST|NET|AI_|NOTFOUND|TIMEDOUT))/.test(code)) return null
  return `${describeServer(url)} cannot be reached (${code})`
}

/** True when the error shows that the database was not migrated. */
export function isUnmigrated(error: unknown): boolean {
  // Undefined table, schema, function, column.
  return [sqlState.undefinedTable, '3F000', '42883', '42703'].includes(errorCode(error) ?? '')
}

/** Tries a login. @returns one sentence on what is wrong; null when nothing is wrong or the database does not answer. */
export async function checkLogin(
  sql: Queryable,
  url: string,
  roles: readonly Role[],
): Promise<string | null> {
  try {
    const missing = await findMissingRight(sql, roles)
    return missing === null ? null : `${describeServer(url)} lets this login in, but ${missing}`
  } catch (error) {
    return explainRefusal(error, url)
  }
}

/**
 * Compares the login's rights with those that grants.sql gives the roles. Where the roles could not be created, it
 * checks only the use of the schema.
 * @returns a clause such as `api may not call …`, or null.
 */
export async function findMissingRight(
  sql: Queryable,
  roles: readonly Role[],
): Promise<string | null> {
  const [row] = await sql<{ login: string; right: string }[]>`
    with needed as (
      select to_regrole(name)::oid as role from unnest(${[...roles]}::text[]) name
    )
    select current_user as login, 'use the schema ' || n.nspname as right
    from needed, pg_namespace n
    where n.nspname in ('runledger', 'job', 'graphile_worker')
      and (n.nspname = 'runledger' or has_schema_privilege(needed.role, n.oid, 'usage'))
      and not has_schema_privilege(n.oid, 'usage')
    union all
    select current_user, 'call ' || n.nspname || '.' || p.proname
    from needed, pg_proc p join pg_namespace n on n.oid = p.pronamespace
    where n.nspname in ('runledger', 'job')
      and has_function_privilege(needed.role, p.oid, 'execute') and not has_function_privilege(p.oid, 'execute')
    order by 2
    limit 1`
  return row === undefined
    ? null
    : `${row.login} may not ${row.right}: use a role that may (see docs/deploy.md)`
}

/** True when the database has the migration. @param migration the newest one's name, from `findNewestMigration`. */
export async function isMigrated(sql: Queryable, migration: string): Promise<boolean> {
  try {
    const found = await sql`select from runledger.schema_migration where name = ${migration}`
    return found.length > 0
  } catch (error) {
    if (errorCode(error) === sqlState.undefinedTable) return false
    throw error
  }
}

/** Names a server by its hosts only, because a URL may hold a password. */
function describeServer(url: string): string {
  return `PostgreSQL at ${splitHosts(url)
    .map((each) => new URL(each).host)
    .join(', ')}`
}
