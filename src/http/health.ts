// For platforms and load balancers: does the process live, can it serve.
import { errorCode, sqlState } from '#database'
import type { Database } from '#database'
import { Problem } from '#error'
import type { HttpDependencies } from './http.ts'
import { withDeadline } from './deadline.ts'
import { sendJson } from './answer.ts'
import type { Handler } from './request.ts'

/** `GET /healthz`: the process answers. */
export const live: Handler = (_request, response) => sendJson(response, 200, { status: 'ok' })

/** `GET /readyz`: the database answers and is at least as new as this code. A newer one bears it. */
export function ready({
  database,
  newestMigration,
}: Pick<HttpDependencies, 'database' | 'newestMigration'>): Handler {
  return async (_request, response) => {
    if (!(await withDeadline(() => isMigrated(database, newestMigration)))) {
      throw new Problem('unavailable', 'The database is older than this release.')
    }
    sendJson(response, 200, { status: 'ok' })
  }
}

async function isMigrated(database: Database, migration: string): Promise<boolean> {
  try {
    const found = await database`
      select from runledger.schema_migration where name = ${migration}`
    return found.length > 0
  } catch (error) {
    if (errorCode(error) === sqlState.undefinedTable) return false
    throw error
  }
}
