// Health checks for platforms and load balancers.
import { cachedRead, findMissingRight, isMigrated } from '#database'
import type { Database } from '#database'
import { Problem } from '#error'
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

/** The database answers, is as new as this code, and gives this login its rights. What is missing is logged once, with its remedy. */
export function createReadiness({
  database,
  newestMigration,
  log,
}: Pick<HttpDependencies, 'database' | 'newestMigration' | 'log'>): Readiness {
  const findRight = createRightsCheck(database)
  let logged: string | null = null
  const look = async (): Promise<string | null> => {
    const right = await findRight()
    const isOld = right === null && !(await isMigrated(database, newestMigration))
    const reason = isOld ? `the database lacks ${newestMigration}: run \`make migrate\`` : right
    if (reason !== null && reason !== logged) log.error({ reason }, 'web.not_ready')
    logged = reason
    if (isOld) return 'The database is older than this release.'
    return right === null ? null : 'The database login may not do what this service needs.'
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

/** Names a missing right; remembers only that none is missing. */
function createRightsCheck(database: Database): () => Promise<string | null> {
  let foundAt = -Infinity
  return async () => {
    if (performance.now() - foundAt < rightsKeptMilliseconds) return null
    const missing = await findMissingRight(database, ['runledger_api'])
    if (missing === null) foundAt = performance.now()
    return missing
  }
}
