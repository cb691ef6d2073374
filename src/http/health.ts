// Health checks for platforms and load balancers.
import { cachedRead, findMissingRight, isMigrated } from '#database'
import type { Database } from '#database'
import { Problem } from '#error'
import type { Logger } from '#log'
import { sendJson } from './answer.ts'
import { withDeadline } from './deadline.ts'
import type { HttpDependencies } from './http.ts'
import type { Handler } from './request.ts'

/** `GET /healthz`: the process answers. */
export const live: Handler = (_request, response) => sendJson(response, 200, { status: 'ok' })

// Rights rarely change in a running service; asking costs milliseconds.
const rightsKeptMilliseconds = 30_000

/** One sentence on what keeps this process from serving; null when nothing does. Rejects when the database is away. */
export type Readiness = () => Promise<string | null>

/** The database answers, is as new as this code, and gives this login its rights. */
export function createReadiness({
  database,
  newestMigration,
  log,
}: Pick<HttpDependencies, 'database' | 'newestMigration' | 'log'>): Readiness {
  const hasRights = createRightsCheck(database, log)
  const look = async (): Promise<string | null> => {
    if (!(await hasRights())) return 'The database login may not do what this service needs.'
    if (!(await isMigrated(database, newestMigration)))
      return 'The database is older than this release.'
    return null
  }
  // Nobody needs a key to ask: those who ask at the same time share the answer.
  return cachedRead(look, 0)
}

/** `GET /readyz`. */
export function ready(readiness: Readiness): Handler {
  return async (_request, response) => {
    const missing = await withDeadline(readiness)
    if (missing !== null) throw new Problem('unavailable', missing)
    sendJson(response, 200, { status: 'ok' })
  }
}

/** Remembers only that nothing is missing; logs each missing right once. */
function createRightsCheck(database: Database, log: Logger): () => Promise<boolean> {
  let foundAt = -Infinity
  let told: string | null = null
  return async () => {
    if (performance.now() - foundAt < rightsKeptMilliseconds) return true
    const missing = await findMissingRight(database, ['runledger_api'])
    if (missing === null) foundAt = performance.now()
    else if (missing !== told) log.error({ reason: missing }, 'web.not_ready')
    told = missing
    return missing === null
  }
}
