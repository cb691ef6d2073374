// Whether an address and its login are of use at all. What is wrong with them no waiting mends: processes say so in one
// sentence and end, where they would wait for a database that is only away.
import type { Queryable } from './database.ts'
import { errorCode, sqlState } from './sql-state.ts'

/** Our roles; a login is a member of those whose work it does. */
export type Role = 'runledger_api' | 'runledger_worker' | 'runledger_queue'

// Wrong password or unknown role, not let in, no such database.
const refusals = ['28P01', '28000', '3D000']

/** One sentence on why this login cannot do what it tried; null when the failure says nothing of the login. */
export function explainRefusal(error: unknown, url: string): string | null {
  const code = errorCode(error) ?? ''
  if (!(error instanceof Error)) return null
  if (refusals.includes(code)) return `${describeServer(url)} refuses this login: ${error.message}`
  if (code === sqlState.insufficientPrivilege)
    return `${describeServer(url)} lets this login in, but not do this: ${error.message}`
  return null
}

/** One sentence on a server that is not there; null for other failures. */
export function explainAbsence(error: unknown, url: string): string | null {
  const code = errorCode(error) ?? ''
  if (!/^(CONNECT|E(CONN|HOST|NET|AI_|NOTFOUND|TIMEDOUT))/.test(code)) return null
  return `${describeServer(url)} cannot be reached (${code})`
}

/** True when the database lacks what a release makes there: nobody has migrated it. */
export function isUnmigrated(error: unknown): boolean {
  // A table, a schema, a function, a column.
  return [sqlState.undefinedTable, '3F000', '42883', '42703'].includes(errorCode(error) ?? '')
}

/**
 * Tries a login before it is needed.
 * @param roles whose rights it must have.
 * @returns one sentence on what is wrong with it; null when nothing is, or the database does not answer at present.
 */
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
 * What keeps a login from doing the work of these roles: grants.sql says what they may, this asks whether the login may too.
 * Where the roles could not be made, it must at least be let into the schema: what else it needs nobody has written down.
 * @returns a clause such as `api may not call …`; null when nothing is missing, or there is nothing yet to have rights on.
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
    : `${row.login} may not ${row.right}: use a role that may (see sql/README.md)`
}

/** Without the login: an address may be shown, a password never. */
function describeServer(url: string): string {
  try {
    return `PostgreSQL at ${new URL(url).host}`
  } catch {
    return 'PostgreSQL' // an address of several hosts
  }
}
