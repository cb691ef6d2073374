// Makes the roles of docs/deploy.md, one for each process, and the database. An administrator's role makes them before the
// migration.
import { createDatabase, splitHosts } from '#database'
import type { Database } from '#database'

/** The logins besides the release's, each with the roles whose rights it has. */
const processes = {
  web: ['runledger_api'],
  worker: ['runledger_worker', 'runledger_queue'],
} as const
const owner = 'runledger_owner'

interface RoleRequest {
  /** The address with the login of a role that may create roles and databases. */
  readonly adminUrl: string
  /** The address of the service's database, with the user and password of the release. */
  readonly url: string
  /** The password of each login. A login without a password is not made. */
  readonly passwords: Readonly<Record<keyof typeof processes, string | undefined>>
}

/** True when `url` names a database, a password and a user other than the administrator's, as makeRoles needs. */
export function isOfRelease(url: string, adminUrl: string): boolean {
  const { username, password, pathname } = new URL(splitHosts(url)[0])
  return (
    ![username, password, pathname.slice(1)].includes('') &&
    username !== new URL(splitHosts(adminUrl)[0]).username
  )
}

/**
 * Makes roles, logins and the database. It may be repeated: existing ones stay, passwords are set again.
 * @param request.url must pass isOfRelease.
 */
export async function makeRoles({ adminUrl, url, passwords }: RoleRequest): Promise<void> {
  const { username, password, pathname } = new URL(splitHosts(url)[0])
  const release = decodeURIComponent(username)
  const name = decodeURIComponent(pathname.slice(1))
  const sql = createDatabase({ url: adminUrl, connections: 1, name: 'runledger roles' })
  try {
    for (const role of [owner, ...new Set(Object.values(processes).flat()), 'runledger_auditor'])
      await makeRole(sql, role)
    await makeLogin(sql, release, decodeURIComponent(password), [owner])
    // The owner's role then owns everything that the release creates.
    await sql`alter role ${sql(release)} set role to ${sql(owner)}`
    for (const login of ['web', 'worker'] as const) {
      const given = passwords[login]
      if (given !== undefined) await makeLogin(sql, login, given, processes[login])
    }
    const [known] = await sql`select from pg_catalog.pg_database where datname = ${name}`
    if (known === undefined) await sql`create database ${sql(name)} owner ${sql(owner)}`
  } finally {
    await sql.end({ timeout: 5 })
  }
}

async function makeRole(sql: Database, role: string): Promise<void> {
  const [known] = await sql`select from pg_catalog.pg_roles where rolname = ${role}`
  if (known === undefined) await sql`create role ${sql(role)}`
}

async function makeLogin(
  sql: Database,
  role: string,
  password: string,
  roles: readonly string[],
): Promise<void> {
  await makeRole(sql, role)
  // `format` quotes the password, because PostgreSQL takes it only as a literal and not as a parameter.
  const [{ statement }] = await sql<[{ statement: string }]>`
    select format('alter role %I login password %L', ${role}::text, ${password}::text) as statement`
  await sql.unsafe(statement)
  for (const of of roles) await sql`grant ${sql(of)} to ${sql(role)}`
}
